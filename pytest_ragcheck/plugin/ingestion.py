"""Documents go up before the first question that needs them, once a run, and are deleted at its end."""

from __future__ import annotations

import asyncio
import hashlib
import math
import os
import time
from contextlib import nullcontext
from functools import partial
from typing import TYPE_CHECKING, Any

from pytest_ragcheck.documents.asking import AsksIngested
from pytest_ragcheck.documents.cleanup import clean_up, take_out
from pytest_ragcheck.documents.ingestion import Ingested, has, ingest
from pytest_ragcheck.documents.ledger import Ledger, abandoned, folder_of_documents
from pytest_ragcheck.documents.uploads import uploads_of
from pytest_ragcheck.engine.gate import Gate
from pytest_ragcheck.engine.once import Once
from pytest_ragcheck.errors import UsageError
from pytest_ragcheck.plugin.configuration import settings_of
from pytest_ragcheck.plugin.deletion import finished, note
from pytest_ragcheck.plugin.keys import CLIENT, DOCUMENTS
from pytest_ragcheck.plugin.place import home_of
from pytest_ragcheck.plugin.private_loop import loop_of
from pytest_ragcheck.plugin.processes import part_of
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

    Under xdist the first worker puts them in, for all. The controller deletes those in the system of `--rag-url`; of
    one that only a conftest.py knows, the last worker does. Where a system is called the same in every worker, and is
    another one in each, as an app in the process, each sees to its own.
    """

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self._settings = settings_of(config)
        self._part = part_of(config)
        # An upload that came through and was not answered is not to be repeated: only what was refused is.
        self._room = Gate(math.ceil(self._settings.concurrency / self._part.share), retries=0)
        self._put: dict[str, asyncio.Task[Ingested]] = {}
        self._once = Once(home_of(self._settings) / self._part.run_id, self._settings.redactor)
        self._own: list[tuple[Ledger, DocumentRoutes]] = []
        self._shared: dict[str, tuple[Ledger, DocumentRoutes]] = {}
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
            await self._finish(ledger, routes, failed=failed)
        shared, self._shared = self._shared, {}
        for name, (ledger, routes) in shared.items():
            await self._once.undo(_step(name), partial(self._finish_as_last, ledger, routes, failed=failed))
        for ledger in self._held:
            ledger.release()

    async def _finish(self, ledger: Ledger, routes: DocumentRoutes, *, failed: bool) -> None:
        note(self._config, await finished(ledger, routes, self._room, settings=self._settings, failed=failed))

    async def _finish_as_last(self, ledger: Ledger, routes: DocumentRoutes, *, failed: bool) -> bool:
        """Whether no other worker has need of the documents, and so they are seen to."""
        if failed:
            ledger.write(failed=True)
        ledger.release()
        if ledger.alive:
            return False
        await self._finish(ledger, routes, failed=failed)
        return True

    async def _ingest(self, client: Asks, name: str) -> Ingested:
        uploads = uploads_of(run_of(self._config).selected.values())
        if not uploads:
            return Ingested()
        try:
            routes = _routes(client, name)
        except UsageError as error:
            return Ingested(failures=dict.fromkeys((upload.doc_id for upload in uploads), str(error)))
        if self._part.is_worker and self._part.shares_disk:
            ingested = await self._ingest_once(uploads, client, routes, name)
            if ingested is not None:
                return ingested
        ledger = self._ledger(f"{os.getpid()}-{len(self._own)}")
        ledger.hold()
        self._own.append((ledger, routes))
        return await self._put_in(uploads, routes, ledger)

    async def _ingest_once(
        self, uploads: list[Upload], client: Asks, routes: DocumentRoutes, name: str
    ) -> Ingested | None:
        """What a worker put in for all; None where that was into another system that is called the same."""
        ledger = self._ledger(_digest(name))
        ledger.hold()
        known = client is self._config.stash.get(CLIENT, None) and name == shown_url(self._settings.url or "")
        # Before anything goes up: who ends meanwhile has to take it out.
        if known:
            self._held.append(ledger)
        else:
            self._shared[name] = (ledger, routes)

        async def put_in() -> str:
            nonlocal known
            known = True
            # Whoever has ended in the meantime may have taken the folder away, and the lock in it.
            ledger.hold()
            return (await self._put_in(uploads, routes, ledger)).to_json()

        ingested = Ingested.from_json(await self._once.do(_step(name), put_in))
        if not known and not await has(routes, ingested.ids, self._room):
            del self._shared[name]
            ledger.release()
            return None
        return ingested

    def _ledger(self, name: str) -> Ledger:
        return Ledger(folder_of_documents(self._settings.output) / f"{self._part.run_id}-{name}")

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


def _routes(client: Asks, name: str) -> DocumentRoutes:
    if not isinstance(client, RagClient):
        raise UsageError(
            f"{name}: the rag_client takes no documents\n"
            "Ingestion needs a RagClient of a server: return one from the rag_client fixture, or do not ask for it."
        )
    return client.documents


def _step(name: str) -> str:
    return f"documents-{_digest(name)}"


def _digest(name: str) -> str:
    return hashlib.sha256(name.encode()).hexdigest()[:12]
