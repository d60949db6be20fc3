"""The end of a run: count, write, and say where."""

from __future__ import annotations

import os
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from pytest_ragcheck.errors import ResultsError
from pytest_ragcheck.plugin.configuration import settings_of
from pytest_ragcheck.plugin.keys import BASELINE, OVER_BUDGET, USELESS_JUDGE
from pytest_ragcheck.plugin.outcomes import outcomes_of
from pytest_ragcheck.plugin.tolerated import terms_of
from pytest_ragcheck.report.annotations import annotation_lines
from pytest_ragcheck.report.files import write_results, write_shard
from pytest_ragcheck.report.flaky import flaky_lines
from pytest_ragcheck.report.terminal import file_lines, summary_lines
from pytest_ragcheck.summary.aggregate import aggregate
from pytest_ragcheck.summary.agreement import read_agreements
from pytest_ragcheck.summary.flaky import flaky_in_run
from pytest_ragcheck.summary.gate import tolerated

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pytest_ragcheck.plugin.run import Run
    from pytest_ragcheck.settings import Settings
    from pytest_ragcheck.summary.outcomes import Outcomes


def finish(session: pytest.Session, run: Run) -> list[str]:
    """
    Writes the result files of a run in which questions ran, and returns the lines to show.

    Where they cannot be written, a run that would be green is not: whoever reads the files next would read old ones.
    Nor is one that leaves documents behind: nobody reads the warnings of a green run, and the next run would be asked
    over them.
    """
    config = session.config
    settings = settings_of(config)
    workers: Any = config.pluginmanager.get_plugin("dsession")
    if workers is not None and workers.shouldstop == USELESS_JUDGE:
        # To xdist it is an interruption; without it the run ends as one with an ERROR does.
        session.exitstatus = pytest.ExitCode.TESTS_FAILED
    # A shard that no question fell to says so too: whoever merges would miss it.
    if not run.ran and (settings.shard is None or config.getoption("collectonly")):
        return []
    clean, baseline = settings.redactor.text, config.stash.get(BASELINE, None)
    outcomes = outcomes_of(run, settings)
    outcomes = replace(outcomes, tolerated=tolerated(outcomes, terms_of(config), baseline, clean=clean))
    summary = aggregate(
        outcomes,
        measured=read_agreements(settings.calibrations),
        flaky=flaky_in_run(outcomes.measured, baseline, clean=clean),
        decision=run.decision,
    )
    run.note_all(run.untold)
    run.comparison += flaky_lines(summary.flaky)
    lines = [*summary_lines(outcomes, summary), *_resumed(run, outcomes), *run.notes, *run.comparison]
    lines += annotation_lines(outcomes, environment=os.environ, decision=run.decision)
    lines += _red_beside_verdicts(session, run, settings)
    try:
        written = write_results(outcomes, summary, settings.output, settings.redactor)
        if settings.shard is not None:
            write_shard(outcomes, settings.output, settings.redactor)
    except ResultsError as error:
        session.exitstatus = session.exitstatus or pytest.ExitCode.TESTS_FAILED
        return [*lines, f"results: NOT WRITTEN: {error}"]
    lines += file_lines(written, config.invocation_params.dir)
    if settings.report or settings.markdown:
        from pytest_ragcheck.plugin.reports import write_reports  # noqa: PLC0415 - only for whoever wants one

        lines += write_reports(session, run, outcomes, summary)
    return lines


def _red_beside_verdicts(session: pytest.Session, run: Run, settings: Settings) -> Iterator[str]:
    """What makes the run red whatever its verdicts are, which it then is; a line for each."""
    if run.over_budget:
        session.exitstatus = session.exitstatus or pytest.ExitCode.TESTS_FAILED
        yield f"cost: {OVER_BUDGET} of ${settings.max_cost_usd:g} was reached: {run.over_budget} not run"
    if run.documents is not None and run.documents.left and not session.exitstatus:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED
        yield "documents: the run is red for what is left; the verdicts are not touched by it"


def _resumed(run: Run, outcomes: Outcomes) -> Iterator[str]:
    if run.resumed:
        yield f"resumed: {len(run.resumed)} of {len(outcomes.records)} questions were asked by the run before"
