"""What requests hold, read strictly: a mistake is a 400 that says what is wrong."""

from __future__ import annotations

import json
from email.parser import BytesParser
from email.policy import HTTP
from typing import TYPE_CHECKING, Any

from starlette.exceptions import HTTPException

from pytest_ragcheck.demo.index import Chunk, Passage, chunks_of

if TYPE_CHECKING:
    from starlette.requests import Request

DEFAULT_TOP_K = 5


async def json_object(request: Request) -> dict[str, Any]:
    """The body as a JSON object."""
    try:
        body = json.loads(await request.body())
    except (ValueError, RecursionError) as error:
        raise HTTPException(400, f"the body is not JSON: {error}") from error
    if not isinstance(body, dict):
        raise HTTPException(400, "the body must be a JSON object")
    return body


def question_in(text: object, name: str = "query") -> str:
    """The question, which stands under *name*."""
    if text is None or text == "":
        raise HTTPException(400, f"{name} is required")
    if not isinstance(text, str):
        raise HTTPException(400, f"{name} must be a string")
    if not text.strip():
        raise HTTPException(400, f"{name} is required")
    return text


def top_k_in(body: dict[str, Any]) -> int:
    """How many passages are wanted; 0 or less means none."""
    top_k = body.get("top_k")
    if top_k is None:
        return DEFAULT_TOP_K
    if not isinstance(top_k, int) or isinstance(top_k, bool):
        raise HTTPException(400, "top_k must be an integer")
    return top_k


def flag_in(body: dict[str, Any], name: str) -> bool:
    """A value that is true, false or missing."""
    flag = body.get(name, False)
    if flag is not None and not isinstance(flag, bool):
        raise HTTPException(400, f"{name} must be true or false")
    return bool(flag)


def session_in(body: dict[str, Any]) -> str | None:
    """The session that the question belongs to, which only `/chat` remembers; the others hand the id back."""
    session_id = body.get("session_id")
    if session_id is not None and not isinstance(session_id, str):
        raise HTTPException(400, "session_id must be a string or null")
    return session_id


def passages_in(body: dict[str, Any]) -> list[Passage]:
    """The passages that came with the question."""
    rows = body.get("context_passages")
    if not isinstance(rows, list):
        raise HTTPException(400, "context_passages must be an array")
    for index, row in enumerate(rows):
        if not isinstance(row, dict) or not all(isinstance(row.get(key), str) for key in ("text", "doc_id")):
            raise HTTPException(400, f"context_passages[{index}] must have the strings text and doc_id")
    return [
        Passage(document_id=row["doc_id"], file_name=None, text=row["text"], chunk=_one_chunk(row["text"]))
        for row in rows
    ]


def _one_chunk(text: str) -> Chunk:
    """All statements of a text that is one passage already."""
    return Chunk(heading="", statements=tuple(said for chunk in chunks_of(text) for said in chunk.statements))


async def files_in(request: Request) -> list[tuple[str, bytes]]:
    """Name and content of each file under `files` in a multipart form."""
    content_type = request.headers.get("content-type", "")
    if not content_type.lower().startswith("multipart/form-data"):
        raise HTTPException(400, "the body must be multipart/form-data with one or more files")
    # A multipart form has the form of an email with attachments, which the standard library can read.
    head = f"Content-Type: {content_type}\r\n\r\n".encode()
    form = BytesParser(policy=HTTP).parsebytes(head + await request.body())
    parts = [part for part in form.iter_parts() if part.get_param("name", header="content-disposition") == "files"]
    named = [(part.get_filename(), part.get_payload(decode=True)) for part in parts]
    files = [(name, content) for name, content in named if name and isinstance(content, bytes)]
    if not files:
        raise HTTPException(400, "files is required")
    return files
