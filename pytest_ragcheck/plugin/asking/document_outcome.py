"""Carries the outcome of the documents of a run from the process that deletes them to the summary."""

from __future__ import annotations

import json
import os
from dataclasses import asdict
from typing import TYPE_CHECKING

from pytest_ragcheck.plugin.configuration import settings_of
from pytest_ragcheck.plugin.run_state import run_of
from pytest_ragcheck.plugin.workers.shared_folder import home_of, run_folder
from pytest_ragcheck.plugin.workers.worker_info import part_of
from pytest_ragcheck.rag.documents.deletion import clean_up
from pytest_ragcheck.rag.documents.documents_outcome import Documents

if TYPE_CHECKING:
    import pytest

    from pytest_ragcheck.concurrency.limiter import Limiter
    from pytest_ragcheck.config.settings import Settings
    from pytest_ragcheck.rag.documents.document_routes import DocumentRoutes
    from pytest_ragcheck.rag.documents.ledger import Ledger

_FOLDER = "documents"
"""Subfolder of the run folder, with one file for each worker that deleted documents."""


async def finished(
    ledger: Ledger, routes: DocumentRoutes, room: Limiter, *, settings: Settings, failed: bool
) -> Documents:
    """Delete or keep the ledger's documents at the end of the run, and return the outcome."""
    entries = ledger.read()
    failed = failed or entries.failed
    if settings.run.keeps_documents(failed=failed):
        ledger.write(kept=True)
        ledger.release()
        return Documents(kept=len(entries.documents))
    done = await clean_up(ledger, routes, room)
    ledger.release()
    return done


def note(config: pytest.Config, done: Documents) -> None:
    """Add the outcome to the summary of the run, from any process."""
    run = run_of(config)
    run.documents = done if run.documents is None else run.documents + done
    part = part_of(config)
    if part.is_worker and part.shares_disk:
        folder = home_of(settings_of(config)) / part.run_id / _FOLDER
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"{os.getpid()}.json").write_text(json.dumps(asdict(run.documents)), encoding="utf-8")


def note_of_workers(config: pytest.Config) -> None:
    """Add the outcomes that the workers wrote, on the controller of xdist."""
    for path in sorted((run_folder(config) / _FOLDER).glob("*.json")):
        note(config, Documents.from_row(json.loads(path.read_bytes())))
