"""Uploads, lists and deletes documents over the routes of a RAG server."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from http import HTTPStatus
from typing import Any
from urllib.parse import quote

from pytest_ragcheck.concurrency.limiter import Limiter
from pytest_ragcheck.errors import EndpointError, EndpointStatusError, EndpointTimeout
from pytest_ragcheck.frozen import frozen
from pytest_ragcheck.rag.body.event_parsers import is_failure
from pytest_ragcheck.rag.body.json_body import ReplyMismatch, excerpt, keys_of
from pytest_ragcheck.rag.body.json_body import named as kind_of
from pytest_ragcheck.rag.http.endpoint_address import joined
from pytest_ragcheck.rag.http.http_exchange import HttpExchange
from pytest_ragcheck.rag.http.retry import is_transient
from pytest_ragcheck.rag.http.route import HttpRoute

_FIRST_PAUSE_SECONDS = 0.05

_STATUS_RETRIES = 2
"""Number of polls in a row that may fail; a poll changes nothing on the server."""

_NOT_BEGUN = {"pending", "queued", "waiting", "scheduled", "received", "created", "new"}
"""Statuses of a task that no worker has begun."""

_RETURN_A_LIST = 'Return [{"id": "...", "file_name": "..."}].'
_BASE = "check rag_base_url (by default rag_url without its final /query)."


@frozen
class ServerDocument:
    id: str
    file_name: str | None


@frozen
class BatchStatus:
    total: int
    completed: int
    failures: tuple[str, ...]
    """The server's reason for each failed task."""

    tasks: tuple[tuple[str, str], ...]
    """The `status` and the `progress` of each task, as the server writes them."""

    @property
    def begun(self) -> bool:
        """True if the server reports that it reads a file, or has read one."""
        return self.completed > 0 or any(status and status not in _NOT_BEGUN for status, _ in self.tasks)

    @property
    def done(self) -> bool:
        # A server may create the tasks after its reply, so that there are none at first.
        return self.total > 0 and self.completed == self.total and not self.failures


class DocumentRoutes:
    """
    `POST /upload`, `GET /tasks/{batch_id}/status`, `GET /documents` and `DELETE /documents/{id}` of a server.

    Every request is made as the identity, which is empty for none, and has the query string of the base URL. A reply
    that is missing or malformed, or refuses the request, raises an `EndpointError`.
    """

    def __init__(self, base: HttpRoute, *, identity: str, of_identity: Callable[[str], DocumentRoutes]) -> None:
        self.identity, self.of_identity = identity, of_identity
        self._base = base
        self.shown = base.name
        """The base URL without secrets, or the name of the app that takes the requests."""

    async def upload(self, text: str, filename: str) -> str:
        """The id of the batch in which the server reads the text as a file."""
        route = self._at("/upload", f"The server has to take documents by POST /upload: {_BASE}", 404, 405)
        file = (filename, text.encode("utf-8", "replace"), "text/plain; charset=utf-8")
        exchange = HttpExchange("POST", 'a POST of multipart/form-data with text files under "files"')
        reply = route.value(await route.fetch(exchange, files=[("files", file)]))
        batch_id = reply.get("batch_id") if isinstance(reply, Mapping) else None
        if not _is_id(batch_id):
            found = f'the reply to the upload of {filename} names no batch: "batch_id" is {_kind_at(reply, "batch_id")}'
            raise route.unusable(exchange, ReplyMismatch(found, 'Return {"batch_id": "..."}.'))
        return str(batch_id)

    async def status(self, batch_id: str) -> BatchStatus:
        """The server's progress with a batch."""
        to_do = f"The server has to know a batch that it has just named: see its log, and {_BASE}"
        route = self._at(f"/tasks/{quote(batch_id, safe='')}/status", to_do, 404)
        exchange = await route.fetch(HttpExchange("GET", "a GET"))
        reply = route.value(exchange)
        total, completed = (_count_at(reply, key) for key in ("total", "completed"))
        if total is None or completed is None:
            key = "total" if total is None else "completed"
            found = f'the status of batch {batch_id} has no whole number as "{key}": it is {_kind_at(reply, key)}'
            to_return = 'Return {"total": 1, "completed": 0, "tasks": [{"status": "pending"}]}.'
            raise route.unusable(exchange, ReplyMismatch(found, to_return))
        tasks = tuple((str(task.get("status", "")).lower(), str(task.get("progress", ""))) for task in _tasks(reply))
        return BatchStatus(total=total, completed=completed, failures=tuple(_failures(reply)), tasks=tasks)

    async def wait(
        self,
        batch_id: str,
        *,
        seconds_left: Callable[[BatchStatus | None], float],
        poll_seconds: float,
        eager: bool = False,
        limiter: Limiter | None = None,
    ) -> BatchStatus:
        """
        The batch's last status: it is done, one of its tasks failed, or the time limit is reached.

        There is at least one poll. After each, *seconds_left* gets the status, or None if the poll failed, and returns
        the rest of the time limit. With *eager*, the first pauses are shorter, for fast servers.

        Raises:
            EndpointError: Several polls in a row failed.
        """
        pause = min(_FIRST_PAUSE_SECONDS, poll_seconds) if eager else poll_seconds
        failed = 0
        while True:
            try:
                poll = partial(self.status, batch_id)
                status = await (poll() if limiter is None else limiter.run(poll))
            except EndpointError as error:
                left = seconds_left(None)
                failed += 1
                if failed > _STATUS_RETRIES or not is_temporary(error) or left <= 0:
                    raise
            else:
                left = seconds_left(status)
                failed = 0
                if status.done or status.failures or left <= 0:
                    return status
            # One more poll at the time limit gives the final progress.
            await asyncio.sleep(max(0.0, min(pause, left)))
            pause = min(2 * pause, poll_seconds)

    async def listed(self) -> list[ServerDocument]:
        """All documents on the server."""
        route = self._at("/documents", f"The server has to list its documents by GET /documents: {_BASE}", 404, 405)
        exchange = await route.fetch(HttpExchange("GET", "a GET"))
        reply = route.value(exchange)
        if not isinstance(reply, list):
            found = f"the list of documents is {kind_of(reply)}, not an array"
            raise route.unusable(exchange, ReplyMismatch(found, _RETURN_A_LIST))
        return [self._document(route, exchange, index, row) for index, row in enumerate(reply)]

    async def delete(self, document_id: str) -> bool:
        """True if the document is deleted, False if the server has none of this id."""
        to_do = f"The server has to delete a document by DELETE /documents/{{id}}: {_BASE}"
        route = self._at(f"/documents/{quote(document_id, safe='')}", to_do, 405)
        try:
            await route.fetch(HttpExchange("DELETE", "a DELETE"))
        except EndpointStatusError as error:
            if error.status in {HTTPStatus.NOT_FOUND, HTTPStatus.GONE}:
                return False
            raise
        return True

    def _at(self, path: str, to_do: str, *statuses: int) -> HttpRoute:
        return self._base.at(joined(self._base.url, path), to_do=dict.fromkeys(statuses, to_do))

    def _document(self, route: HttpRoute, exchange: HttpExchange, index: int, row: object) -> ServerDocument:
        found = row if isinstance(row, Mapping) else {}
        document_id, name = found.get("id"), found.get("file_name")
        if not _is_id(document_id):
            problem = f'the list of documents has an entry [{index}] whose "id" is {_kind_at(row, "id")}'
        elif name is not None and not isinstance(name, str):
            problem = f'the list of documents has an entry [{index}] whose "file_name" is {kind_of(name)}'
        else:
            return ServerDocument(id=str(document_id), file_name=name)
        raise route.unusable(exchange, ReplyMismatch(problem, _RETURN_A_LIST))


def within(seconds: float) -> Callable[[BatchStatus | None], float]:
    end = time.monotonic() + seconds
    return lambda _: end - time.monotonic()


def is_temporary(error: EndpointError) -> bool:
    """True if the next poll may succeed: after a server error, or without a reply."""
    is_of_server = (error.status or 0) >= HTTPStatus.INTERNAL_SERVER_ERROR
    return is_of_server or is_transient(error) or isinstance(error, EndpointTimeout)


def _is_id(value: object) -> bool:
    return type(value) in {str, int} and value != ""


def _count_at(reply: object, key: str) -> int | None:
    count = reply.get(key) if isinstance(reply, Mapping) else None
    return count if type(count) is int and count >= 0 else None


def _kind_at(reply: object, key: str) -> str:
    if not isinstance(reply, Mapping):
        return f"missing (the reply is {kind_of(reply)})"
    return kind_of(reply[key]) if key in reply else f"missing (found {keys_of(reply)})"


def _tasks(reply: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    tasks = reply.get("tasks") or ()
    for task in tasks.values() if isinstance(tasks, Mapping) else tasks if isinstance(tasks, list) else ():
        if isinstance(task, Mapping):
            yield task


def _failures(reply: Mapping[str, Any]) -> Iterator[str]:
    for task in _tasks(reply):
        if is_failure(str(task.get("status"))):
            reason = task.get("error") or task.get("error_message") or task.get("message")
            yield excerpt(str(reason), 200) if reason else "the server gives no reason"
