"""Uploading documents and finding out what the server calls them."""

from __future__ import annotations

import asyncio
import json
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from functools import partial
from http import HTTPStatus
from typing import TYPE_CHECKING, Protocol, TypeVar

from pytest_ragcheck.errors import EndpointError

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence

    from pytest_ragcheck.documents.ledger import Ledger
    from pytest_ragcheck.documents.uploads import Upload
    from pytest_ragcheck.rag.documents import DocumentRoutes, ServerDocument

T = TypeVar("T")

TIMEOUT_SECONDS = 300.0
"""How long the server may take to read a document."""

POLL_SECONDS = 2.0
"""At most, from one asking to the next how far the server has come."""

SETTLING_SECONDS = 10.0
"""How long what was still under way when the run ended is waited for."""

_NO_ROUTE = {HTTPStatus.NOT_FOUND, HTTPStatus.METHOD_NOT_ALLOWED, HTTPStatus.NOT_IMPLEMENTED}


class Room(Protocol):
    """Lets requests run, when there is room for them."""

    async def run(self, operation: Callable[[], Awaitable[T]]) -> T:
        """The operation's result."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Ingested:
    """What became of the documents of a run."""

    ids: Mapping[str, str] = field(default_factory=dict)
    """By the server's id ours."""

    failures: Mapping[str, str] = field(default_factory=dict)
    """By our id why the document is not in the system, or is not known to be."""

    def to_json(self) -> str:
        """One JSON string, for other processes."""
        return json.dumps(asdict(self))

    @classmethod
    def from_json(cls, text: str) -> Ingested:
        """What `to_json` wrote."""
        return cls(**json.loads(text))


async def ingest(
    uploads: Sequence[Upload],
    routes: DocumentRoutes,
    *,
    ledger: Ledger,
    room: Room,
    tell: Callable[[int], None] = lambda _: None,
    timeout_seconds: float = TIMEOUT_SECONDS,
) -> Ingested:
    """
    Puts the documents into the system.

    What is there already is left as it is; of what is new, exactly one document of each name has to be ours.

    Args:
        uploads: Each name once.
        routes: The server's.
        ledger: Is told of every upload before it begins.
        room: For each request to the server.
        tell: Is called with the number of documents that are done, as it grows.
        timeout_seconds: For each document, until the server has read it.
    """
    try:
        before = _by_name(await room.run(routes.listed))
        batch = _Batch(routes=routes, ledger=ledger, room=room, tell=tell, timeout_seconds=timeout_seconds)
        ledger.write(base=routes.shown)
        first, *others = uploads
        # Alone: a server without the route is asked once, not a thousand times.
        if (failure := await batch.upload(first, before)) is not None and batch.no_route:
            return Ingested(failures=dict.fromkeys((upload.doc_id for upload in uploads), failure))
        reasons = [failure, *await asyncio.gather(*(batch.upload(upload, before) for upload in others))]
        after = _by_name(await room.run(routes.listed))
    except EndpointError as error:
        return Ingested(failures=dict.fromkeys((upload.doc_id for upload in uploads), str(error)))
    ids: dict[str, str] = {}
    failures: dict[str, str] = {}
    for upload, reason in zip(uploads, reasons, strict=True):
        known = before.get(upload.file_name, [])
        new = [document_id for document_id in after.get(upload.file_name, []) if document_id not in known]
        if len(new) == 1:
            ledger.write(document=new[0], file_name=upload.file_name)
            ids[new[0]] = upload.doc_id
        elif len(new) > 1:
            ledger.write(unclear=new, file_name=upload.file_name)
        failure = reason or _why_unknown(upload, new, routes)
        if failure is not None:
            failures[upload.doc_id] = failure
    return Ingested(ids=ids, failures=failures)


async def has(routes: DocumentRoutes, ids: Collection[str], room: Room) -> bool:
    """Whether the system lists all of these documents; one that does not answer is taken to have them."""
    try:
        listed = await room.run(routes.listed)
    except EndpointError:
        return True
    return {document.id for document in listed}.issuperset(ids)


class _Batch:
    """The uploads that are under way together."""

    def __init__(
        self,
        *,
        routes: DocumentRoutes,
        ledger: Ledger,
        room: Room,
        tell: Callable[[int], None],
        timeout_seconds: float,
    ) -> None:
        self._routes = routes
        self._ledger = ledger
        self._room = room
        self._tell = tell
        self._timeout_seconds = timeout_seconds
        self._done = 0
        self.no_route = False
        """Whether the server takes no documents at all."""

    async def upload(self, upload: Upload, before: Mapping[str, list[str]]) -> str | None:
        """Why the document did not become one; None where it did."""
        name = upload.file_name
        shown = f"document {upload.doc_id!r} (file {name})"
        try:
            batch_id = await self._room.run(partial(self._send, upload, before.get(name, [])))
            status = await self._routes.wait(
                batch_id,
                timeout_seconds=self._timeout_seconds,
                poll_seconds=POLL_SECONDS,
                eager=True,
                asking=self._room.run,
            )
        except EndpointError as error:
            self.no_route = error.status in _NO_ROUTE
            return f"{shown} was not taken: {error}"
        self._done += 1
        self._tell(self._done)
        if status.failures:
            return (
                f"{self._routes.shown}: {shown} was uploaded, and the server could not read it: "
                f"{'; '.join(status.failures)}\nSee the server's log."
            )
        if not status.done:
            return (
                f"{self._routes.shown}: {shown} was uploaded, and not read within {self._timeout_seconds:g} s "
                f"({status.completed} of {status.total} files)\nSee whether what reads documents in the server runs."
            )
        return None

    async def _send(self, upload: Upload, before: list[str]) -> str:
        """The batch's id; a run that ends waits for it as well, for the document may be made all the same."""
        self._ledger.write(upload=upload.file_name, before=before)
        sending = asyncio.ensure_future(self._answered(upload))
        try:
            return await asyncio.shield(sending)
        except asyncio.CancelledError:
            with suppress(EndpointError, asyncio.TimeoutError):
                await asyncio.wait_for(sending, SETTLING_SECONDS)
            raise

    async def _answered(self, upload: Upload) -> str:
        """The batch's id; the ledger knows it, or that there is none, before anybody else."""
        try:
            batch_id = await self._routes.upload(upload.text, upload.file_name)
        except EndpointError as error:
            if error.status is not None:
                self._ledger.write(refused=upload.file_name)
            raise
        self._ledger.write(batch=batch_id, file_name=upload.file_name)
        return batch_id


def _why_unknown(upload: Upload, new: Sequence[str], routes: DocumentRoutes) -> str | None:
    shown = f"document {upload.doc_id!r} (file {upload.file_name})"
    if not new:
        return (
            f"{routes.shown}: {shown} was uploaded and read, and the server's list has no new document of that "
            "file_name\nGET /documents has to list it under the name that it was uploaded with."
        )
    if len(new) > 1:
        return (
            f"{routes.shown}: {shown} was uploaded, and the server has {len(new)} new documents of that file_name: "
            f"{', '.join(new)}\nAnother run seems to be at work there; all of them are left. Run one after the other."
        )
    return None


def _by_name(documents: Sequence[ServerDocument]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for document in documents:
        found.setdefault(document.file_name or "", []).append(document.id)
    return found
