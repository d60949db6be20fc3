"""Taking out of the system what a run has put in, and nothing else."""

from __future__ import annotations

import asyncio
import logging
import time
from typing import TYPE_CHECKING

from pytest_ragcheck.documents.ingestion import SETTLING_SECONDS
from pytest_ragcheck.documents.outcome import Documents, Left
from pytest_ragcheck.errors import EndpointError, EndpointTimeout, EndpointUnreachable

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping

    from pytest_ragcheck.documents.ingestion import Room
    from pytest_ragcheck.documents.ledger import Entries, Ledger
    from pytest_ragcheck.rag.documents import DocumentRoutes, ServerDocument

_log = logging.getLogger(__name__)

_LISTING_SECONDS = 1.0
"""From one asking for the server's documents to the next, while one is waited for."""

_UNCLEAR = (
    "which of several new documents of one name is this run's is not known; when no other run is at work, "
    "ragcheck cleanup with the question file deletes them"
)

_NOBODY = "the workers that had a client of its server have died; ragcheck cleanup deletes it"


async def clean_up(
    ledger: Ledger, routes: DocumentRoutes, room: Room, *, settling_seconds: float = SETTLING_SECONDS
) -> Documents:
    """
    Deletes every document of the ledger's run, and the ledger if none is left.

    Never raises on account of the server: what could not be deleted is logged as a warning, stays in the ledger and
    is returned.

    Args:
        ledger: Of a run that has ended, or is ending.
        routes: Of the server that the ledger names.
        room: For each request to the server.
        settling_seconds: How long documents are waited for that the server may not have made yet.
    """
    done = await take_out(ledger, routes, room, settling_seconds=settling_seconds)
    if not done.left:
        ledger.remove()
    return done


async def take_out(
    ledger: Ledger, routes: DocumentRoutes, room: Room, *, settling_seconds: float = SETTLING_SECONDS
) -> Documents:
    """As `clean_up`, for a run that goes on: the ledger stays in any case."""
    entries = ledger.read()
    left = await _find_unknown(ledger, entries, routes, room, settling_seconds)
    left += [Left(file_name=name, id=each, reason=_UNCLEAR) for name, ids in entries.unclear.items() for each in ids]
    known = list(entries.documents.items())
    down: list[str] = []
    reasons = await asyncio.gather(*(_delete(ledger, document_id, routes, room, down) for document_id, _ in known))
    left += [
        Left(file_name=name, id=document_id, reason=reason)
        for (document_id, name), reason in zip(known, reasons, strict=True)
        if reason is not None
    ]
    _log_left(left, routes.shown)
    return Documents(deleted=reasons.count(None), left=tuple(left))


def give_up(ledger: Ledger) -> Documents:
    """What stays of a run that has nobody left who could ask the server; logged, as by `clean_up`."""
    entries = ledger.read()
    names = entries.before.keys() - entries.documents.values() - entries.refused
    left = [Left(file_name=name, id=each, reason=_NOBODY) for each, name in entries.documents.items()]
    left += [Left(file_name=name, id=None, reason=_NOBODY) for name in sorted(names)]
    if not left:
        ledger.remove()
    _log_left(left, entries.base)
    return Documents(left=tuple(left))


async def _delete(ledger: Ledger, document_id: str, routes: DocumentRoutes, room: Room, down: list[str]) -> str | None:
    """Why the document could not be deleted; None where it is gone."""

    async def delete() -> None:
        # A server that does not answer is not waited for a thousand times.
        if not down:
            await routes.delete(document_id)

    try:
        await room.run(delete)
    except EndpointError as error:
        reason = str(error).partition("\n")[0]
        if isinstance(error, EndpointUnreachable | EndpointTimeout):
            down.append(reason)
        return reason
    if down:
        return down[0]
    ledger.write(gone=document_id)
    return None


async def _find_unknown(
    ledger: Ledger, entries: Entries, routes: DocumentRoutes, room: Room, settling_seconds: float
) -> list[Left]:
    """Adds to the entries what the server has made meanwhile of uploads whose ids nobody asked for any more."""
    settled = {*entries.documents.values(), *entries.unclear}
    unknown = {name: before for name, before in entries.before.items() if name not in settled}
    if not unknown and not entries.unclear:
        return []
    try:
        batches = [entries.batches[name] for name in unknown if name in entries.batches]
        await asyncio.gather(*(_settled(batch, routes, room, settling_seconds) for batch in batches))
        # The server may yet be reading what it has not answered.
        unanswered = unknown.keys() - entries.batches.keys() - entries.refused
        listed = await _listed_with(unanswered, unknown, routes, room, settling_seconds)
    except EndpointError as error:
        return [Left(file_name=name, id=None, reason=str(error).partition("\n")[0]) for name in unknown]
    _forget_what_is_gone(ledger, entries, {document.id for document in listed})
    for name, before in unknown.items():
        new = [document.id for document in listed if document.file_name == name and document.id not in before]
        if len(new) == 1:
            ledger.write(document=new[0], file_name=name)
            entries.documents[new[0]] = name
        elif new:
            ledger.write(unclear=new, file_name=name)
            entries.unclear[name] = new
    return []


async def _listed_with(
    awaited: Collection[str],
    before: Mapping[str, Collection[str]],
    routes: DocumentRoutes,
    room: Room,
    settling_seconds: float,
) -> list[ServerDocument]:
    """The server's documents, as soon as there is a new one of each awaited name, or the time is over."""
    end = time.monotonic() + settling_seconds
    while True:
        listed = await room.run(routes.listed)
        new = {each.file_name for each in listed if each.id not in before.get(each.file_name or "", ())}
        rest = end - time.monotonic()
        if new.issuperset(awaited) or rest <= 0:
            return listed
        await asyncio.sleep(min(_LISTING_SECONDS, rest))


def _forget_what_is_gone(ledger: Ledger, entries: Entries, there: Collection[str]) -> None:
    """Of several documents of one name those stay known that somebody has not deleted meanwhile."""
    for name, ids in list(entries.unclear.items()):
        remaining = [each for each in ids if each in there]
        if remaining != ids:
            ledger.write(unclear=remaining, file_name=name)
            entries.unclear[name] = remaining


def _log_left(left: Iterable[Left], base: str) -> None:
    for each in left:
        _log.warning("%s: document %s (file %s) is left: %s", base, each.id, each.file_name, each.reason)


async def _settled(batch_id: str, routes: DocumentRoutes, room: Room, settling_seconds: float) -> None:
    try:
        await routes.wait(batch_id, timeout_seconds=settling_seconds, poll_seconds=1.0, eager=True, asking=room.run)
    except EndpointError:
        _log.debug("batch %s says nothing any more", batch_id)
