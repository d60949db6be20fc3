"""Collects the results of a run, in the process that shows and writes them."""

from __future__ import annotations

import os
from collections.abc import Generator, Iterable
from typing import TYPE_CHECKING

import pytest

from pytest_ragcheck.plugin.configuration import has_typed, is_dry_run, opening_files, settings_of
from pytest_ragcheck.plugin.question_files import is_question_of
from pytest_ragcheck.plugin.run_state import RUN, Run, run_of, turn_red
from pytest_ragcheck.plugin.workers import (
    BEGUN,
    COLLECTED,
    LINE,
    NO_DOCUMENTS,
    NOT_STARTED,
    REFUSAL,
    STOPPED,
    USELESS_JUDGE,
    has_payload,
    has_workers,
    mark_run,
    received,
)

if TYPE_CHECKING:
    from pytest_ragcheck.plugin.ending.run_reports import GateItem
    from pytest_ragcheck.report.files.json_writer import RowsAhead
    from pytest_ragcheck.verdict.record import Record

JUDGE_ID = "ragcheck::judge"
EQUAL_ERRORS = "errored alike"
"""pytest's category of the ERRORs that repeat the text of an earlier one."""

CRASHED = "???"
"""`when` of the report that xdist makes for an item whose worker died."""

_ENDED = (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED, pytest.ExitCode.NO_TESTS_COLLECTED)


class Recorder:
    """Collects the reports of a run, calls the gate, and writes the files; under xdist in the controller."""

    def __init__(self, config: pytest.Config, gate: GateItem | None) -> None:
        self._config = config
        self._gate = gate
        self._scores: dict[str, str] = {}
        """The scores that `-v` shows, by node id."""

        self._errors: dict[str, list[Record]] = {}
        """The records of the questions that ended with an ERROR, by its cause."""

        self._records: dict[str, list[Record]] = {}
        """The records of the running items, by node id."""

        self._failed: list[tuple[pytest.TestReport, list[Record]]] = []
        self._equal_errors: set[str] = set()
        """Node ids of the ERRORs with the cause of an earlier ERROR."""

        self._not_passed: set[str] = set()
        """Node ids of items that did not pass, and of files that were skipped."""

        self._rows: RowsAhead | None = None
        self._crashed: list[pytest.TestReport] = []
        self._uncollected: list[str] = []
        self._begun: list[str] = []
        self._lines: list[str] = []
        self._failures = 0
        self._settled = False
        self._gave_up = False
        """True if a worker of xdist ended the run, which xdist takes for an interruption."""

    @property
    def _run(self) -> Run | None:
        return self._config.stash.get(RUN, None)

    @pytest.hookimpl(tryfirst=True)
    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if (refusal := received(report, REFUSAL)) is not None:
            # Only the controller of xdist can end the run.
            raise pytest.UsageError(refusal)
        if (header := received(report, COLLECTED)) is not None:
            from pytest_ragcheck.plugin.collecting.run_header import write_header
            from pytest_ragcheck.plugin.collecting.selection import check_gate

            run_of(self._config)
            check_gate(self._config)
            write_header(self._config, header.splitlines())
        if (begun := received(report, BEGUN)) is not None:
            from pytest_ragcheck.plugin.guests.interruption import end_cleanly_on_sigterm

            end_cleanly_on_sigterm(self._config)
            self._begun.append(begun)
            self._merge_begun()
            if self._gate is not None:
                from pytest_ragcheck.plugin.collecting.run_baseline import check_baseline

                check_baseline(self._config)
        if (line := received(report, LINE)) is not None:
            from pytest_ragcheck.plugin.asking.session_loop import show_line

            show_line(self._config, line)
        if report.failed:
            self._uncollected.append(report.nodeid)
        elif report.skipped:
            self._not_passed.add(report.nodeid)

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self._take_records(report)
        if not report.passed:
            self._not_passed.add(report.nodeid)
        elif report.when == "call":
            self._not_passed.discard(report.nodeid)
        if self._gate is not None:
            self._gate.add_report(report)
        if self._run is not None and not _was_stopped(report):
            from pytest_ragcheck.plugin.ending.item_report import add_outcome

            add_outcome(self._run, report, self._config)
        elif report.when == CRASHED:
            # A worker can die before any worker has sent its questions.
            self._crashed.append(report)
        self._failures += report.failed
        if self._failures == self._config.getoption("maxfail", 0) and report.failed:
            self._stop_workers()
        if report.when == "teardown":
            self._scores.pop(report.nodeid, None)
            self._records.pop(report.nodeid, None)

    def _take_records(self, report: pytest.TestReport) -> None:
        if has_payload(report):
            from pytest_ragcheck.plugin.ending.item_report import records_of
            from pytest_ragcheck.report.terminal.run_lines import score_words
            from pytest_ragcheck.verdict.failure_text import cause_of

            records = records_of(report, self._config)
            self._encode(records)
            self._scores[report.nodeid] = ", ".join(filter(None, map(score_words, records)))
            self._records.setdefault(report.nodeid, []).extend(records)
            if report.when == "setup" and report.failed and records:
                equal = self._errors.setdefault(cause_of(records[0]), [])
                if equal:
                    self._equal_errors.add(report.nodeid)
                equal.append(records[0])
        if report.failed and report.nodeid in self._records:
            self._failed.append((report, self._records[report.nodeid]))

    def _encode(self, records: Iterable[Record]) -> None:
        # Encode the rows of the records now, while pytest waits for replies.
        if self._rows is None:
            from pytest_ragcheck.report.files.json_writer import RowsAhead

            settings = settings_of(self._config)
            self._rows = RowsAhead(settings.run.output, settings.redactor)
            self._config.add_cleanup(self._rows.close)
        for record in records:
            self._rows.add(run_of(self._config).results.records[record.question.key])

    @pytest.hookimpl(tryfirst=True)
    def pytest_report_teststatus(
        self, report: pytest.CollectReport | pytest.TestReport
    ) -> tuple[str, str, str | tuple[str, dict[str, bool]]] | None:
        if _was_stopped(report):
            return "", "", ""
        if report.failed and report.nodeid in self._equal_errors:
            # pytest shows the failures of its own categories only.
            return EQUAL_ERRORS, "E", ("ERROR", {"red": True})
        scores = self._scores.get(report.nodeid)
        if not scores or report.when != "call" or hasattr(report, "wasxfail"):
            return None
        if report.passed:
            return "passed", ".", (f"PASSED ({scores})", {"green": True})
        if report.failed:
            return "failed", "F", (f"FAILED ({scores})", {"red": True})
        return None

    @pytest.hookimpl(tryfirst=True)
    def pytest_keyboard_interrupt(self, excinfo: pytest.ExceptionInfo[BaseException]) -> None:
        self._stop_workers()
        self._gave_up = str(excinfo.value) in {USELESS_JUDGE, NO_DOCUMENTS, NOT_STARTED}
        if self._run is not None:
            from pytest_ragcheck.plugin.guests.interruption import ignore_second_ctrl_c, shorten

            ignore_second_ctrl_c(self._config)
            shorten(excinfo, self._config)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtestloop(self, session: pytest.Session) -> Generator[None, object, object]:
        try:
            result = yield
        except Exception:
            from pytest_ragcheck.plugin.guests.interruption import end_if_signalled

            end_if_signalled(self._config)
            raise
        finally:
            run = self._run
            if run is not None and run.judge_problem:
                from pytest_ragcheck.plugin.ending.run_reports import report_failure

                # No single question is at fault.
                report_failure(session, JUDGE_ID, run.judge_problem, when="setup")
        if run is not None and run.ran:
            # A failed item of the gate may reach --maxfail, and the run would look unfinished.
            self._settle(session, run)
            if self._gate is not None and not run.unfinished:
                # pytest sets its exit status after this hook.
                self._gate.decide(session, run, not_passed=self._not_passed)
            # Later, Ctrl-C would lose the results.
            self._delete_documents(session)
        return result

    @pytest.hookimpl(trylast=True)
    @opening_files()
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        self._merge_begun()
        run = self._run
        if run is None:
            ended = session.testscollected or session.exitstatus == pytest.ExitCode.NO_TESTS_COLLECTED
            searched = ended and (self._config.args_source.name != "ARGS" or self._searches_root())
            required = searched and self._config.getoption("rag_require_endpoint", None)
            if searched and self._gate:
                self._lines = ["gate: not compared: no question was collected"]
                required = settings_of(self._config).run.require_endpoint
            if required:
                red = "--rag-require-endpoint turns such a run red"
                self._lines += [f"no question was collected; {red}. Check testpaths and the names of the files."]
                turn_red(session)
            if session.exitstatus and (self._lines or (self._uncollected and has_typed(self._config))):
                mark_run(self._config)
            return
        self._delete_documents(session)
        self._settle(session, run)
        if self._gave_up:
            # Without xdist the item is an ERROR, which has this exit status.
            session.exitstatus = pytest.ExitCode.TESTS_FAILED
        if self._gate is not None:
            self._gate.finish(run)
        if run.judge_problem:
            from pytest_ragcheck.plugin.ending.run_reports import forget_failure

            forget_failure(self._config, JUDGE_ID)
        if is_dry_run(self._config):
            from pytest_ragcheck.plugin.collecting.cost_preview import dry_run_lines

            self._lines = dry_run_lines(self._config, run)
        else:
            from pytest_ragcheck.plugin.ending.session_end import finish

            rows = self._rows
            encoded = (lambda _: None) if rows is None else rows.row_of
            self._lines = finish(session, run, not_passed=self._not_passed, encoded=encoded)
        # JUnit and the other reports already have the whole texts.
        if shown := [(report, records) for report, records in self._failed if report.nodeid not in self._equal_errors]:
            from pytest_ragcheck.plugin.ending.item_report import shorten_failures

            self._lines += shorten_failures(self._config, shown)

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        if self._lines:
            terminalreporter.write_sep("=", "ragcheck")
            if self._equal_errors:
                from pytest_ragcheck.report.terminal.run_lines import equal_error_lines

                self._lines[:0] = equal_error_lines(self._errors.values())
            for line in self._lines:
                terminalreporter.write_line(line, yellow=" asserted on NO question, " in line)

    def _searches_root(self) -> bool:
        start, root = self._config.invocation_params.dir, str(self._config.rootpath)
        return any(os.path.abspath(start / argument) == root for argument in self._config.args)  # noqa: PTH100 - links

    def _merge_begun(self) -> None:
        while self._begun:
            run = run_of(self._config)
            run.merge(self._begun[0])
            run.begun = True
            # Last: Ctrl-C can interrupt the merge, which the end of the session then repeats.
            self._begun.pop(0)

    def _delete_documents(self, session: pytest.Session) -> None:
        if has_workers(self._config):
            from pytest_ragcheck.plugin.asking.document_step import delete_for_all

            delete_for_all(self._config, failed=bool(session.testsfailed))

    def _settle(self, session: pytest.Session, run: Run) -> None:
        # Record once how the run ended, before anything else changes the session.
        if self._settled:
            return
        self._settled = True
        if self._crashed:
            from pytest_ragcheck.plugin.ending.item_report import add_outcome

            for report in self._crashed:
                add_outcome(run, report, self._config)
        run.unfinished = self._why_unfinished(session)
        # Every question of a file is counted, but only those calls of rag_check that were made.
        single = any("::" in argument and not is_question_of(self._config, argument) for argument in self._config.args)
        run.cut_short = run.stopped or run.cut_short or ("the run was given single tests" if single else "")

    def _why_unfinished(self, session: pytest.Session) -> str:
        if self._uncollected:
            return f"{', '.join(self._uncollected)} could not be collected"
        if session.shouldstop or session.shouldfail or session.exitstatus not in _ENDED:
            return "the run was stopped before its end"
        return ""

    def _stop_workers(self) -> None:
        # Stop the workers of xdist, which would otherwise finish questions that no item will use.
        if self._run is not None and has_workers(self._config):
            from pytest_ragcheck.engine.store.run_folder import stop
            from pytest_ragcheck.plugin.workers import run_folder

            stop(run_folder(self._config), STOPPED)


def _was_stopped(report: pytest.CollectReport | pytest.TestReport) -> bool:
    return report.skipped and STOPPED in str(report.longrepr)
