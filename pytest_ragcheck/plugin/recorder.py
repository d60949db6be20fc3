"""What the process that shows and writes does with the reports, its own or those of xdist's workers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from pytest_ragcheck.plugin.configuration import is_dry_run, is_question_of, settings_of
from pytest_ragcheck.plugin.keys import BEGUN, HEADED, OVER_BUDGET, REFUSAL, RUN, RUN_ID, STOPPED, TOLERATED

if TYPE_CHECKING:
    from pytest_ragcheck.plugin.run import Run

CRASHED = "???"
"""`when` of the report that xdist makes for an item whose worker died."""


_ENDED = (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED, pytest.ExitCode.NO_TESTS_COLLECTED)


class Recorder:
    """Hears the reports, and at the end has the files written and the summary shown."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self._words: dict[str, str] = {}
        self._crashes: list[tuple[str, str]] = []
        self._uncollected: list[str] = []
        self._begun: list[str] = []
        self._lines: list[str] = []
        self._failures = 0
        self._errors = 0
        self._stopped = False
        self._settled = False

    @property
    def _run(self) -> Run | None:
        return self._config.stash.get(RUN, None)

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if hasattr(report, "ragcheck"):
            from pytest_ragcheck.plugin.crossing import take_off  # noqa: PLC0415 - only where there are questions
            from pytest_ragcheck.report.terminal import score_words  # noqa: PLC0415 - as above

            records = take_off(report, self._config)
            self._words[report.nodeid] = ", ".join(filter(None, map(score_words, records)))
            self._errors += sum(record.error_kind != "" for record in records)
            self._stop_over_errors()
        outcome: str = report.outcome
        if self._run is not None and not _was_stopped(report):
            from pytest_ragcheck.plugin.processes import place_of  # noqa: PLC0415 - only where there are questions

            place = place_of(report, self._config)
            if outcome == "rerun":
                self._run.forget(place)
            else:
                self._run.note(
                    place,
                    skipped=_skipped(report),
                    xfailed=_xfailed(report),
                    failure=_failure(report),
                    over_budget=_skipped(report) and OVER_BUDGET in str(report.longrepr),
                )
        elif report.when == CRASHED:
            # A worker may die before any told what it collected.
            self._crashes.append((report.nodeid, _failure(report)))
        self._failures += report.failed
        if self._failures == self._config.getoption("maxfail", 0) and report.failed:
            self._stop_workers()
        if report.when == "teardown":
            self._words.pop(report.nodeid, None)

    def _stop_over_errors(self) -> None:
        most = settings_of(self._config).max_errors
        if most is None or self._errors <= most or self._stopped:
            return
        self._stopped = True
        manager = self._config.pluginmanager
        # Under xdist it is the distribution that stops.
        stops: Any = manager.get_plugin("dsession") or manager.get_plugin("session")
        stops.shouldstop = text = f"ragcheck: {self._errors} ERRORs are more than rag_max_errors = {most}"
        if self._run is not None:
            # xdist may come to say that its workers were interrupted, and no more why.
            self._run.note_all([f"stopped: {text.removeprefix('ragcheck: ')}"])
        self._stop_workers()

    @pytest.hookimpl(tryfirst=True)
    def pytest_keyboard_interrupt(self, excinfo: pytest.ExceptionInfo[BaseException]) -> None:
        self._stop_workers()
        if self._run is not None:
            from pytest_ragcheck.plugin.interruption import shorten  # noqa: PLC0415 - only where there are questions

            shorten(excinfo, self._config)

    def _stop_workers(self) -> None:
        """Tells the workers of xdist, which would else finish for each other what nobody will run any more."""
        if RUN_ID in self._config.stash and (self._run is not None or HEADED in self._config.stash):
            from pytest_ragcheck.plugin.place import stop_workers  # noqa: PLC0415 - only where there are questions

            stop_workers(self._config)

    @pytest.hookimpl(tryfirst=True)
    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if (refusal := getattr(report, REFUSAL, None)) is not None:
            # A worker of xdist cannot end the run itself.
            raise pytest.UsageError(refusal)
        if hasattr(report, BEGUN):
            self._begun.append(report.__dict__.pop(BEGUN))
            report.outcome, report.longrepr = "passed", None  # no other plugin is to meet it
            self._hear_begun()
        if report.failed:
            self._uncollected.append(report.nodeid)

    def _hear_begun(self) -> None:
        while self._begun:
            from pytest_ragcheck.plugin.crossing import hear_begun  # noqa: PLC0415 - only where there are questions

            hear_begun(self._begun[0], self._config)
            # Not before: Ctrl-C may come into it, and then it is heard at the end.
            self._begun.pop(0)

    @pytest.hookimpl(tryfirst=True)
    def pytest_report_teststatus(
        self, report: pytest.CollectReport | pytest.TestReport
    ) -> tuple[str, str, str | tuple[str, dict[str, bool]]] | None:
        if _was_stopped(report):
            return "", "", ""
        words = self._words.get(report.nodeid)
        if not words or report.when != "call" or hasattr(report, "wasxfail"):
            return None
        if report.passed:
            return "passed", ".", (f"PASSED ({words})", {"green": True})
        if report.failed:
            return "failed", "F", (f"FAILED ({words})", {"red": True})
        return None

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        self._hear_begun()
        if HEADED in self._config.stash and self._config.pluginmanager.has_plugin("dsession"):
            from pytest_ragcheck.plugin.deletion import delete_for_all  # noqa: PLC0415 - only where questions are

            delete_for_all(self._config, failed=bool(session.testsfailed))
        if self._run is not None:
            from pytest_ragcheck.plugin.ending import finish  # noqa: PLC0415 - only where there are questions

            self.settle(session, self._run)
            self._lines = finish(session, self._run)
            if is_dry_run(self._config):
                from pytest_ragcheck.plugin.spending import dry_run_lines  # noqa: PLC0415 - only for a dry run

                self._lines = dry_run_lines(self._config, self._run)

    def settle(self, session: pytest.Session, run: Run) -> None:
        """Notes, when the last item has ended, what that says of the run; what happens later is none of its."""
        if self._settled:
            return
        self._settled = True
        for node_id, failure in self._crashes:
            run.note(node_id, failure=failure)
        run.unfinished = self._why_unfinished(session)
        run.cut_short = run.cut_short or run.unfinished or self._why_cut_short()

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        if self._lines:
            terminalreporter.section("ragcheck")
            for line in self._lines:
                terminalreporter.write_line(line)

    def _why_unfinished(self, session: pytest.Session) -> str:
        if self._uncollected:
            return f"{', '.join(self._uncollected)} could not be collected"
        if session.shouldstop or session.shouldfail or session.exitstatus not in _ENDED:
            return "the run was stopped before its end"
        return ""

    def _why_cut_short(self) -> str:
        # Of question files every question is counted; of tests that use rag_check only the calls that were made.
        if any("::" in argument and not is_question_of(self._config, argument) for argument in self._config.args):
            return "the run was given single tests"
        return ""


def _skipped(report: pytest.TestReport) -> bool:
    return bool(report.skipped) and not hasattr(report, "wasxfail")


def _was_stopped(report: pytest.CollectReport | pytest.TestReport) -> bool:
    """Whether the report is of an item that ended because the run was stopped: nothing became of it."""
    return report.skipped and STOPPED in str(report.longrepr)


def _xfailed(report: pytest.TestReport) -> bool:
    """Whether pytest was told to expect it; what the gate lets pass is another matter."""
    return bool(report.skipped) and hasattr(report, "wasxfail") and not hasattr(report, TOLERATED)


def _failure(report: pytest.TestReport) -> str:
    """The first line of what a failed report says; empty for any other."""
    if not report.failed:
        return ""
    crash = getattr(report.longrepr, "reprcrash", None)
    text = str(getattr(crash, "message", None) or report.longrepr).strip()
    return text.partition("\n")[0] or "failed without a text"
