"""The seam between a `RagClient` and what it asks: a service with routes, or a function."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_ragcheck.questions.question import GoldPassage
    from pytest_ragcheck.rag.answer import RagAnswer
    from pytest_ragcheck.rag.documents import DocumentRoutes


class Endpoint(Protocol):
    """What a `RagClient` asks."""

    @property
    def name(self) -> str:
        """How it is called in texts and results."""
        ...

    async def ask(self, query: str, top_k: int, *, include_chunks: bool = False) -> RagAnswer:
        """Returns the answer, or raises an `EndpointError`."""
        ...

    async def ask_with_context(
        self, query: str, passages: Sequence[GoldPassage], session_id: str | None = None
    ) -> RagAnswer:
        """Returns the answer from these passages alone, or raises an `EndpointError`."""
        ...

    @property
    def documents(self) -> DocumentRoutes:
        """The routes for documents; raises a `UsageError` where there can be none."""
        ...

    async def aclose(self) -> None:
        """Lets go of whatever it holds open in the running loop."""
        ...
