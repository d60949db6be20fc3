"""Uploads documents, finds out their ids on the server, and asks with them."""

from __future__ import annotations

import asyncio
import json
import time
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from http import HTTPStatus

from pytest_ragcheck.concurrency.limiter import Limiter
from pytest_ragcheck.errors import EndpointError, IngestionError
from pytest_ragcheck.frozen import frozen
from pytest_ragcheck.questions.question import Question, documents_of
from pytest_ragcheck.rag.answer import Asks, RagAnswer
from pytest_ragcheck.rag.ask import ask, endpoint_name
from pytest_ragcheck.rag.documents.document_routes import BatchStatus, DocumentRoutes, ServerDocument, is_temporary
from pytest_ragcheck.rag.documents.uploads import Ledger, Upload

STALLED_LIMITS = 2
BEGUN_LIMITS = 5
"""
Time after which a server without any progress has stalled: before it has begun a document, and after.

The unit is the time limit of a request, so that the defaults are 120 s and 300 s. A document that is being read shows
no progress, so it gets more time.
"""

POLL_SECONDS = 2.0
"""Maximum pause between two polls."""

SETTLING_SECONDS = 10.0
"""Time limit for uploads that are in progress at the end of the run."""

_FAILED_AT_FIRST = 3
_FAILED_LATER = 10
"""Failures in a row after which no further document is sent: before the first success, and after it."""

_NO_ROUTE = {HTTPStatus.NOT_FOUND, HTTPStatus.METHOD_NOT_ALLOWED, HTTPStatus.NOT_IMPLEMENTED}
_UNAUTHORIZED = {HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN}


@frozen
class Ingested:
    ids: Mapping[str, str] = field(default_factory=dict)
    """The file name of our document, by the server's id."""

    failures: Mapping[str, str] = field(default_factory=dict)
    """The reason why the document is not, or may not be, in the system, by file name."""

    is_refused: bool = False
    """True if the server takes or reads no further document, so that other questions get the same error."""

    def to_json(self) -> str:
        return json.dumps(asdict(self))

    @classmethod
    def from_json(cls, text: str) -> Ingested:
        return cls(**json.loads(text))


async def ingest(
    uploads: Sequence[Upload],
    routes: DocumentRoutes,
    *,
    ledger: Ledger,
    limiter: Limiter,
    on_progress: Callable[[int], None] = lambda _: None,
    timeout_seconds: float = 60.0,
) -> Ingested:
    """
    Uploads the documents to the system.

    Each name, which is unique, must get exactly one new document. If the server has no route for uploads, reads nothing
    of the first document, or fails with the first three, all count as failed, and no further one is sent.

    The *ledger* has a line for each upload before it begins. *on_progress* is called with the number of finished
    documents.
    """
    try:
        listed = await limiter.run(routes.listed)
        before = _by_name(listed)
        watch = _ProgressWatch(routes=routes, limiter=limiter, listed=_ids(listed), timeout_seconds=timeout_seconds)
        uploader = _Uploader(routes=routes, ledger=ledger, limiter=limiter, on_progress=on_progress, watch=watch)
        ledger.write(base=routes.shown, identity=routes.identity)
        reasons: list[str | None] = []
        # Uploads run one by one until one succeeds, so that a server that takes none gets only a few requests.
        while not reasons or (uploader.failed_in_row and len(reasons) < len(uploads)):
            failure = await uploader.upload(uploads[len(reasons)], before)
            if failure is not None and uploader.is_refused:
                return refused(uploads, failure)
            reasons.append(failure)
        reasons += await asyncio.gather(*(uploader.upload(upload, before) for upload in uploads[len(reasons) :]))
        after = _by_name(await limiter.run(routes.listed))
    except EndpointError as error:
        return refused(uploads, str(error))
    ids: dict[str, str] = {}
    failures: dict[str, str] = {}
    for upload, reason in zip(uploads, reasons, strict=True):
        name = upload.file_name
        new = [document_id for document_id in after.get(name, []) if document_id not in before.get(name, [])]
        if len(new) == 1:
            ledger.write(document=new[0], file_name=name)
            ids[new[0]] = name
        elif new:
            ledger.write(unclear=new, file_name=name)
        if failure := reason or _why_unknown(upload, new, routes):
            failures[name] = failure
    # A single unread document may be too hard to read.
    is_refused = reasons.count(uploader.stalled) > 1 or uploader.failed_in_row == len(reasons) > 1
    return Ingested(ids=ids, failures=failures, is_refused=is_refused)


def refused(uploads: Sequence[Upload], why: str) -> Ingested:
    return Ingested(failures=dict.fromkeys((upload.file_name for upload in uploads), why), is_refused=True)


async def has(routes: DocumentRoutes, ids: Collection[str], limiter: Limiter) -> bool:
    """True if the system lists all of these documents, or does not answer."""
    try:
        listed = await limiter.run(routes.listed)
    except EndpointError:
        return True
    return _ids(listed).issuperset(ids)


@dataclass(slots=True, kw_only=True, eq=False)
class _ProgressWatch:
    """Finds out whether the server still reads documents, from all their statuses and from its list."""

    # The workers of a server can be dead while its routes work, and slow workers can be busy with other documents.

    routes: DocumentRoutes
    limiter: Limiter
    listed: set[str]
    timeout_seconds: float
    limit_seconds: float = 0.0
    """The time within which some document has to progress, as of the last poll."""

    _statuses: dict[str, BatchStatus] = field(default_factory=dict)
    _moved_at: float = field(default_factory=time.monotonic)

    def seconds_left(self, batch_id: str, status: BatchStatus | None) -> float:
        if status is not None and self._statuses.get(batch_id) != status:
            self._statuses[batch_id] = status
            self._moved_at = time.monotonic()
        begun = any(each.begun and not each.done for each in self._statuses.values())
        self.limit_seconds = (BEGUN_LIMITS if begun else STALLED_LIMITS) * self.timeout_seconds
        return self._moved_at + self.limit_seconds - time.monotonic()

    async def is_stalled(self) -> bool:
        # True if no document progresses; a change of the server's list is progress, too.
        listed = _ids(await self.limiter.run(self.routes.listed))
        if listed != self.listed:
            self.listed = listed
            self._moved_at = time.monotonic()
        return self._moved_at + self.limit_seconds <= time.monotonic()


@dataclass(slots=True, kw_only=True, eq=False)
class _Uploader:
    routes: DocumentRoutes
    ledger: Ledger
    limiter: Limiter
    on_progress: Callable[[int], None]
    watch: _ProgressWatch
    done: int = 0
    is_refused: bool = False
    """True if the server has no route for uploads, has stopped reading documents, or fails with each of them."""

    stalled: str = ""
    """The failure after which no document is sent, because the server reads none or fails with each; else empty."""

    failed_in_row: int = 0
    """Failures of the server itself since the last document that it took and read, or refused."""

    async def upload(self, upload: Upload, before: Mapping[str, list[str]]) -> str | None:
        name = upload.file_name
        shown = f"document {upload.doc_id!r} (file {name})"
        try:
            batch_id = await self.limiter.run(partial(self._send, upload, before.get(name, [])))
        except EndpointError as error:
            return self._failed(f"{shown} was not taken: {error}", error)
        if batch_id is None:
            return self.stalled
        try:
            status = await self._status(batch_id)
        except EndpointError as error:
            return self._failed(
                f"{shown} was uploaded, and the server does not say whether it was read: {error}", error
            )
        self.failed_in_row = 0
        if status.done or status.failures:
            self.done += 1
            self.on_progress(self.done)
        if status.failures:
            return (
                f"{self.routes.shown}: {shown} was uploaded, and the server could not read it: "
                f"{'; '.join(status.failures)}\nSee the server's log."
            )
        if not status.done:
            self.is_refused = True
            self.stalled = self.stalled or (
                f"{self.routes.shown}: {shown} was uploaded, and the server has read nothing for "
                f"{self.watch.limit_seconds:g} s ({status.completed} of {status.total} files)\n"
                "Check that the server's document reader runs, or raise rag_timeout."
            )
            return self.stalled
        return None

    def _failed(self, failure: str, error: EndpointError) -> str:
        self.failed_in_row = self.failed_in_row + 1 if is_temporary(error) or error.status in _UNAUTHORIZED else 0
        most = _FAILED_LATER if self.done else _FAILED_AT_FIRST
        if self.failed_in_row >= most and not self.stalled:
            self.stalled = f"{failure}\n{self.failed_in_row} documents in a row failed; no further one was sent."
        self.is_refused = error.status in _NO_ROUTE or bool(self.stalled)
        return self.stalled or failure

    async def _status(self, batch_id: str) -> BatchStatus:
        # The batch's last status: it is done, one of its tasks failed, or the server has stopped reading.
        while True:
            status = await self.routes.wait(
                batch_id,
                seconds_left=partial(self.watch.seconds_left, batch_id),
                poll_seconds=POLL_SECONDS,
                eager=True,
                limiter=self.limiter,
            )
            if status.done or status.failures or await self.watch.is_stalled():
                return status

    async def _send(self, upload: Upload, before: list[str]) -> str | None:
        # The batch's id; None if no document is sent any more.
        # A cancelled run waits for it, because the server may still create the document.
        if self.stalled:
            return None
        self.ledger.write(upload=upload.file_name, before=before)
        sending = asyncio.ensure_future(self._answered(upload))
        try:
            return await asyncio.shield(sending)
        except asyncio.CancelledError:
            with suppress(EndpointError, asyncio.TimeoutError):
                await asyncio.wait_for(sending, SETTLING_SECONDS)
            raise

    async def _answered(self, upload: Upload) -> str:
        try:
            batch_id = await self.routes.upload(upload.text, upload.file_name)
        except EndpointError as error:
            # After a gateway's 5xx the server may still create the document.
            if error.status is not None and error.status // 100 == 4:
                self.ledger.write(refused=upload.file_name)
            raise
        self.ledger.write(batch=batch_id, file_name=upload.file_name)
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


def _ids(documents: Sequence[ServerDocument]) -> set[str]:
    return {document.id for document in documents}


def _by_name(documents: Sequence[ServerDocument]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for document in documents:
        found.setdefault(document.file_name or "", []).append(document.id)
    return found


class AsksIngested:
    def __init__(self, client: Asks, ingested: Ingested, uploads: Iterable[Upload]) -> None:
        self._client = client
        self._ingested = ingested
        self._uploads = {upload.file_name: upload for upload in uploads}
        self._names: defaultdict[str, defaultdict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
        """The file names of each document, by dataset and our id; several identities may upload one document."""
        for upload in self._uploads.values():
            for dataset in upload.datasets:
                self._names[dataset][upload.doc_id].append(upload.file_name)
        self.top_k = getattr(client, "top_k", None)
        self.endpoint = endpoint_name(client)
        self.lacks_documents = ingested.is_refused
        """True if the system takes or reads no further documents."""

    @property
    def _ragcheck_secrets(self) -> tuple[str, ...]:
        return getattr(self._client, "_ragcheck_secrets", ())

    async def ask(self, question: Question) -> RagAnswer:
        """
        The system's answer, with our ids of its sources; documents of others keep the server's ids.

        Raises:
            IngestionError: A document of the question is not in the system.
            EndpointError: The endpoint gave no answer that can be judged.
        """
        names = self._names[question.dataset_name]
        wanted = dict.fromkeys(str(passage.doc_id) for passage in documents_of(question))
        failed = [name for each in wanted for name in names.get(each, ()) if name in self._ingested.failures]
        if failed:
            further = f"\nFurther documents of the question with an error: {len(failed) - 1}." if failed[1:] else ""
            raise IngestionError(self._ingested.failures[failed[0]] + further, url=self.endpoint)
        answer = await ask(question, self._client)
        if answer.source_ids is None:
            return answer
        ours = tuple(self._our_id(each, names) for each in answer.source_ids)
        return replace(answer, source_ids=ours, server_source_ids=answer.source_ids)

    def _our_id(self, server_id: str, names: Mapping[str, list[str]]) -> str:
        # Our id of a document; its file name if the dataset has another document of that id.
        from pytest_ragcheck.rag.cited_answer import document_of

        ids = self._ingested.ids
        file_name = ids.get(server_id) or ids.get(document_of(server_id))
        if file_name is None:
            return server_id
        doc_id = self._uploads[file_name].doc_id
        return doc_id if file_name in names.get(doc_id, (file_name,)) else file_name
