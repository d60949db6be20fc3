"""The routes."""

from __future__ import annotations

import asyncio
import json
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.responses import HTMLResponse, JSONResponse, StreamingResponse
from starlette.routing import Route

from .batches import Batches
from .bodies import DEFAULT_TOP_K, files_in, flag_in, json_object, passages_in, question_in, session_in, top_k_in
from .conversations import Conversations
from .faults import Faults
from .llm import ModelError
from .openapi import DOCUMENT, page
from .replies import Answerer
from .stream import events

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable
    from typing import Any

    from starlette.requests import Request

    from .documents import DocumentIndex
    from .llm import LanguageModel


def create_app(
    index: DocumentIndex, faults: Faults | None = None, model: LanguageModel | None = None, *, cites: bool = False
) -> Starlette:
    """The server over *index*; without a *model* answers are quoted from the passages, with markers if it *cites*."""
    routes = _Routes(index, faults or Faults(), model, cites=cites)
    return Starlette(
        routes=[
            Route("/health", routes.health, methods=["GET"]),
            Route("/query", routes.query, methods=["POST"]),
            Route("/query/stream", routes.query_stream, methods=["POST"]),
            Route("/chat", routes.chat, methods=["POST"]),
            Route("/query/with-context", routes.query_with_context, methods=["POST"]),
            Route("/search", routes.search, methods=["POST"]),
            Route("/llm/search-rag", routes.search_rag, methods=["GET"]),
            Route("/upload", routes.upload, methods=["POST"]),
            Route("/tasks/{batch_id}/status", routes.status, methods=["GET"]),
            Route("/documents", routes.documents, methods=["GET"]),
            # The documents of a folder have their paths as ids.
            Route("/documents/{document_id:path}", routes.delete, methods=["DELETE"]),
            Route("/openapi.json", routes.openapi, methods=["GET"]),
            Route("/docs", routes.docs, methods=["GET"]),
        ],
        exception_handlers={HTTPException: _error},
        lifespan=routes.lifespan,
    )


class _Json(JSONResponse):
    """JSON in ASCII: half a character, which a question may hold, makes no UTF-8."""

    def render(self, content: object) -> bytes:
        return json.dumps(content).encode("ascii")


class _Routes:
    def __init__(self, index: DocumentIndex, faults: Faults, model: LanguageModel | None, *, cites: bool) -> None:
        self._index = index
        self._faults = faults
        self._batches = Batches(index, faults)
        self._answerer = Answerer(index=index, model=model, faults=faults, cites=cites)
        self._conversations = Conversations(forgets=faults.forgets)
        self._questions = 0

    @asynccontextmanager
    async def lifespan(self, _: Starlette) -> AsyncIterator[None]:
        yield
        await run_in_threadpool(self._batches.close)

    async def health(self, _: Request) -> JSONResponse:
        return _Json({"status": "ok"})

    async def query(self, request: Request) -> JSONResponse:
        return await self._answered(await self._to_query(request))

    async def query_stream(self, request: Request) -> StreamingResponse:
        reply = await self._made(await self._to_query(request))
        return StreamingResponse(events(reply, self._faults), media_type="text/event-stream")

    async def chat(self, request: Request) -> JSONResponse:
        body = await json_object(request)
        question, top_k, chunks = question_in(body.get("query")), top_k_in(body), flag_in(body, "include_chunks")
        session_id = session_in(body) or self._conversations.begin()
        try:
            topic = self._conversations.topic(session_id, question)
        except KeyError:
            raise HTTPException(404, "there is no session of this id") from None
        return await self._answered(
            lambda: self._answerer.from_index(question, top_k=top_k, chunks=chunks, session_id=session_id, topic=topic)
        )

    async def search(self, request: Request) -> JSONResponse:
        body = await json_object(request)
        question, top_k = question_in(body.get("query")), top_k_in(body)
        return await self._answered(lambda: self._answerer.search(question, top_k=top_k))

    async def query_with_context(self, request: Request) -> JSONResponse:
        body = await json_object(request)
        question, session_id = question_in(body.get("query")), session_in(body)
        passages = passages_in(body)
        return await self._answered(
            lambda: self._answerer.from_passages(question, passages, session_id=session_id),
        )

    async def search_rag(self, request: Request) -> JSONResponse:
        question = question_in(request.query_params.get("questions"), "questions")
        return await self._answered(
            lambda: self._answerer.from_index(question, top_k=DEFAULT_TOP_K, chunks=False, session_id=None)
        )

    async def upload(self, request: Request) -> JSONResponse:
        files = await files_in(request)
        return _Json({"batch_id": self._batches.begin(files)}, status_code=202)

    async def status(self, request: Request) -> JSONResponse:
        status = self._batches.status(request.path_params["batch_id"])
        if status is None:
            raise HTTPException(404, "there is no batch of this id")
        return _Json(status)

    async def documents(self, _: Request) -> JSONResponse:
        found = await run_in_threadpool(self._index.documents)
        return _Json(
            [{"id": document.id, "file_name": document.file_name, "added_at": document.added_at} for document in found]
        )

    async def delete(self, request: Request) -> JSONResponse:
        document_id = request.path_params["document_id"]
        kept = self._faults.undeletable
        if kept is not None:
            names = {document.id: document.file_name for document in await run_in_threadpool(self._index.documents)}
            if kept in names.get(document_id, ""):
                raise HTTPException(500, "the document cannot be deleted, on purpose")
        if not await run_in_threadpool(self._index.delete, document_id):
            raise HTTPException(404, "there is no document of this id")
        return _Json({"deleted": document_id})

    async def openapi(self, _: Request) -> JSONResponse:
        return _Json(DOCUMENT)

    async def docs(self, _: Request) -> HTMLResponse:
        return HTMLResponse(page())

    async def _to_query(self, request: Request) -> Callable[[], dict[str, Any]]:
        body = await json_object(request)
        question, session_id = question_in(body.get("query")), session_in(body)
        top_k, chunks = top_k_in(body), flag_in(body, "include_chunks")
        return lambda: self._answerer.from_index(question, top_k=top_k, chunks=chunks, session_id=session_id)

    async def _answered(self, reply: Callable[[], dict[str, Any]]) -> JSONResponse:
        return _Json(await self._made(reply))

    async def _made(self, reply: Callable[[], dict[str, Any]]) -> dict[str, Any]:
        self._questions += 1
        if self._faults.error_every and self._questions % self._faults.error_every == 0:
            raise HTTPException(500, "the server is broken, on purpose")
        await asyncio.sleep(self._faults.slow_seconds)
        try:
            return await run_in_threadpool(reply)
        except ModelError as error:
            raise HTTPException(502, str(error)) from error


async def _error(_: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, HTTPException)  # registered for nothing else
    return _Json({"error": error.detail}, status_code=error.status_code, headers=error.headers)
