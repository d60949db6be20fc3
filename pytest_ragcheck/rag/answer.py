from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import field
from typing import TYPE_CHECKING, Any, Protocol

from pytest_ragcheck.frozen import frozen

if TYPE_CHECKING:
    from pytest_ragcheck.questions.question import Question

    class _Answers(Protocol):
        def ask(self, question: Question) -> RagAnswer | Awaitable[RagAnswer]: ...

    GivenClient = _Answers | Callable[..., Any]
    """A client as a user may give it: its method may be async or not."""


@frozen
class RagAnswer:
    """One reply of the RAG system, read and checked."""

    text: str
    """
    The answer; empty or blank means that the system abstained.

    Always empty in the tier `retrieval`, which asks for no answer.
    """

    contexts: tuple[str, ...] = ()
    """The passages that the system used by its own account, best first; may be empty."""

    source_ids: tuple[str, ...] | None = None
    """The system's document ids of `contexts`, in the same order; None if the reply has none."""

    server_source_ids: tuple[str, ...] | None = None
    """The server's own ids, if the run uploaded the documents and `source_ids` has our ids."""

    latency_seconds: float | None = None
    """From sending the request to the last byte of the reply, >= 0; None if not measured."""

    first_token_seconds: float | None = None
    """From sending the request to the first piece of a streamed answer, >= 0; None if it was not streamed."""

    session: str | float | None = None
    """The session that the reply names, a text or a number, for the next turn; None if it names none."""

    unfinished: str = ""
    """Why the reply is incomplete; empty if it is complete."""

    extra: Mapping[str, Any] = field(default_factory=dict)
    """Keys of the reply beyond the contract, unchanged."""


class Asks(Protocol):
    """The interface to the system under test: any object with this method can be the `rag_client`."""

    async def ask(self, question: Question) -> RagAnswer:
        """The system's answer; raises an `EndpointError` if there is none."""
        ...
