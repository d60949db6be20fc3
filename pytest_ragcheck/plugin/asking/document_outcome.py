"""Carries the outcome of the documents of a run from the process that deletes them to the summary."""

from __future__ import annotations

import json
import os
import shutil
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_ragcheck.plugin.configuration import settings_of
from pytest_ragcheck.plugin.run_state import run_of
from pytest_ragcheck.plugin.workers.worker_info import part_of
from pytest_ragcheck.rag.documents.deletion import clean_up
from pytest_ragcheck.rag.documents.documents_outcome import Documents
from pytest_ragcheck.rag.documents.ledger import folder_of_documents

if TYPE_CHECKING:
    import pytest

    from pytest_ragcheck.concurrency.limiter import Limiter
    from pytest_ragcheck.config.settings import Settings
    from pytest_ragcheck.rag.documents.document_routes import DocumentRoutes
    from pytest_ragcheck.rag.documents.ledger import Ledger


async def finished(
    ledger: Ledger, routes: DocumentRoutes, limiter: Limiter, *, settings: Settings, failed: bool
) -> Documents:
    """Delete or keep the ledger's documents at the end of the run, and return the outcome."""
    entries = ledger.read()
    failed = failed or entries.failed
    if settings.run.keeps_documents(failed=failed):
        ledger.write(kept=True)
        ledger.release()
        return Documents(kept=len(entries.documents))
    done = await clean_up(ledger, routes, limiter)
    ledger.release()
    return done


def note(config: pytest.Config, done: Documents) -> None:
    """Add the outcome to the summary of the run, from any process."""
    run = run_of(config)
    run.documents = done if run.documents is None else run.documents + done
    part = part_of(config)
    if part.is_worker and part.shares_disk:
        folder = _folder(config)
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"{os.getpid()}.json").write_text(json.dumps(asdict(run.documents)), encoding="utf-8")


def note_of_workers(config: pytest.Config) -> None:
    """Add the outcomes that the workers wrote, on the controller of xdist."""
    folder = _folder(config)
    for path in sorted(folder.glob("*.json")):
        note(config, Documents.from_row(json.loads(path.read_bytes())))
    shutil.rmtree(folder, ignore_errors=True)


def _folder(config: pytest.Config) -> Path:
    """Return the folder with one file for each worker; it is not in the run folder, which the next run may remove."""
    return folder_of_documents(settings_of(config).run.output) / f"outcome-{part_of(config).run_id}"
