from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from pytest_ragcheck.frozen import frozen


@frozen
class EndpointSettings:
    """The settings of the endpoint and its requests. `config/help.json` describes each field."""

    url: str | None
    base_url: str | None
    shape: str | None
    request: str | None
    response: str | None
    stream: bool
    headers: Mapping[str, str]
    identities: Mapping[str, Mapping[str, str]]
    top_k: int
    timeout_seconds: float
    concurrency: int
    delay_seconds: float
    retries: int

    @property
    def question_timeout_seconds(self) -> float:
        """Time limit of all requests of a question, with their retries and those to the judge."""
        return 10 * self.timeout_seconds


class DescribesEndpoint(Protocol):
    """The settings of a run, reduced to the endpoint, so that `rag` does not depend on the settings package."""

    @property
    def endpoint(self) -> EndpointSettings: ...
