"""Deletes the documents of a run at its end, and carries the outcome from the deleting process to the summary."""

from __future__ import annotations

import json
import os
import shutil
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_ragcheck.engine.limits.request_limiter import RequestLimiter
from pytest_ragcheck.plugin.asking.session_loop import loop_of
from pytest_ragcheck.plugin.configuration import settings_of
from pytest_ragcheck.plugin.run_state import run_of
from pytest_ragcheck.plugin.workers import run_id, worker_info
from pytest_ragcheck.rag.client import RagClient
from pytest_ragcheck.rag.documents.deletion import clean_up, give_up
from pytest_ragcheck.rag.documents.uploads import Documents, Ledger, folder_of_documents, ledgers_of

if TYPE_CHECKING:
    import pytest

    from pytest_ragcheck.concurrency.limiter import Limiter
    from pytest_ragcheck.config.settings import Settings
    from pytest_ragcheck.rag.documents.document_routes import DocumentRoutes


async def settle(
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


def add_outcome(config: pytest.Config, done: Documents) -> None:
    """Add the outcome to the summary of the run, from any process."""
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
        add_outcome(config, Documents.from_row(json.loads(path.read_bytes())))
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
            add_outcome(config, await settle(ledger, routes, limiter, settings=settings, failed=failed))
        else:
            add_outcome(config, give_up(ledger))
    if client is not None:
        await client.aclose()


def _folder(config: pytest.Config) -> Path:
    # The folder with a file for each worker, outside of the run folder, which the next run may remove.
    return folder_of_documents(settings_of(config).run.output) / f"outcome-{worker_info(config).run_id}"
