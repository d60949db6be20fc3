"""Documents go up before the first question that needs them, once a run, and are deleted at its end."""

from __future__ import annotations

import asyncio
import hashlib
import math
import os
import time
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any

from pytest_ragcheck.documents.asking import AsksIngested
from pytest_ragcheck.documents.cleanup import clean_up, take_out
from pytest_ragcheck.documents.ingestion import Ingested, ingest
from pytest_ragcheck.documents.ledger import Ledger, abandoned, folder_of_documents
from pytest_ragcheck.documents.outcome import Documents
from pytest_ragcheck.documents.uploads import uploads_of
from pytest_ragcheck.engine.gate import Gate
from pytest_ragcheck.engine.once import Once
from pytest_ragcheck.errors import UsageError
from pytest_ragcheck.plugin.configuration import settings_of
from pytest_ragcheck.plugin.fixtures import loop_of
from pytest_ragcheck.plugin.keys import DOCUMENTS
from pytest_ragcheck.plugin.processes import part_of, run_id
from pytest_ragcheck.plugin.run import run_of
from pytest_ragcheck.rag.ask import endpoint_name
from pytest_ragcheck.rag.client import RagClient
from pytest_ragcheck.redaction import shown_url

if TYPE_CHECKING:
    import pytest

    from pytest_ragcheck.documents.uploads import Upload
    from pytest_ragcheck.rag.answer import Asks
    from pytest_ragcheck.rag.documents import DocumentRoutes

_PROGRESS_SECONDS = 5.0


class RunDocuments:
    """
    The documents of the questions that this process runs, by the system that they are in.

    Under xdist the first worker puts them into the system of `--rag-url`, for all, and the controller deletes them.
    A system that only a conftest.py knows is the worker's own affair.
    """

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self._settings = settings_of(config)
        self._part = part_of(config)
        # An upload that came through and was not answered is not to be repeated: only what was refused is.
        self._room = Gate(math.ceil(self._settings.concurrency / self._part.share), retries=0)
        self._put: dict[str, asyncio.Task[Ingested]] = {}
        self._own: list[tuple[Ledger, DocumentRoutes]] = []
        self._held: list[Ledger] = []

    async def asks(self, client: Asks) -> AsksIngested:
        """The client, once the documents of the run are in the system that it asks, or known not to be."""
        name = endpoint_name(client)
        if name not in self._put:
            self._put[name] = asyncio.ensure_future(self._ingest(client, name))
        # A question that is given up does not end what the others wait for.
        return AsksIngested(client, await asyncio.shield(self._put[name]))

    def end(self, *, failed: bool) -> None:
        """Deletes what this process alone knows of, while its clients are still open."""
        loop_of(self._config).run(self._end, failed)

    async def _end(self, failed: bool) -> None:
        for task in self._put.values():
            task.cancel()
        await asyncio.gather(*self._put.values(), return_exceptions=True)
        self._put.clear()
        own, self._own = self._own, []
        for ledger, routes in own:
            done = await finished(ledger, routes, self._room, keep=_keeps(self._settings.keep_documents, failed=failed))
            note(self._config, done)
        for ledger in self._held:
            ledger.release()

    async def _ingest(self, client: Asks, name: str) -> Ingested:
        uploads = uploads_of(run_of(self._config).selected.values())
        if not uploads:
            return Ingested()
        try:
            routes = _routes(client, name)
        except UsageError as error:
            return Ingested(failures=dict.fromkeys((upload.doc_id for upload in uploads), str(error)))
        folder = folder_of_documents(self._settings.output)
        # The system of --rag-url is one for all workers, and the controller can reach it.
        if self._part.is_worker and self._part.shares_disk and name == shown_url(self._settings.url or ""):
            ledger = Ledger(folder / self._part.run_id)
            ledger.hold()
            self._held.append(ledger)
            once = Once(ledger.folder, self._settings.redactor)
            step = f"documents-{hashlib.sha256(name.encode()).hexdigest()[:12]}"
            return Ingested.from_json(await once.do(step, lambda: self._ingest_as_text(uploads, routes, ledger)))
        ledger = Ledger(folder / f"{self._part.run_id}-{os.getpid()}-{len(self._own)}")
        ledger.hold()
        self._own.append((ledger, routes))
        return await self._put_in(uploads, routes, ledger)

    async def _ingest_as_text(self, uploads: list[Upload], routes: DocumentRoutes, ledger: Ledger) -> str:
        return (await self._put_in(uploads, routes, ledger)).to_json()

    async def _put_in(self, uploads: list[Upload], routes: DocumentRoutes, ledger: Ledger) -> Ingested:
        for old in abandoned(self._settings.output):
            entries = old.read()
            if entries.base == routes.shown and not entries.kept:
                note(self._config, await clean_up(old, routes, self._room))
        # A worker that died over this has left some; what cannot be deleted is tried again, and told, at the end.
        await take_out(ledger, routes, self._room)
        progress = _Progress(self._config, len(uploads), routes.shown)
        return await ingest(uploads, routes, ledger=ledger, room=self._room, tell=progress.tell)


class _Progress:
    """Says now and then how many documents are in."""

    def __init__(self, config: pytest.Config, total: int, where: str) -> None:
        self._reporter: Any = config.pluginmanager.get_plugin("terminalreporter")
        self._quiet = self._reporter is None or config.get_verbosity() < 0
        self._capture: Any = config.pluginmanager.get_plugin("capturemanager")
        self._total = total
        self._where = where
        self._said = time.monotonic()
        self._say(f"putting {total:,} documents into {where}")

    def tell(self, done: int) -> None:
        """Takes note of how many are done."""
        if done == self._total or time.monotonic() - self._said >= _PROGRESS_SECONDS:
            self._say(f"{done:,} of {self._total:,} documents are in {self._where}")

    def _say(self, text: str) -> None:
        self._said = time.monotonic()
        if self._quiet:
            return
        # While a test runs, what is printed is captured.
        with self._capture.global_and_fixture_disabled() if self._capture is not None else nullcontext():
            self._reporter.ensure_newline()
            self._reporter.write_line(f"ragcheck: {text}")


def documents_of_run(config: pytest.Config) -> RunDocuments:
    """The process's documents; they begin with the first question that needs some."""
    if DOCUMENTS not in config.stash:
        config.stash[DOCUMENTS] = RunDocuments(config)
    return config.stash[DOCUMENTS]


def delete_for_all(config: pytest.Config, *, failed: bool) -> None:
    """On the controller of xdist, after the last worker: deletes what they put into the system of `--rag-url`."""
    settings = settings_of(config)
    ledger = Ledger(folder_of_documents(settings.output) / run_id(config))
    if settings.url is None or not ledger.folder.is_dir():
        return
    client = RagClient.from_settings(settings)

    async def delete() -> Documents:
        async with client:
            room = Gate(settings.concurrency, retries=settings.retries)
            keep = _keeps(settings.keep_documents, failed=failed)
            return await finished(ledger, client.documents, room, keep=keep)

    note(config, loop_of(config).run(delete))


async def finished(ledger: Ledger, routes: DocumentRoutes, room: Gate, *, keep: bool) -> Documents:
    """What becomes of the ledger's documents at the end of the run."""
    if keep:
        ledger.write(kept=True)
        ledger.release()
        return Documents(kept=len(ledger.read().documents))
    done = await clean_up(ledger, routes, room)
    ledger.release()
    return done


def note(config: pytest.Config, done: Documents) -> None:
    """Has the run's summary say it."""
    run = run_of(config)
    run.documents = done if run.documents is None else run.documents + done


def _keeps(when: str, *, failed: bool) -> bool:
    return when == "always" or (when == "on-failure" and failed)


def _routes(client: Asks, name: str) -> DocumentRoutes:
    if not isinstance(client, RagClient):
        raise UsageError(
            f"{name}: the rag_client takes no documents\n"
            "Ingestion needs a RagClient of a server: return one from the rag_client fixture, or do not ask for it."
        )
    return client.documents
