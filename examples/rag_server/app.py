"""The routes."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse
from starlette.routing import Route

from .answer import answer, best_first
from .words import words_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from starlette.requests import Request

    from .index import Index

DEFAULT_TOP_K = 5

CANDIDATES = 20
"""How many passages are fetched at least, for the best `top_k` of them to be chosen."""

MOST_WORDS = 100
"""A question's different words that are looked at, the first ones: what is longer is no question."""


def create_app(index: Index, faults: Sequence[Callable[[str], str]] = ()) -> Starlette:
    """The server over *index*; each of *faults* spoils every answer."""

    async def health(_: Request) -> JSONResponse:
        return JSONResponse({"status": "ok"})

    async def query(request: Request) -> JSONResponse:
        body = await _json_object(request)
        text, top_k = _query(body), _top_k(body)
        return JSONResponse(await run_in_threadpool(reply, text, top_k))

    def reply(text: str, top_k: int) -> dict[str, Any]:
        words = list(dict.fromkeys(words_of(text)))[:MOST_WORDS]
        rarity = index.rarity(words)
        candidates = index.search(words, max(top_k, CANDIDATES))
        passages = best_first(text, candidates, rarity)[: max(top_k, 0)]
        said = answer(text, passages, rarity)
        for spoil in faults:
            said = spoil(said)
        return {"answer": said, "contexts": [passage.text for passage in passages]}

    return Starlette(
        routes=[
            Route("/health", health, methods=["GET"]),
            Route("/query", query, methods=["POST"]),
        ],
        exception_handlers={HTTPException: _error},
    )


async def _json_object(request: Request) -> dict[str, Any]:
    try:
        body = json.loads(await request.body())
    except (ValueError, RecursionError) as error:
        raise HTTPException(400, f"the body is not JSON: {error}") from error
    if not isinstance(body, dict):
        raise HTTPException(400, "the body must be a JSON object")
    return body


def _query(body: dict[str, Any]) -> str:
    text = body.get("query")
    if text is None or text == "":
        raise HTTPException(400, "query is required")
    if not isinstance(text, str):
        raise HTTPException(400, "query must be a string")
    if not text.strip():
        raise HTTPException(400, "query is required")
    return text


def _top_k(body: dict[str, Any]) -> int:
    top_k = body.get("top_k")
    if top_k is None:
        return DEFAULT_TOP_K
    if not isinstance(top_k, int) or isinstance(top_k, bool):
        raise HTTPException(400, "top_k must be an integer")
    return top_k


async def _error(_: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, HTTPException)  # registered for nothing else
    return JSONResponse({"error": error.detail}, status_code=error.status_code, headers=error.headers)
