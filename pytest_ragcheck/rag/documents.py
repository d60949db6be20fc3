"""The routes by which a RAG server takes documents, lists them and deletes them."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from http import HTTPStatus
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, urlsplit

import anyio

from pytest_ragcheck.errors import EndpointStatusError
from pytest_ragcheck.rag.excerpt import excerpt
from pytest_ragcheck.rag.json_body import ReplyMismatch
from pytest_ragcheck.rag.route import Asked
from pytest_ragcheck.rag.vocabulary import keys_of
from pytest_ragcheck.rag.vocabulary import named as kind_of
from pytest_ragcheck.redaction import shown_url

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from pytest_ragcheck.rag.route import HttpRoute

_FIRST_PAUSE_SECONDS = 0.05

_BASE = "check the ini option rag_base_url (by default --rag-url without its final /query)."


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerDocument:
    """A document as the server lists it."""

    id: str
    file_name: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchStatus:
    """How far the server has come with the files of one upload."""

    total: int
    completed: int
    failures: tuple[str, ...] = ()
    """What the server says of each task that failed."""

    @property
    def done(self) -> bool:
        """Whether every file has become a document."""
        # A server that makes its tasks a little later has none at first.
        return self.total > 0 and self.completed == self.total and not self.failures


class DocumentRoutes:
    """
    `POST /upload`, `GET /tasks/{batch_id}/status`, `GET /documents` and `DELETE /documents/{id}` of a server.

    Args:
        base_url: What the routes follow; a query-string in it goes with every request.
        route: Makes the route of a URL, given by status what to do about it.
    """

    def __init__(self, base_url: str, route: Callable[[str, Mapping[int, str]], HttpRoute]) -> None:
        self._base_url = base_url
        self._route = route
        self.shown = shown_url(base_url)
        """The base as texts may show it."""

    async def upload(self, text: str, filename: str) -> str:
        """
        The id of the batch that the server made of the text as a file.

        Raises:
            EndpointError: The server did not take it, or named no batch.
        """
        to_do: dict[int, str] = dict.fromkeys((404, 405), f"The server has to take documents by POST /upload: {_BASE}")
        route = self._at("/upload", to_do)
        file = (filename, text.encode("utf-8", "replace"), "text/plain; charset=utf-8")
        asked = Asked(method="POST", shown='a POST of multipart/form-data with text files under "files"')
        response, body = await route.fetch(asked, files=[("files", file)])
        reply = route.value(response, body)
        batch_id = reply.get("batch_id") if isinstance(reply, Mapping) else None
        if not isinstance(batch_id, str | int) or isinstance(batch_id, bool) or batch_id == "":
            found = f'the reply to the upload of {filename} names no batch: "batch_id" is {_kind_at(reply, "batch_id")}'
            raise route.unusable(response, body, ReplyMismatch(found, 'Return {"batch_id": "..."}.'))
        return str(batch_id)

    async def status(self, batch_id: str) -> BatchStatus:
        """
        How far the server has come with a batch.

        Raises:
            EndpointError: It does not say.
        """
        to_do = {404: f"The server has to know a batch that it has just named: see its log, and {_BASE}"}
        route = self._at(f"/tasks/{quote(batch_id, safe='')}/status", to_do)
        response, body = await route.fetch(Asked(method="GET", shown="a GET"))
        reply = route.value(response, body)
        counts = {key: _count_at(reply, key) for key in ("total", "completed")}
        total, completed = counts.values()
        if total is None or completed is None:
            key = next(key for key, count in counts.items() if count is None)
            found = f'the status of batch {batch_id} has no whole number as "{key}": it is {_kind_at(reply, key)}'
            to_return = 'Return {"total": 1, "completed": 0, "tasks": [{"status": "pending"}]}.'
            raise route.unusable(response, body, ReplyMismatch(found, to_return))
        return BatchStatus(total=total, completed=completed, failures=tuple(_failures(reply)))

    async def wait(
        self,
        batch_id: str,
        *,
        timeout_seconds: float,
        poll_seconds: float,
        eager: bool = False,
        asking: Callable[[Callable[[], Awaitable[BatchStatus]]], Awaitable[BatchStatus]] | None = None,
    ) -> BatchStatus:
        """
        The batch's last status: it is done, or one of its tasks failed, or the time is over.

        Args:
            batch_id: As `upload` returned it.
            timeout_seconds: How long to wait, >= 0; the server is asked once at least.
            poll_seconds: From one asking to the next.
            eager: Whether it is asked sooner at first, for a server that is quick.
            asking: Runs each asking; directly if None.

        Raises:
            EndpointError: The server does not say.
        """
        end = time.monotonic() + timeout_seconds
        pause = min(_FIRST_PAUSE_SECONDS, poll_seconds) if eager else poll_seconds
        while True:
            status = await (self.status(batch_id) if asking is None else asking(partial(self.status, batch_id)))
            rest = end - time.monotonic()
            if status.done or status.failures or rest <= 0:
                return status
            await anyio.sleep(min(pause, rest))
            pause = min(2 * pause, poll_seconds)

    async def listed(self) -> list[ServerDocument]:
        """
        All documents that the server has.

        Raises:
            EndpointError: It does not say.
        """
        to_do: dict[int, str] = dict.fromkeys(
            (404, 405), f"The server has to list its documents by GET /documents: {_BASE}"
        )
        route = self._at("/documents", to_do)
        response, body = await route.fetch(Asked(method="GET", shown="a GET"))
        reply = route.value(response, body)
        if not isinstance(reply, list):
            found = f"the list of documents is {kind_of(reply)}, not an array"
            raise route.unusable(response, body, ReplyMismatch(found, 'Return [{"id": "...", "file_name": "..."}].'))
        return [self._document(route, response, body, index, row) for index, row in enumerate(reply)]

    async def delete(self, document_id: str) -> bool:
        """
        True where the document is deleted now, False where the server has none of this id.

        Raises:
            EndpointError: The server did not delete it.
        """
        to_do = {405: f"The server has to delete a document by DELETE /documents/{{id}}: {_BASE}"}
        route = self._at(f"/documents/{quote(document_id, safe='')}", to_do)
        try:
            await route.fetch(Asked(method="DELETE", shown="a DELETE"))
        except EndpointStatusError as error:
            if error.status in {HTTPStatus.NOT_FOUND, HTTPStatus.GONE}:
                return False
            raise
        return True

    def _at(self, path: str, to_do: Mapping[int, str]) -> HttpRoute:
        return self._route(joined(self._base_url, path), to_do)

    def _document(self, route: HttpRoute, response: Any, body: bytes, index: int, row: object) -> ServerDocument:
        found = row if isinstance(row, Mapping) else {}
        document_id, name = found.get("id"), found.get("file_name")
        if isinstance(document_id, bool) or not isinstance(document_id, str | int) or document_id == "":
            problem = f'the list of documents has an entry [{index}] whose "id" is {_kind_at(row, "id")}'
        elif name is not None and not isinstance(name, str):
            problem = f'the list of documents has an entry [{index}] whose "file_name" is {kind_of(name)}'
        else:
            return ServerDocument(id=str(document_id), file_name=name)
        mismatch = ReplyMismatch(problem, 'Return [{"id": "...", "file_name": "..."}].')
        raise route.unusable(response, body, mismatch)


def base_of(url: str) -> str:
    """The base of a server's routes: its question route without a final `/query`, with its query-string."""
    parts = urlsplit(url)
    path = parts.path.rstrip("/").removesuffix("/query")
    return parts._replace(path=path, fragment="").geturl()


def joined(base_url: str, path: str) -> str:
    """The URL of a route below the base."""
    parts = urlsplit(base_url)
    return parts._replace(path=parts.path.rstrip("/") + path, fragment="").geturl()


def _count_at(reply: object, key: str) -> int | None:
    count = reply.get(key) if isinstance(reply, Mapping) else None
    return count if isinstance(count, int) and not isinstance(count, bool) and count >= 0 else None


def _kind_at(reply: object, key: str) -> str:
    """What stands under the key, as texts name it; where it is missing, what the reply has instead."""
    if not isinstance(reply, Mapping):
        return f"missing (the reply is {kind_of(reply)})"
    return kind_of(reply[key]) if key in reply else f"missing (found {keys_of(reply)})"


def _failures(reply: Mapping[str, Any]) -> Iterator[str]:
    tasks = reply.get("tasks") or ()
    for task in tasks.values() if isinstance(tasks, Mapping) else tasks if isinstance(tasks, list) else ():
        if isinstance(task, Mapping) and task.get("status") == "failed":
            reason = task.get("error") or task.get("error_message") or task.get("message")
            yield excerpt(str(reason), 200) if reason else "the server gives no reason"
