"""Deletes from the system exactly the documents that a run uploaded."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Collection, Iterable, Mapping
from http import HTTPStatus

from pytest_ragcheck.concurrency.limiter import Limiter
from pytest_ragcheck.errors import EndpointError, EndpointTimeout, EndpointUnreachable
from pytest_ragcheck.rag.documents.document_routes import BatchStatus, DocumentRoutes, ServerDocument, within
from pytest_ragcheck.rag.documents.ingestion import SETTLING_SECONDS
from pytest_ragcheck.rag.documents.uploads import Documents, Entries, Ledger, Left

_log = logging.getLogger(__name__)

_LISTING_SECONDS = 1.0
"""Pause between two listings while a document is awaited."""

_UNCLEAR = (
    "several new documents have this name, and one of them is this run's; when no other run is active, "
    "ragcheck cleanup with the question file deletes them"
)

_NOT_FOUND = (
    "the server has no document of this id, or does not show it to this token; "
    "the next ragcheck cleanup takes a missing document for deleted"
)

_STILL_LISTED = "the server confirmed its deletion, and still lists it"

_WORKERS_DIED = "the workers that had a client of its server have died; ragcheck cleanup deletes it"


async def clean_up(
    ledger: Ledger,
    routes: DocumentRoutes,
    limiter: Limiter,
    *,
    settling_seconds: float = SETTLING_SECONDS,
    continues: bool = False,
    by_command: bool = False,
) -> Documents:
    """
    Deletes every document of the ledger's run, and the empty ledger itself unless the run *continues*.

    No failure of the server is raised. A document that could not be deleted, or may still be created, is logged as a
    warning, stays in the ledger and is returned. If an earlier cleanup has reported an upload, and the server still has
    no such batch or document, the upload made none. The server may still create documents for *settling_seconds*.

    A document that the server does not find counts as deleted; with *by_command*, which may have the token of another
    account, only if an earlier cleanup has reported it. One that the server still lists after *settling_seconds* is
    left, whatever its reply to the deletion was.
    """
    entries = ledger.read()
    left = await _find_unknown(ledger, entries, routes, limiter, settling_seconds)
    left += [Left(file_name=name, id=each, reason=_UNCLEAR) for name, ids in entries.unclear.items() for each in ids]
    must_exist = by_command and not entries.told
    down: list[str] = []
    reasons = await asyncio.gather(
        *(_delete(ledger, each, routes, limiter, down, must_exist=must_exist) for each in entries.documents)
    )
    why = dict(zip(entries.documents, reasons, strict=True))
    deleted = {each for each, reason in why.items() if reason is None}
    for document_id in await _still_listed(deleted, routes, limiter, settling_seconds):
        ledger.write(document=document_id, file_name=entries.documents[document_id])
        why[document_id] = _STILL_LISTED
    left += [
        Left(file_name=entries.documents[document_id], id=document_id, reason=reason)
        for document_id, reason in why.items()
        if reason is not None
    ]
    _log_left(left, routes.shown)
    if not continues:
        if left:
            ledger.write(told=True)
        else:
            ledger.remove()
    return Documents(deleted=list(why.values()).count(None), left=tuple(left))


def give_up(ledger: Ledger) -> Documents:
    """Log and return the documents that a run left because it has no client of their server."""
    entries = ledger.read()
    names = entries.before.keys() - entries.documents.values() - entries.refused
    left = [Left(file_name=name, id=each, reason=_WORKERS_DIED) for each, name in entries.documents.items()]
    left += [Left(file_name=name, id=None, reason=_WORKERS_DIED) for name in sorted(names)]
    if not left:
        ledger.remove()
    _log_left(left, entries.base)
    return Documents(left=tuple(left))


async def _delete(
    ledger: Ledger,
    document_id: str,
    routes: DocumentRoutes,
    limiter: Limiter,
    down: list[str],
    *,
    must_exist: bool,
) -> str | None:
    # The reason why the document could not be deleted; None if it is gone.

    async def delete() -> bool:
        # A server that does not answer gets no further requests.
        return not down and await routes.delete(document_id)

    try:
        existed = await limiter.run(delete)
    except EndpointError as error:
        return _why(error, down)
    if down:
        return down[0]
    if must_exist and not existed:
        return _NOT_FOUND
    ledger.write(gone=document_id)
    return None


async def _still_listed(
    deleted: Collection[str], routes: DocumentRoutes, limiter: Limiter, settling_seconds: float
) -> set[str]:
    # Those of the *deleted* documents that the server lists after the time limit; a server may delete in its own time.
    end = time.monotonic() + settling_seconds
    while deleted:
        try:
            deleted = {each.id for each in await limiter.run(routes.listed)}.intersection(deleted)
        except EndpointError:
            break  # a list that cannot be read shows nothing
        rest = end - time.monotonic()
        if not deleted or rest <= 0:
            return set(deleted)
        await asyncio.sleep(min(_LISTING_SECONDS, rest))
    return set()


def _why(error: EndpointError, down: list[str], before: str = "") -> str:
    # The reason is added to *down* if the server does not answer.
    reason = before + str(error).partition("\n")[0]
    if isinstance(error, EndpointUnreachable | EndpointTimeout):
        down.append(reason)
    return reason


async def _find_unknown(
    ledger: Ledger, entries: Entries, routes: DocumentRoutes, limiter: Limiter, settling_seconds: float
) -> list[Left]:
    # Find the documents of uploads whose ids are unknown, and add them to the entries.
    settled = {*entries.documents.values(), *entries.unclear}
    unknown = {name: before for name, before in entries.before.items() if name not in settled}
    if not unknown and not entries.unclear:
        return []
    seconds_left = within(settling_seconds)
    try:
        unfinished = await _unfinished(entries, unknown, routes, limiter, seconds_left)
        # The server may still read uploads that it has not answered.
        unanswered = unknown.keys() - entries.batches.keys() - entries.refused
        listed = await _listed_with(unanswered | unfinished.keys(), unknown, routes, limiter, seconds_left(None))
    except EndpointError as error:
        reason = str(error).partition("\n")[0]
        return [Left(file_name=name, id=None, reason=reason) for name in unknown if name not in entries.refused]
    there = {document.id for document in listed}
    for name, ids in entries.unclear.items():
        remaining = [each for each in ids if each in there]
        if remaining != ids:
            ledger.write(unclear=remaining, file_name=name)
            entries.unclear[name] = remaining
    left = []
    for name, before in unknown.items():
        new = [document.id for document in listed if document.file_name == name and document.id not in before]
        if len(new) == 1:
            ledger.write(document=new[0], file_name=name)
            entries.documents[new[0]] = name
        elif new:
            ledger.write(unclear=new, file_name=name)
            entries.unclear[name] = new
        elif name in unfinished:
            left.append(Left(file_name=name, id=None, reason=unfinished[name]))
    return left


async def _unfinished(
    entries: Entries,
    names: Iterable[str],
    routes: DocumentRoutes,
    limiter: Limiter,
    seconds_left: Callable[[BatchStatus | None], float],
) -> dict[str, str]:
    # The reason why the server may still create the document of an answered upload, by file name.
    batches = {name: entries.batches[name] for name in names if name in entries.batches}
    down: list[str] = []

    async def why(batch_id: str) -> str | None:
        if down:
            return down[0]
        try:
            status = await routes.wait(
                batch_id, seconds_left=seconds_left, poll_seconds=1.0, eager=True, limiter=limiter
            )
        except EndpointError as error:
            if entries.told and error.status in {HTTPStatus.NOT_FOUND, HTTPStatus.GONE}:
                return None
            return _why(error, down, f"its batch {batch_id} cannot be followed to the end: ")
        if status.failures:
            return None
        if status.done:
            # An index may list a document later than its batch is done; a later cleanup looks again.
            return None if entries.told else f"its batch {batch_id} is done, and the server does not list it"
        return f"the server is still reading it ({status.completed} of {status.total} files of batch {batch_id})"

    reasons = await asyncio.gather(*map(why, batches.values()))
    return {name: reason for name, reason in zip(batches, reasons, strict=True) if reason is not None}


async def _listed_with(
    awaited: Collection[str],
    before: Mapping[str, Collection[str]],
    routes: DocumentRoutes,
    limiter: Limiter,
    settling_seconds: float,
) -> list[ServerDocument]:
    # The server's documents, once each awaited name has a new one, or after the time limit.
    end = time.monotonic() + settling_seconds
    while True:
        listed = await limiter.run(routes.listed)
        new = {each.file_name for each in listed if each.id not in before.get(each.file_name or "", ())}
        rest = end - time.monotonic()
        if new.issuperset(awaited) or rest <= 0:
            return listed
        await asyncio.sleep(min(_LISTING_SECONDS, rest))


def _log_left(left: Iterable[Left], base: str) -> None:
    for each in left:
        _log.warning("%s: document %s (file %s) is left: %s", base, each.id, each.file_name, each.reason)
