"""Uploads the documents of a run before the first question that needs them, and deletes them at the end."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import time
from contextlib import suppress
from dataclasses import asdict
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_ragcheck.engine.limits.request_limiter import RequestLimiter, WithoutRetries
from pytest_ragcheck.engine.store.run_folder import POLL_SECONDS, Once
from pytest_ragcheck.errors import EndpointError, UsageError
from pytest_ragcheck.plugin.asking.session_loop import is_client_of_url, loop_of, write_line
from pytest_ragcheck.plugin.asking.shared_run import limits_of
from pytest_ragcheck.plugin.configuration import settings_of
from pytest_ragcheck.plugin.run_state import run_of
from pytest_ragcheck.plugin.workers import home_of, run_id, worker_info
from pytest_ragcheck.questions.question import text_digest
from pytest_ragcheck.rag.ask import endpoint_name
from pytest_ragcheck.rag.client import RagClient
from pytest_ragcheck.rag.documents.deletion import clean_up, give_up
from pytest_ragcheck.rag.documents.ingestion import SETTLING_SECONDS, AsksIngested, Ingested, has, ingest, refused
from pytest_ragcheck.rag.documents.uploads import (
    Documents,
    Ledger,
    Upload,
    abandoned,
    folder_of_documents,
    ledgers_of,
    uploads_of,
)
from pytest_ragcheck.redaction import shown_url
from pytest_ragcheck.short_texts import counted

if TYPE_CHECKING:
    from collections.abc import Callable

    import pytest

    from pytest_ragcheck.concurrency.limiter import Limiter
    from pytest_ragcheck.rag.answer import Asks
    from pytest_ragcheck.rag.documents.document_routes import DocumentRoutes


async def _settle(
    config: pytest.Config, ledger: Ledger, routes: DocumentRoutes, limiter: Limiter, *, failed: bool
) -> None:
    # Delete or keep the ledger's documents at the end of the run.
    entries = ledger.read()
    if settings_of(config).run.keeps_documents(failed=failed or entries.failed):
        ledger.write(kept=True)
        done = Documents(kept=len(entries.documents))
    else:
        done = await clean_up(ledger, routes, limiter)
    ledger.release()
    _add_outcome(config, done)


def _add_outcome(config: pytest.Config, done: Documents) -> None:
    # Add the outcome to the summary of the run, from any process.
    run = run_of(config)
    run.documents = done if run.documents is None else run.documents + done
    worker = worker_info(config)
    if worker.is_worker and worker.shares_disk:
        folder = _folder(config)
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"{os.getpid()}.json").write_text(json.dumps(asdict(run.documents)), encoding="utf-8")


def delete_for_all(config: pytest.Config, *, failed: bool) -> None:
    """Delete the documents that no worker has deleted, in the controller of xdist, and add the workers' outcomes."""
    folder = _folder(config)
    for path in sorted(folder.glob("*.json")):
        _add_outcome(config, Documents.from_row(json.loads(path.read_bytes())))
    shutil.rmtree(folder, ignore_errors=True)
    settings = settings_of(config)
    ledgers = [each for each in ledgers_of(settings.run.output, run_id(config)) if not each.read().is_settled]
    if ledgers:
        loop_of(config).run(_delete, config, ledgers, failed)


async def _delete(config: pytest.Config, ledgers: list[Ledger], failed: bool) -> None:
    settings = settings_of(config)
    limiter = RequestLimiter(settings.endpoint.concurrency, retries=settings.endpoint.retries)
    client = None if settings.endpoint.url is None else RagClient.from_settings(settings)
    for ledger in ledgers:
        entries = ledger.read()
        if client is not None and entries.base == client.documents.shown:
            routes = client.documents.of_identity(entries.identity)
            await _settle(config, ledger, routes, limiter, failed=failed)
        else:
            _add_outcome(config, give_up(ledger))
    if client is not None:
        await client.aclose()


def _folder(config: pytest.Config) -> Path:
    # The folder with a file for each worker, outside of the run folder, which the next run may remove.
    return folder_of_documents(settings_of(config).run.output) / f"outcome-{worker_info(config).run_id}"


_PROGRESS_SECONDS = 5.0


class RunDocuments:
    """
    Uploads and deletes the documents of this process's questions, by system.

    Under xdist the first worker uploads for all. The controller deletes from the system of `--rag-url`, the last worker
    from that of a conftest.py. Systems that share a name, such as an app in each process, have documents of their own.
    """

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self._settings = settings_of(config)
        self._worker = worker_info(config)
        self._tasks: dict[str, asyncio.Task[Ingested]] = {}
        self._once = Once(home_of(self._settings) / self._worker.run_id, self._settings.redactor)
        self._own: list[tuple[Ledger, DocumentRoutes]] = []
        self._shared: dict[str, tuple[Ledger, DocumentRoutes]] = {}
        self._held: list[Ledger] = []
        self._ending: asyncio.Task[None] | None = None

    @property
    def _limiter(self) -> Limiter:
        # An upload without a reply may have arrived.
        return WithoutRetries(limits_of(self._config).asking)

    async def with_documents(self, client: Asks) -> AsksIngested:
        """The client once the documents are in its system, or their upload has failed."""
        name = endpoint_name(client)
        if name not in self._tasks:
            self._tasks[name] = asyncio.ensure_future(self._ingest(client, name))
        # A cancelled question must not cancel the upload that the others wait for.
        return AsksIngested(client, await asyncio.shield(self._tasks[name]), self._uploads)

    @cached_property
    def _uploads(self) -> list[Upload]:
        return uploads_of(run_of(self._config).questions.selected.values())

    async def end(self, failed: bool) -> None:
        """Delete the documents that only this process can delete, while its clients are still open."""
        # Ctrl-C ends only the wait; the end of the session waits again.
        if self._ending is None or self._ending.done():
            self._ending = asyncio.ensure_future(self._delete(failed))
        await asyncio.shield(self._ending)

    async def _delete(self, failed: bool) -> None:
        # An abandoned event loop, which a user's code blocks, ends its own uploads.
        uploads = [task for task in self._tasks.values() if task.get_loop() is asyncio.get_running_loop()]
        for task in uploads:
            task.cancel()
        await asyncio.gather(*uploads, return_exceptions=True)
        self._tasks.clear()
        own, self._own = self._own, []
        for ledger, routes in own:
            await _settle(self._config, ledger, routes, self._limiter, failed=failed)
        shared, self._shared = self._shared, {}
        for name, (ledger, routes) in shared.items():
            await self._end_shared(name, ledger, routes, failed=failed)
        for ledger in self._held:
            ledger.release()

    async def _end_shared(self, name: str, ledger: Ledger, routes: DocumentRoutes, *, failed: bool) -> None:
        # Delete the documents, or leave them to the last worker that needs them.
        end = time.monotonic() + SETTLING_SECONDS

        async def finish_as_last() -> bool:
            # An undecided worker may find that its own system lacks these documents, and then cannot delete them.
            if ledger.undecided and time.monotonic() < end:
                return False
            if failed:
                ledger.write(failed=True)
            ledger.release()
            if ledger.alive:
                return False
            await _settle(self._config, ledger, routes, self._limiter, failed=failed)
            return True

        await self._once.undo(_step(name), finish_as_last)
        while ledger.held:
            await asyncio.sleep(POLL_SECONDS)
            await self._once.undo(_step(name), finish_as_last)

    async def _ingest(self, client: Asks, name: str) -> Ingested:
        by_identity: dict[str, list[Upload]] = {}
        for upload in self._uploads:
            by_identity.setdefault(upload.identity, []).append(upload)
        done = [await self._ingest_as(identity, own, client, name) for identity, own in by_identity.items()]
        return Ingested(
            ids={server_id: name for each in done for server_id, name in each.ids.items()},
            failures={name: why for each in done for name, why in each.failures.items()},
            is_refused=all(each.is_refused for each in done),
        )

    async def _ingest_as(self, identity: str, uploads: list[Upload], client: Asks, name: str) -> Ingested:
        try:
            routes = _routes(client, name).of_identity(identity)
        except (UsageError, EndpointError) as error:
            return Ingested(failures=dict.fromkeys((upload.file_name for upload in uploads), str(error)))
        try:
            if self._worker.is_worker and self._worker.shares_disk:
                ingested = await self._ingest_once(uploads, client, routes, name)
                if ingested is not None:
                    return ingested
            ledger = self._ledger(f"{os.getpid()}-{len(self._own)}")
            ledger.hold()
            self._own.append((ledger, routes))
            return await self._upload_to(uploads, routes, ledger)
        except OSError as error:
            return refused(uploads, self._no_ledger(error))

    async def _ingest_once(
        self, uploads: list[Upload], client: Asks, routes: DocumentRoutes, name: str
    ) -> Ingested | None:
        # The result of the one upload for all workers; None if it went to another system with the same name.
        system = name
        name = f"{name} as {routes.identity}" if routes.identity else name
        ledger = self._ledger(text_digest(name))
        ledger.hold(undecided=True)
        known = is_client_of_url(self._config, client) and system == shown_url(self._settings.endpoint.url or "")
        # A process that ends during the upload must delete the documents.
        if known:
            self._held.append(ledger)
        else:
            self._shared[name] = (ledger, routes)

        async def upload_first() -> str:
            nonlocal known
            known = True
            # A process that ended before may have removed the folder with the lock.
            try:
                ledger.hold()
                return (await self._upload_to(uploads, routes, ledger)).to_json()
            except OSError as error:
                return refused(uploads, self._no_ledger(error)).to_json()

        try:
            ingested = Ingested.from_json(await self._once.do(_step(name), upload_first))
            if not known and not await has(routes, ingested.ids, limits_of(self._config).asking):
                del self._shared[name]
                ledger.release()
                return None
        finally:
            ledger.decide()
        return ingested

    def _no_ledger(self, error: OSError) -> str:
        folder = folder_of_documents(self._settings.run.output)
        return (
            f"{folder}: the ledger of the uploads cannot be written: {error.strerror}\n"
            "Nothing is uploaded without it, since a later run could not delete it. Make the folder writable, or "
            "choose another one by --rag-output."
        )

    def _ledger(self, name: str) -> Ledger:
        return Ledger(folder_of_documents(self._settings.run.output) / f"{self._worker.run_id}-{name}")

    async def _upload_to(self, uploads: list[Upload], routes: DocumentRoutes, ledger: Ledger) -> Ingested:
        for old in abandoned(self._settings.run.output):
            entries = old.read()
            # A worker that ends releases its ledger before it deletes the documents.
            is_own = old.folder.name.startswith(self._worker.run_id)
            if entries.base == routes.shown and not entries.kept and not is_own:
                # Documents of an identity that the settings no longer have stay in their ledger.
                with suppress(EndpointError):
                    _add_outcome(self._config, await clean_up(old, routes.of_identity(entries.identity), self._limiter))
        # A worker that died here has left documents; the end of the run retries and reports failed deletions.
        await clean_up(ledger, routes, self._limiter, continues=True)
        return await ingest(
            uploads,
            routes,
            ledger=ledger,
            limiter=self._limiter,
            on_progress=_progress(self._config, len(uploads), routes.shown),
            timeout_seconds=self._settings.endpoint.timeout_seconds,
        )


def _progress(config: pytest.Config, total: int, where: str) -> Callable[[int], None]:
    # Print the beginning of the upload; the returned function prints every few seconds how many are uploaded.
    printed_at = 0.0

    def write(text: str) -> None:
        nonlocal printed_at
        printed_at = time.monotonic()
        if config.get_verbosity() >= 0:
            write_line(config, text)

    def update(done: int) -> None:
        if done == total or time.monotonic() - printed_at >= _PROGRESS_SECONDS:
            write(f"uploaded {done:,} of {total:,} documents to {where}")

    write(f"uploading {counted(total, 'document')} to {where}")
    return update


def _routes(client: Asks, name: str) -> DocumentRoutes:
    if not isinstance(client, RagClient):
        raise UsageError(
            f"{name}: the rag_client takes no documents\n"
            "Ingestion needs a RagClient of a server: return one from the rag_client fixture, or do not ask for it."
        )
    return client.documents


def _step(name: str) -> str:
    return f"documents-{text_digest(name)}"
