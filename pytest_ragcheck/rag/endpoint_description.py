"""`RagClient.from_settings` takes the part of a run's settings that describes the endpoint."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol


class EndpointDescription(Protocol):
    """The settings of an endpoint, for `RagClient.from_settings`; `EndpointSettings` implements this protocol."""

    @property
    def url(self) -> str | None: ...
    @property
    def base_url(self) -> str | None: ...
    @property
    def shape(self) -> str | None: ...
    @property
    def request(self) -> str | None: ...
    @property
    def response(self) -> str | None: ...
    @property
    def stream(self) -> bool: ...
    @property
    def headers(self) -> Mapping[str, str]: ...
    @property
    def identities(self) -> Mapping[str, Mapping[str, str]]: ...
    @property
    def top_k(self) -> int: ...
    @property
    def timeout_seconds(self) -> float: ...


class DescribesEndpoint(Protocol):
    """The settings of a run, reduced to the endpoint, so that `rag` does not depend on the settings package."""

    @property
    def endpoint(self) -> EndpointDescription: ...
