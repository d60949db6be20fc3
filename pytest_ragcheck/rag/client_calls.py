"""The calls of a `RagClient` for questions and documents, as coroutines and as plain calls without an event loop."""

from __future__ import annotations

import logging
import weakref
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

from pytest_ragcheck.concurrency.private_loop import PrivateLoop
from pytest_ragcheck.errors import EndpointError, UsageError
from pytest_ragcheck.questions.question import GENERATION, GoldPassage, Question, context_of, named
from pytest_ragcheck.rag.ask import NO_CONVERSATION, ConversationState

if TYPE_CHECKING:
    from pytest_ragcheck.rag.answer import RagAnswer
    from pytest_ragcheck.rag.documents.document_routes import DocumentRoutes
    from pytest_ragcheck.rag.function_endpoint import FunctionEndpoint
    from pytest_ragcheck.rag.http.asgi_app import AsgiApp
    from pytest_ragcheck.rag.http_service import HttpService

_log = logging.getLogger(__name__)


class ClientCalls:
    """The coroutines that `RagClient` inherits and `BlockingRagClient` runs."""

    def __init__(self, endpoint: HttpService | FunctionEndpoint, top_k: int | None) -> None:
        self._endpoint = endpoint
        self.top_k = top_k
        """The client's own number of contexts, which its questions are recorded with; None without one."""

    async def ask(self, question: Question) -> RagAnswer:
        """
        The system's answer to the question, with the question's `top_k`, which is never None in a run.

        The earlier turns of a conversation go along, or the session of their replies.
        In the tier `generation` the request carries the question's passages. In the tier `retrieval` the answer is
        not read, and its text is empty.
        A question whose documents were uploaded asks for the chunks too.

        Raises:
            EndpointError: The client gave no answer that can be judged; the subclass names the cause.
            UsageError: The question is a text.
        """
        given: object = question
        if isinstance(given, str):
            raise UsageError("ask() takes a Question, not a text. Write query(text), or make a Question of the text.")
        conversation = ConversationState(turn=question.turn, history=question.history, session=question.session)
        endpoint = self._endpoint.as_identity(question.identity)
        if question.tier == GENERATION:
            return await endpoint.ask_with_context(question.question, _rows(context_of(question)), conversation)
        top_k = self._number(question.top_k)
        return await endpoint.ask(
            question.question, top_k, conversation, include_chunks=question.ingest, answers=question.is_answered
        )

    async def query(self, text: str, top_k: int | None = None, *, include_chunks: bool = False) -> RagAnswer:
        """
        The system's answer to a text.

        Args:
            text: The question.
            top_k: How many contexts are requested, >= 1; the client's own number, or else 5, if None.
            include_chunks: True to request the texts and ids of the retrieved documents. A client with a shape
                of its own ignores it.

        Raises:
            EndpointError: As for `ask`.
        """
        top_k = self._number(top_k)
        return await self._endpoint.ask(text, top_k, NO_CONVERSATION, include_chunks=include_chunks, answers=True)

    async def query_with_context(
        self, question: str, passages: Sequence[GoldPassage], session_id: str | None = None
    ) -> RagAnswer:
        """
        The system's answer from the given passages (`POST /query/with-context`), without retrieval.

        Raises:
            EndpointError: As for `ask`.
        """
        rows = _rows([named(passage, "passage") for passage in passages])
        return await self._endpoint.ask_with_context(question, rows, ConversationState(session=session_id))

    async def upload_text_as_document(self, text: str, filename: str) -> str:
        """
        The id of the batch in which the server turns the text into a document (`POST /upload`).

        Raises:
            EndpointError: The server refused the text, or its reply has no batch id.
        """
        return await self.documents.upload(text, filename)

    async def wait_for_batch(self, batch_id: str, timeout: float = 300.0, poll_interval: float = 2.0) -> bool:
        """
        True when every file of the batch is a document; False if one failed, or after *timeout* seconds.

        If several polls in a row fail on the server's side, the result is False and the reason is logged.

        Args:
            batch_id: As `upload_text_as_document` returned it.
            timeout: Seconds, >= 0.
            poll_interval: Seconds between two polls (`GET /tasks/{batch_id}/status`).

        Raises:
            EndpointError: The server has no such batch, or its replies have no usable status.
        """
        from pytest_ragcheck.rag.documents.document_routes import is_temporary, within

        routes = self.documents
        try:
            return (await routes.wait(batch_id, seconds_left=within(timeout), poll_seconds=poll_interval)).done
        except EndpointError as error:
            if not is_temporary(error):
                raise
            _log.warning("batch %s: %s", batch_id, error)
            return False

    async def delete_document(self, document_id: str) -> bool:
        """
        True when the document is deleted (`DELETE /documents/{id}`), False if the server did not delete it.

        The reason is logged; `documents.delete` raises it.
        """
        try:
            return await self.documents.delete(document_id)
        except EndpointError as error:
            _log.warning("document %s is left: %s", document_id, error)
            return False

    @property
    def documents(self) -> DocumentRoutes:
        """
        The server's routes for documents.

        Raises:
            UsageError: The system under test is a function.
        """
        return self._endpoint.documents

    async def aclose(self) -> None:
        """Closes the connections made from the running loop."""
        await self._endpoint.aclose()

    def _number(self, asked: int | None) -> int:
        return next(number for number in (asked, self.top_k, 5) if number is not None)


def _rows(passages: Sequence[GoldPassage]) -> list[dict[str, Any]]:
    return [{"text": passage.text, "doc_id": passage.doc_id} for passage in passages]


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
