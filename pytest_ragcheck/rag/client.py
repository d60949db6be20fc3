"""The client that asks the system under test, over HTTP or as a function, and gives it documents."""

from __future__ import annotations

import math
from functools import cached_property
from typing import TYPE_CHECKING

from pytest_ragcheck.errors import UsageError
from pytest_ragcheck.questions.passages import context_of, named
from pytest_ragcheck.questions.question import GENERATION
from pytest_ragcheck.rag.blocking import BlockingRagClient

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping, Sequence
    from types import TracebackType
    from typing import Any

    import httpx
    import httpx2
    from typing_extensions import Self

    from pytest_ragcheck.questions.question import GoldPassage, Question
    from pytest_ragcheck.rag.answer import RagAnswer
    from pytest_ragcheck.rag.documents import DocumentRoutes
    from pytest_ragcheck.rag.function import FunctionEndpoint
    from pytest_ragcheck.rag.service import HttpService
    from pytest_ragcheck.settings import Settings

    Reply = RagAnswer | Mapping[str, Any]


class RagClient:
    """
    Asks a RAG endpoint: `POST {"query", "top_k"}` -> `{"answer", "contexts"}`, or in any other shape.

    It can be used from several event loops; after closing, a further question opens connections anew.

    Args:
        url: Where questions are sent, such as `http://localhost:8000/query`.
        headers: Sent with every question; no text shows their values.
        top_k: How many contexts are asked for where a question does not say, >= 1.
        timeout_seconds: Limit of a whole exchange, from connecting to the last byte, > 0.
        max_reply_bytes: Limit of a reply's body, decompressed, >= 1.
        http: Your own `AsyncClient` of httpx or httpx2, for TLS settings, proxies or an app in this process.
            It is used as it is; the limit of time stays `timeout_seconds`, redirects are not followed.
        close_http: Whether `aclose` closes your own client too.
        base_url: What the routes for passages and documents follow; *url* without a final `/query` if None.
        shape: `query` (the contract), `search-rag`, `server` or `openai-chat`. If None `query`, and `server` where
            passages go along, or chunks are asked for.
        request: In place of the shape's own, how the endpoint is asked: JSON such as
            `{"input": "{query}", "k": "{top_k}"}`, or `GET q={query}&k={top_k}`.
        response: In place of the shape's own, where the parts of the reply are, in JMESPath:
            `answer=result.text contexts=references[].content[]`, and `source_ids=` if the reply has any.

    Raises:
        UsageError: An argument cannot work.
    """

    def __init__(
        self,
        url: str,
        *,
        headers: Mapping[str, str] | None = None,
        top_k: int = 5,
        timeout_seconds: float = 60.0,
        max_reply_bytes: int = 10_000_000,
        http: httpx.AsyncClient | httpx2.AsyncClient | None = None,
        close_http: bool = False,
        base_url: str | None = None,
        shape: str | None = None,
        request: str | None = None,
        response: str | None = None,
    ) -> None:
        from pytest_ragcheck.rag.service import HttpService  # noqa: PLC0415 - a function needs no HTTP library

        _check_limits(top_k, timeout_seconds)
        if not _is_whole(max_reply_bytes):
            raise UsageError(f"max_reply_bytes is {max_reply_bytes!r}; give a whole number of bytes, at least 1.")
        self._endpoint: HttpService | FunctionEndpoint = HttpService(
            url,
            base_url=base_url,
            shape=shape,
            request=request,
            response=response,
            headers=headers or {},
            timeout_seconds=timeout_seconds,
            max_reply_bytes=max_reply_bytes,
            http=http,
            close_http=close_http,
        )
        self._top_k = top_k

    @classmethod
    def from_settings(
        cls,
        settings: Settings,
        *,
        url: str | None = None,
        http: httpx.AsyncClient | httpx2.AsyncClient | None = None,
    ) -> Self:
        """
        The client of the run's own endpoint, as `--rag-url` and the ini file describe it.

        Args:
            settings: What the `rag_settings` fixture gives.
            url: In place of the settings' own, as for an app in this process, which no `--rag-url` names.
            http: As for `RagClient`; `aclose` closes it too.

        Raises:
            UsageError: The settings name no endpoint, or something in them cannot work.
        """
        __tracebackhide__ = True  # what is wrong is in the fixture that calls this
        url = settings.url if url is None else url
        if url is None:
            raise UsageError(
                "the settings name no endpoint: give --rag-url=URL, set RAGCHECK_URL, or name it in the call, "
                "RagClient.from_settings(rag_settings, url=URL)."
            )
        return cls(
            url,
            headers=settings.headers,
            top_k=settings.top_k,
            timeout_seconds=settings.timeout_seconds,
            http=http,
            close_http=http is not None,
            base_url=settings.base_url,
            shape=settings.shape,
            request=settings.request,
            response=settings.response,
        )

    @classmethod
    def from_callable(
        cls,
        function: Callable[..., Reply | Awaitable[Reply]],
        *,
        top_k: int = 5,
        timeout_seconds: float = 60.0,
    ) -> Self:
        """
        A client of a RAG system that is a function in this process.

        Args:
            function: Called as `function(query)`, or `function(query, top_k=...)` where it takes that. Returns
                `{"answer": str, "contexts": [str, ...]}` or a `RagAnswer`. A coroutine function is awaited, any
                other runs in a thread.
            top_k: How many contexts are asked for where a question does not say, >= 1.
            timeout_seconds: Limit of a call, > 0. A thread that takes longer is abandoned, not ended.

        Raises:
            UsageError: An argument cannot work.
        """
        from pytest_ragcheck.rag.function import FunctionEndpoint  # noqa: PLC0415 - a URL needs no threads

        _check_limits(top_k, timeout_seconds)
        client = cls.__new__(cls)
        client._endpoint = FunctionEndpoint(function, timeout_seconds=timeout_seconds)
        client._top_k = top_k
        return client

    @property
    def endpoint(self) -> str:
        """The endpoint's URL without secrets; of a function its qualified name."""
        return self._endpoint.name

    async def ask(self, question: Question) -> RagAnswer:
        """
        The system's answer to the question, asked with its own `top_k` if it has one.

        In the tier `generation` its passages go along; of documents that were put into the system the chunks are
        asked for.

        Raises:
            EndpointError: There is no answer that can be judged; the subclasses say why.
        """
        if question.tier == GENERATION:
            return await self.query_with_context(question.question, context_of(question))
        return await self.query(question.question, question.top_k, include_chunks=question.ingest)

    async def query(self, text: str, top_k: int | None = None, *, include_chunks: bool = False) -> RagAnswer:
        """
        The system's answer to a text.

        Args:
            text: What is asked.
            top_k: How many contexts are asked for, >= 1; the client's own number if None.
            include_chunks: Whether the texts and ids of the documents that were found are asked for; a shape of the
                client's own decides that itself.

        Raises:
            EndpointError: There is no answer that can be judged; the subclasses say why.
        """
        top_k = self._top_k if top_k is None else top_k
        return await self._endpoint.ask(text, top_k, include_chunks=include_chunks)

    async def query_with_context(
        self, question: str, passages: Sequence[GoldPassage], session_id: str | None = None
    ) -> RagAnswer:
        """
        The system's answer from the passages that go along (`POST /query/with-context`); nothing is retrieved.

        Raises:
            EndpointError: There is no answer that can be judged; the subclasses say why.
        """
        return await self._endpoint.ask_with_context(question, [named(p, "passage") for p in passages], session_id)

    async def upload_text_as_document(self, text: str, filename: str) -> str:
        """
        The id of the batch in which the server makes a document of the text (`POST /upload`).

        Raises:
            EndpointError: The server did not take it, or named no batch.
        """
        return await self.documents.upload(text, filename)

    async def wait_for_batch(self, batch_id: str, timeout: float = 300.0, poll_interval: float = 2.0) -> bool:
        """
        True when every file of the batch is a document; False if one failed, or after *timeout* seconds.

        Args:
            batch_id: As `upload_text_as_document` returned it.
            timeout: Seconds, >= 0.
            poll_interval: Seconds from one asking (`GET /tasks/{batch_id}/status`) to the next.

        Raises:
            EndpointError: The server does not say how far it has come.
        """
        status = await self.documents.wait(batch_id, timeout_seconds=timeout, poll_seconds=poll_interval)
        return status.done

    async def delete_document(self, document_id: str) -> bool:
        """
        True when the document is deleted (`DELETE /documents/{id}`), False if the server has none of this id.

        Raises:
            EndpointError: The server did not delete it.
        """
        return await self.documents.delete(document_id)

    @property
    def documents(self) -> DocumentRoutes:
        """
        The server's routes for documents.

        Raises:
            UsageError: The system under test is a function.
        """
        return self._endpoint.documents

    @cached_property
    def blocking(self) -> BlockingRagClient:
        """The same as plain calls, for code without an event loop of its own."""
        return BlockingRagClient(self)

    async def aclose(self) -> None:
        """Closes the connections made from the running loop and by `blocking`."""
        if "blocking" in self.__dict__:
            self.blocking.close()
        await self._endpoint.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()

    def __repr__(self) -> str:
        return f"<{type(self).__name__} of {self.endpoint}>"


def _check_limits(top_k: int, timeout_seconds: float) -> None:
    if not _is_whole(top_k):
        raise UsageError(f"top_k is {top_k!r}; give a whole number, at least 1.")
    number = isinstance(timeout_seconds, int | float) and not isinstance(timeout_seconds, bool)
    if not number or not 0 < timeout_seconds < math.inf:
        raise UsageError(f"timeout_seconds is {timeout_seconds!r}; give a number of seconds above 0, such as 60.")


def _is_whole(number: object) -> bool:
    """True for an int of at least 1."""
    return isinstance(number, int) and not isinstance(number, bool) and number >= 1
