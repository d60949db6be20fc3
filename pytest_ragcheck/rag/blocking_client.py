"""A `RagClient` for code without an event loop."""

from __future__ import annotations

import weakref
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

from pytest_ragcheck.concurrency.private_loop import PrivateLoop

if TYPE_CHECKING:
    from pytest_ragcheck.questions.question import GoldPassage, Question
    from pytest_ragcheck.rag.answer import RagAnswer
    from pytest_ragcheck.rag.client_calls import ClientCalls
    from pytest_ragcheck.rag.http.asgi_app import AsgiApp

T = TypeVar("T")


class BlockingRagClient:
    """
    The methods of a `RagClient` as plain calls.

    They run in a private event loop in a thread, so they work in any thread, even while another event loop runs. A call
    that waits while another thread closes the client raises UsageError.
    """

    def __init__(self, client: ClientCalls, app: AsgiApp | None = None) -> None:
        self._client = client
        self._app = app
        self._loop = PrivateLoop()
        if app is not None:
            # If the client is never closed, the app shuts down with its loop at the end of the process.
            weakref.finalize(self, self._loop.close)

    def ask(self, question: Question) -> RagAnswer:
        return self._run(self._client.ask, question)

    def query(self, text: str, top_k: int | None = None, *, include_chunks: bool = False) -> RagAnswer:
        return self._run(partial(self._client.query, text, top_k, include_chunks=include_chunks))

    def query_with_context(
        self, question: str, passages: Sequence[GoldPassage], session_id: str | None = None
    ) -> RagAnswer:
        return self._run(self._client.query_with_context, question, passages, session_id)

    def upload_text_as_document(self, text: str, filename: str) -> str:
        return self._run(self._client.upload_text_as_document, text, filename)

    def wait_for_batch(self, batch_id: str, timeout: float = 300.0, poll_interval: float = 2.0) -> bool:
        return self._run(self._client.wait_for_batch, batch_id, timeout, poll_interval)

    def delete_document(self, document_id: str) -> bool:
        return self._run(self._client.delete_document, document_id)

    def close(self) -> None:
        """
        Closes the connections and ends the thread; the next question starts both again.

        Raises:
            EndpointError: The shutdown of an app that runs in the thread failed.
        """
        try:
            if self._app is not None and self._loop.is_open:
                self._loop.run(partial(self._app.aclose, only_here=True))
        finally:
            self._loop.close()

    def _run(self, call: Callable[..., Awaitable[T]], *arguments: Any) -> T:
        if self._app is not None:
            self._app.refuse_to_block()
        return self._loop.run(call, *arguments)

    def __enter__(self) -> BlockingRagClient:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
