"""The gate on regressions: a run that is worse than its baseline is red, by a report of its own."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from pytest_ragcheck.plugin.configuration import given_options, is_question_of, settings_of
from pytest_ragcheck.plugin.keys import RUN

if TYPE_CHECKING:
    from collections.abc import Generator
    from pathlib import Path

    from pytest_ragcheck.plugin.recorder import Recorder
    from pytest_ragcheck.plugin.run import Run
    from pytest_ragcheck.summary.baseline import Baseline
    from pytest_ragcheck.summary.comparison import Comparison

NODE_ID = "ragcheck::gate"

_ASK = {"rag_question", "rag_result", "rag_check"}
"""Fixtures of which a test that asks a question uses at least one."""


class Gate:
    """
    Compares the run with its baseline, where the terminal is, once the last item has ended.

    The baseline is read before the first question is asked, so that a wrong one costs nothing and the run's own
    results cannot replace it first; a run without questions never looks at it.
    """

    def __init__(self, config: pytest.Config, recorder: Recorder) -> None:
        self._config = config
        self._recorder = recorder
        self._read: Baseline | None = None
        self._not_passed: set[str] = set()
        self._xfailed: set[str] = set()
        self._red = False

    @property
    def _run(self) -> Run | None:
        return self._config.stash.get(RUN, None)

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection_finish(self, session: pytest.Session) -> None:
        if self._config.getoption("collectonly"):
            return
        if any(_ASK.intersection(getattr(item, "fixturenames", ())) for item in session.items):
            self.baseline()

    @pytest.hookimpl(optionalhook=True, tryfirst=True)
    def pytest_xdist_node_collection_finished(self, node: Any, ids: list[str]) -> None:  # noqa: ARG002 - pytest's names
        if any(is_question_of(self._config, node_id) for node_id in ids):
            self.baseline()

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if self._run is not None:
            # Under xdist the questions of users' own tests are known by their first report only.
            self.baseline()
        if not report.passed:
            self._not_passed.add(report.nodeid)
            if report.skipped and hasattr(report, "wasxfail"):
                self._xfailed.add(report.nodeid)
        elif report.when == "call":
            self._not_passed.discard(report.nodeid)

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.skipped:
            self._not_passed.add(report.nodeid)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtestloop(self, session: pytest.Session) -> Generator[None, object, object]:
        result = yield
        run = self._run
        if run is not None and run.ran:
            # First: under --maxfail the report of the gate would look like the end of an unfinished run.
            self._recorder.settle(session, run)
            if not run.unfinished:
                self._judge(session, run)
        return result

    @pytest.hookimpl(wrapper=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> Generator[None, object, object]:
        run = self._run
        if run is not None and run.ran:
            self._recorder.settle(session, run)
            if run.unfinished:
                run.comparison = [f"baseline {self._name()}: not compared: {run.unfinished}"]
        result = yield
        if self._red:
            self._forget_failure()
        return result

    def _judge(self, session: pytest.Session, run: Run) -> None:
        from pytest_ragcheck.report.comparison import comparison_lines, regressions_text  # noqa: PLC0415 - as below

        comparison = self._compare(run)
        run.comparison = list(comparison_lines(comparison))
        if comparison.worse:
            self._red = True
            self._report(session, regressions_text(comparison))

    def _compare(self, run: Run) -> Comparison:
        from pytest_ragcheck.plugin.reach import Reach  # noqa: PLC0415 - only where questions ran
        from pytest_ragcheck.summary.comparison import compare  # noqa: PLC0415 - as above

        settings = settings_of(self._config)
        outcomes = run.outcomes(settings)
        reach = Reach(self._config, run, complete=outcomes.complete, not_passed=self._not_passed)
        return compare(
            self.baseline(),
            outcomes,
            clean=settings.redactor.text,
            would_meet=reach.would_meet,
            expected_to_fail={key for node_id in self._xfailed for key in run.keys_of(node_id)},
        )

    def _report(self, session: pytest.Session, text: str) -> None:
        """Fails an item that is none, so that all who hear reports agree: exit status, terminal, JUnit."""
        session.testscollected += 1
        location = ("ragcheck", None, NODE_ID)
        hook = self._config.hook
        hook.pytest_runtest_logstart(nodeid=NODE_ID, location=location)
        for when in ("setup", "call", "teardown"):
            hook.pytest_runtest_logreport(
                report=pytest.TestReport(
                    nodeid=NODE_ID,
                    location=location,
                    keywords={NODE_ID: 1},
                    outcome="failed" if when == "call" else "passed",
                    longrepr=_longrepr(text, self._path()) if when == "call" else None,
                    when=when,
                )
            )
        hook.pytest_runtest_logfinish(nodeid=NODE_ID, location=location)

    def _forget_failure(self) -> None:
        """Takes the gate out of what --last-failed runs again: nothing could, and so it would stay there for good."""
        cache = getattr(self._config, "cache", None)  # there is none under -p no:cacheprovider
        if cache is not None:
            failed = cache.get("cache/lastfailed", {})
            failed.pop(NODE_ID, None)
            cache.set("cache/lastfailed", failed)

    def baseline(self) -> Baseline:
        """What the run is compared with; it is read once."""
        if self._read is None:
            from pytest_ragcheck.errors import UsageError  # noqa: PLC0415 - only where questions are
            from pytest_ragcheck.summary.baseline import read_baseline  # noqa: PLC0415 - as above

            try:
                self._read = read_baseline(self._path(), name=self._name())
            except UsageError as error:
                origin = given_options(self._config)["rag_baseline"].origin
                raise pytest.UsageError(f"ragcheck: {origin}: {error}") from None
        return self._read

    def _path(self) -> Path:
        path = settings_of(self._config).baseline
        assert path is not None, "the gate is there only where a baseline is given"  # noqa: S101 - for type checkers
        return path

    def _name(self) -> str:
        path, root = self._path(), self._config.rootpath
        return path.relative_to(root).as_posix() if path.is_relative_to(root) else str(path)


def _longrepr(text: str, path: Path) -> Any:
    from pytest_ragcheck.plugin.reprs import text_repr  # noqa: PLC0415 - only where the gate is red

    try:
        raise AssertionError(text)  # noqa: TRY301 - only a raised one can be shown as pytest shows failures
    except AssertionError:
        return text_repr(pytest.ExceptionInfo.from_current(), text, path=path, line=1)
