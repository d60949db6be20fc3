"""At the end of a run the controller of xdist deletes the documents that no worker has deleted."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_ragcheck.engine.limits.request_limiter import RequestLimiter
from pytest_ragcheck.plugin.asking.document_outcome import finished, note, note_of_workers
from pytest_ragcheck.plugin.asking.session_loop import loop_of
from pytest_ragcheck.plugin.configuration import settings_of
from pytest_ragcheck.plugin.workers.worker_info import run_id
from pytest_ragcheck.rag.client import RagClient
from pytest_ragcheck.rag.documents.deletion import give_up
from pytest_ragcheck.rag.documents.ledger import ledgers_of

if TYPE_CHECKING:
    import pytest

    from pytest_ragcheck.rag.documents.ledger import Ledger


def delete_for_all(config: pytest.Config, *, failed: bool) -> None:
    """Delete the remaining documents in the controller of xdist, and add the outcomes of the workers."""
    note_of_workers(config)
    settings = settings_of(config)
    ledgers = [each for each in ledgers_of(settings.run.output, run_id(config)) if not each.read().seen_to]
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
            note(config, await finished(ledger, routes, limiter, settings=settings, failed=failed))
        else:
            note(config, give_up(ledger))
    if client is not None:
        await client.aclose()
