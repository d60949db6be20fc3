"""What the RAG system said."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pytest_ragcheck.questions.question import Question


@dataclass(frozen=True, slots=True, kw_only=True)
class RagAnswer:
    """One reply of the RAG system, read and checked."""

    text: str
    """The answer; empty or blank means that the system abstained."""

    contexts: tuple[str, ...] = ()
    """The passages that the system says it used, best first; may be empty."""

    source_ids: tuple[str, ...] | None = None
    """The system's document ids of `contexts`, in their order; None where it gives none."""

    server_source_ids: tuple[str, ...] | None = None
    """The same as the server calls them, where `source_ids` are ours: of documents that the run put into it."""

    latency_seconds: float | None = None
    """From sending the request to the last byte of the reply, >= 0; None where it was not measured."""

    extra: Mapping[str, Any] = field(default_factory=dict)
    """Keys of the reply beyond the contract, as they came."""


class Asks(Protocol):
    """The seam to the system under test: anything with this method can be the `rag_client`."""

    async def ask(self, question: Question) -> RagAnswer:
        """Returns the system's answer, or raises an `EndpointError`."""
        ...
