"""Opens the store and the limits of the run, which its processes share."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from typing import TYPE_CHECKING

import pytest

from pytest_ragcheck.config.readers import HTML_ENDINGS
from pytest_ragcheck.engine.budget import Budget
from pytest_ragcheck.engine.evaluator import RunLimits
from pytest_ragcheck.engine.fingerprint import fingerprint
from pytest_ragcheck.engine.limits.slots import SharedTable, Slots
from pytest_ragcheck.engine.store.last_run import LIMITS, open_store
from pytest_ragcheck.engine.store.run_folder import make_home
from pytest_ragcheck.errors import StoreError, UsageError
from pytest_ragcheck.plugin.configuration import settings_of
from pytest_ragcheck.plugin.run_state import run_of
from pytest_ragcheck.plugin.workers import home_of, run_folder, worker_info

if TYPE_CHECKING:
    from pytest_ragcheck.engine.store.last_run import RunStore

_WITHOUT = "Nothing is shared between processes, and --rag-resume cannot resume this run."


def opened_store(config: pytest.Config) -> RunStore | None:
    """
    The store of the run; None without one. An error of the store becomes a note of the run.

    Fail the test if the run cannot resume the last one.
    """
    worker = worker_info(config)
    if worker.runs_everything or not worker.shares_disk:
        return None
    settings, run = settings_of(config), run_of(config)
    try:
        store = open_store(
            home_of(settings),
            worker.run_id,
            fingerprint=fingerprint(settings),
            redactor=settings.redactor,
            resume=settings.run.resume,
            alone=not worker.is_worker,
            on_failure=lambda error: run.queue_note(f"the store cannot be used: {error}. {_WITHOUT}"),
        )
    except StoreError as error:
        run.queue_note(f"no store: {error}. {_WITHOUT}")
        return None
    except UsageError as error:
        # The controller of xdist reports it earlier, unless only users' own tests ask questions.
        pytest.fail(f"ragcheck: {error}", pytrace=False)
    for path in settings.run.reports:
        if path.suffix.lower() in HTML_ENDINGS:
            # A run that is killed must not leave the page of an earlier one.
            with suppress(OSError):
                path.unlink()
    if store.file.damaged:
        run.queue_note(f"the store of the last run is damaged: {store.file.damaged} Its questions are asked again.")
    return store


_OTHER_FILES = 40
"""Open files of a process other than its connections: pytest, the store, the event loop."""


_LIMITS: pytest.StashKey[RunLimits] = pytest.StashKey()


def limits_of(config: pytest.Config) -> RunLimits:
    """The limits; an override of `rag_settings` does not change them."""
    known = config.stash.get(_LIMITS, None)
    if known is None or known.pid != os.getpid():  # a forked child has its own slots
        settings = settings_of(config)
        config.stash[_LIMITS] = RunLimits.of(
            settings,
            asking=_slots(config, "asking", settings.endpoint.concurrency),
            judging=_slots(config, "judging", settings.judge_concurrency),
        )
    return config.stash[_LIMITS]


def forget_limits(config: pytest.Config) -> None:
    """Drop the limits, so that new ones are made, because an abandoned event loop keeps its slots."""
    if _LIMITS in config.stash:
        del config.stash[_LIMITS]


_BUDGET: pytest.StashKey[Budget] = pytest.StashKey()
_TABLE = "budget"


def new_budget(config: pytest.Config) -> Budget:
    settings, worker = settings_of(config), worker_info(config)
    limit_usd = settings.run.max_cost_usd
    table = _shared_table(config, _TABLE) if worker.is_worker else None
    if limit_usd is not None and table is None:
        limit_usd /= worker.share
    config.stash[_BUDGET] = Budget(limit_usd, settings.judge.own_prices, table=table)
    return config.stash[_BUDGET]


def money_spent(config: pytest.Config) -> str:
    """The money that the run has spent, in words; empty if none is known."""
    budget = config.stash.get(_BUDGET, None)
    if budget is None and (run_folder(config) / LIMITS / _TABLE).exists():
        budget = Budget(None, {}, table=_shared_table(config, _TABLE))
    return budget.words if budget else ""


def _slots(config: pytest.Config, name: str, number: int) -> Slots:
    worker = worker_info(config)
    if (most := _most_connections()) < number:
        run_of(config).queue_note(f"at most {most} of {number} requests run at once, by the limit of open files")
        number = most
    if not worker.is_worker:
        return Slots(number)
    table = _shared_table(config, name)
    if table is None:
        # A process that cannot share the limit gets an equal part of it.
        return Slots(max(1, number // worker.share))
    return Slots(number, processes=worker.share, table=table)


def _most_connections() -> int:
    try:
        import resource
    except ImportError:  # Windows has no such limit
        return sys.maxsize
    allowed, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    if allowed == resource.RLIM_INFINITY:
        return sys.maxsize
    return max(1, (allowed - _OTHER_FILES) // 2)  # one half each for the endpoint and the judge


def _shared_table(config: pytest.Config, name: str) -> SharedTable | None:
    # A table that all workers share; None if they share no disk, or the folder cannot be written.
    if not worker_info(config).shares_disk:
        return None
    try:
        make_home(home_of(settings_of(config)))
        return SharedTable(run_folder(config) / LIMITS / name)
    except OSError:
        return None
