"""At the end of a run its documents are deleted, by a process that can, and its summary hears what became of them."""

from __future__ import annotations

import json
import os
from dataclasses import asdict
from typing import TYPE_CHECKING

from pytest_ragcheck.documents.cleanup import clean_up, give_up
from pytest_ragcheck.documents.ledger import ledgers_of
from pytest_ragcheck.documents.outcome import Documents
from pytest_ragcheck.engine.gate import Gate
from pytest_ragcheck.plugin.configuration import settings_of
from pytest_ragcheck.plugin.place import home_of, run_folder
from pytest_ragcheck.plugin.private_loop import loop_of
from pytest_ragcheck.plugin.processes import part_of, run_id
from pytest_ragcheck.plugin.run import run_of
from pytest_ragcheck.rag.client import RagClient

if TYPE_CHECKING:
    import pytest

    from pytest_ragcheck.documents.ingestion import Room
    from pytest_ragcheck.documents.ledger import Ledger
    from pytest_ragcheck.rag.documents import DocumentRoutes
    from pytest_ragcheck.settings import Settings

_TOLD = "documents"
"""In the folder of the run: what became of the documents that each worker saw to."""


async def finished(
    ledger: Ledger, routes: DocumentRoutes, room: Room, *, settings: Settings, failed: bool
) -> Documents:
    """What becomes of the ledger's documents at the end of the run."""
    entries = ledger.read()
    failed = failed or entries.failed
    if settings.keep_documents == "always" or (settings.keep_documents == "on-failure" and failed):
        ledger.write(kept=True)
        ledger.release()
        return Documents(kept=len(entries.documents))
    done = await clean_up(ledger, routes, room)
    if done.left:
        ledger.write(told=True)
    ledger.release()
    return done


def note(config: pytest.Config, done: Documents) -> None:
    """Has the run's summary say it, whichever process this is."""
    run = run_of(config)
    run.documents = done if run.documents is None else run.documents + done
    part = part_of(config)
    if part.is_worker and part.shares_disk:
        folder = home_of(settings_of(config)) / part.run_id / _TOLD
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"{os.getpid()}.json").write_text(json.dumps(asdict(run.documents)), encoding="utf-8")


def delete_for_all(config: pytest.Config, *, failed: bool) -> None:
    """On the controller of xdist, after the last worker: deletes what is left to it, and hears of the rest."""
    for path in sorted((run_folder(config) / _TOLD).glob("*.json")):
        note(config, Documents.from_row(json.loads(path.read_bytes())))
    settings = settings_of(config)
    ledgers = [each for each in ledgers_of(settings.output, run_id(config)) if not each.read().seen_to]
    if ledgers:
        loop_of(config).run(_delete, config, ledgers, failed)


async def _delete(config: pytest.Config, ledgers: list[Ledger], failed: bool) -> None:
    settings = settings_of(config)
    room = Gate(settings.concurrency, retries=settings.retries)
    client = None if settings.url is None else RagClient.from_settings(settings)
    for ledger in ledgers:
        if client is not None and ledger.read().base == client.documents.shown:
            note(config, await finished(ledger, client.documents, room, settings=settings, failed=failed))
        else:
            note(config, give_up(ledger))
    if client is not None:
        await client.aclose()
