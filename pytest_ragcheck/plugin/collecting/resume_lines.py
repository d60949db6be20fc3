"""Makes the header lines of a run that resumes the last one."""

from __future__ import annotations

import pytest

from pytest_ragcheck.engine.fingerprint import fingerprint, question_digest
from pytest_ragcheck.engine.store.last_run import check_same, last_run
from pytest_ragcheck.engine.store.store_file import finished_keys
from pytest_ragcheck.errors import StoreError, UsageError
from pytest_ragcheck.plugin.configuration import settings_of
from pytest_ragcheck.plugin.run_state import RUN
from pytest_ragcheck.plugin.workers.transport import has_workers
from pytest_ragcheck.plugin.workers.worker_info import home_of, runs_everything
from pytest_ragcheck.report.counted import counted


def resume_lines(config: pytest.Config) -> list[str]:
    """
    The number of questions that a run with `--rag-resume` takes from the last one.

    Raises a `pytest.UsageError` if that run had other settings, or another version of this package wrote it.
    """
    settings = settings_of(config)
    if runs_everything(config) and has_workers(config):
        return ["ragcheck: resumed nothing: under --dist each every worker asks every question, and keeps no store"]
    last = last_run(home_of(settings))
    if last is None:
        return ["ragcheck: resumed nothing: there is no finished earlier run, so every question is asked"]
    try:
        check_same(last, fingerprint(settings))
    except UsageError as error:
        raise pytest.UsageError(f"ragcheck: {error}") from None
    try:
        finished = finished_keys(last.folder)
    except StoreError:
        return []  # reported when the run opens the store
    run = config.stash.get(RUN, None)
    if run is None or not (asked := run.questions.asked):
        return [f"ragcheck: resumed {counted(len(finished), 'question')} of the run of {last.began}"]
    digests = {key.partition(".")[0] for key in finished}
    count = sum(question_digest(question) in digests for question in asked.values())
    return [f"ragcheck: resumed {count} of {len(asked)} questions from the run of {last.began}"]
