"""The store of a pytest run: where it is, and what is said when there is none."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from pytest_ragcheck.engine.fallback import FallbackStore
from pytest_ragcheck.engine.fingerprint import fingerprint, question_digest
from pytest_ragcheck.engine.run_folder import check_same, last_run, open_store
from pytest_ragcheck.engine.store_file import finished_keys
from pytest_ragcheck.errors import StoreError, UsageError
from pytest_ragcheck.plugin.configuration import settings_of
from pytest_ragcheck.plugin.keys import RUN
from pytest_ragcheck.plugin.place import home_of
from pytest_ragcheck.plugin.processes import runs_everything
from pytest_ragcheck.plugin.run import run_of

if TYPE_CHECKING:
    from pytest_ragcheck.plugin.processes import Part

_WITHOUT = "Nothing is shared between processes, and --rag-resume cannot go on with this run."


def opened_store(config: pytest.Config, part: Part) -> FallbackStore | None:
    """
    The store of the run; None where it has none, which the run's notes then tell.

    Raises:
        pytest.fail.Exception: The run was to go on with one that it cannot go on with.
    """
    if part.runs_everything or not part.shares_disk:
        return None
    settings, run = settings_of(config), run_of(config)
    try:
        opened = open_store(
            home_of(settings),
            part.run_id,
            fingerprint=fingerprint(settings),
            redactor=settings.redactor,
            resume=settings.resume,
        )
    except StoreError as error:
        run.tell_user(f"no store: {error}. {_WITHOUT}")
        return None
    except UsageError as error:
        # The controller of xdist says so before, unless the questions are all of users' own tests.
        pytest.fail(f"ragcheck: {error}", pytrace=False)
    if opened.damaged:
        run.tell_user(f"the store of the last run is damaged: {opened.damaged} What it had is asked again.")
    return FallbackStore(
        opened.store,
        alone=not part.is_worker,
        tell=lambda error: run.tell_user(f"the store is out of use: {error}. {_WITHOUT}"),
    )


def resume_lines(config: pytest.Config) -> list[str]:
    """
    Before the first question: what the run goes on with; nothing where it was not told to.

    Raises:
        pytest.UsageError: The last run was another one, or written by another version of this package.
    """
    settings = settings_of(config)
    if not settings.resume:
        return []
    if runs_everything(config) and config.pluginmanager.has_plugin("dsession"):
        return ["ragcheck: resumed nothing: under --dist each every worker asks every question, and keeps no store"]
    last = last_run(home_of(settings))
    if last is None:
        return ["ragcheck: resumed nothing: there is no earlier run that is over, so every question is asked"]
    try:
        check_same(last, fingerprint(settings))
    except UsageError as error:
        raise pytest.UsageError(f"ragcheck: {error}") from None
    try:
        finished = finished_keys(last.folder)
    except StoreError:
        return []  # it is told when the run opens it
    run = config.stash.get(RUN, None)
    if run is None or not run.selected:
        return [f"ragcheck: resumed {len(finished)} questions of the run of {last.began}"]
    digests = {key.partition(".")[0] for key in finished}
    count = sum(question_digest(question) in digests for question in run.selected.values())
    return [f"ragcheck: resumed {count} of {len(run.selected)} questions from the run of {last.began}"]
