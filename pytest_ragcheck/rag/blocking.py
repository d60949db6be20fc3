"""A `RagClient` for code without an event loop."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_ragcheck.loop import PrivateLoop

if TYPE_CHECKING:
    from types import TracebackType

    from typing_extensions import Self

    from pytest_ragcheck.questions.question import Question
    from pytest_ragcheck.rag.answer import RagAnswer
    from pytest_ragcheck.rag.client import RagClient


class BlockingRagClient:
    """
    The methods of a `RagClient` as plain calls.

    They run in a private event loop in a thread, so that they work from anywhere, a running event loop's thread
    and several threads at once included.
    """

    def __init__(self, client: RagClient) -> None:
        self._client = client
        self._loop = PrivateLoop()

    def ask(self, question: Question) -> RagAnswer:
        """As `RagClient.ask`."""
        return self._loop.run(self._client.ask, question)

    def query(self, text: str, top_k: int | None = None) -> RagAnswer:
        """As `RagClient.query`."""
        return self._loop.run(self._client.query, text, top_k)

    def close(self) -> None:
        """Closes the connections and ends the thread; a further question starts both anew."""
        self._loop.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
