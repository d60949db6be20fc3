"""Taking out of the system what a run has put in, and nothing else."""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING

from pytest_ragcheck.documents.outcome import Documents, Left
from pytest_ragcheck.errors import EndpointError, EndpointTimeout, EndpointUnreachable

if TYPE_CHECKING:
    from pytest_ragcheck.documents.ingestion import Room
    from pytest_ragcheck.documents.ledger import Entries, Ledger
    from pytest_ragcheck.rag.documents import DocumentRoutes

_log = logging.getLogger(__name__)

_SETTLING_SECONDS = 10.0
"""How long a document that was still being read when the run ended is waited for."""


async def clean_up(ledger: Ledger, routes: DocumentRoutes, room: Room) -> Documents:
    """
    Deletes every document of the ledger's run, and the ledger if none is left.

    Never raises on account of the server: what could not be deleted is logged as a warning, stays in the ledger and
    is returned.
    """
    entries = ledger.read()
    left = await _find_unknown(ledger, entries, routes, room)
    left += [
        Left(file_name=name, id=each, reason="which of several new documents of one name is this run's is not known")
        for name, ids in entries.unclear.items()
        for each in ids
    ]
    known = list(entries.documents.items())
    down: list[str] = []
    reasons = await asyncio.gather(*(_delete(ledger, document_id, routes, room, down) for document_id, _ in known))
    left += [
        Left(file_name=name, id=document_id, reason=reason)
        for (document_id, name), reason in zip(known, reasons, strict=True)
        if reason is not None
    ]
    for each in left:
        _log.warning("%s: document %s (file %s) is left: %s", routes.shown, each.id, each.file_name, each.reason)
    if not left:
        ledger.remove()
    return Documents(deleted=reasons.count(None), left=tuple(left))


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


async def _find_unknown(ledger: Ledger, entries: Entries, routes: DocumentRoutes, room: Room) -> list[Left]:
    """Adds to the entries what the server has made meanwhile of uploads whose ids nobody asked for any more."""
    settled = {*entries.documents.values(), *entries.unclear}
    unknown = {name: before for name, before in entries.before.items() if name not in settled}
    if not unknown:
        return []
    try:
        batches = [entries.batches[name] for name in unknown if name in entries.batches]
        await asyncio.gather(*(_settled(batch, routes, room) for batch in batches))
        listed = await room.run(routes.listed)
    except EndpointError as error:
        return [Left(file_name=name, id=None, reason=str(error).partition("\n")[0]) for name in unknown]
    for name, before in unknown.items():
        new = [document.id for document in listed if document.file_name == name and document.id not in before]
        if len(new) == 1:
            ledger.write(document=new[0], file_name=name)
            entries.documents[new[0]] = name
        elif new:
            ledger.write(unclear=new, file_name=name)
            entries.unclear[name] = new
    return []


async def _settled(batch_id: str, routes: DocumentRoutes, room: Room) -> None:
    try:
        await routes.wait(batch_id, timeout_seconds=_SETTLING_SECONDS, poll_seconds=1.0, eager=True, asking=room.run)
    except EndpointError:
        _log.debug("batch %s says nothing any more", batch_id)
