"""The gate: a run that is worse than it may be is red, by a report of its own."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from pytest_ragcheck.plugin.configuration import is_question_of, settings_of
from pytest_ragcheck.plugin.keys import RUN, TOLERATED

if TYPE_CHECKING:
    from collections.abc import Generator
    from pathlib import Path

    from pytest_ragcheck.plugin.recorder import Recorder
    from pytest_ragcheck.plugin.run import Run
    from pytest_ragcheck.summary.baseline import Baseline

NODE_ID = "ragcheck::gate"

_ASK = {"rag_question", "rag_result", "rag_check"}
"""Fixtures of which a test that asks a question uses at least one."""


class Gate:
    """
    Judges the run as a whole, where the terminal is, once the last item has ended.

    The baseline is read before the first question is asked, so that a wrong one costs nothing and the run's own
    results cannot replace it first; a run without questions never looks at it.
    """

    def __init__(self, config: pytest.Config, recorder: Recorder) -> None:
        self._config = config
        self._recorder = recorder
        self._not_passed: set[str] = set()
        self._xfailed: dict[str, str] = {}
        self._tolerated: dict[str, str] = {}
        self.held: str | None = None
        """What is held against the run as a whole, in one line; empty: nothing; None: it was not looked at."""

    @property
    def _run(self) -> Run | None:
        return self._config.stash.get(RUN, None)

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection_finish(self, session: pytest.Session) -> None:
        if self._config.getoption("collectonly"):
            return
        if any(_ASK.intersection(getattr(item, "fixturenames", ())) for item in session.items):
            self._check()

    @pytest.hookimpl(optionalhook=True, tryfirst=True)
    def pytest_xdist_node_collection_finished(self, node: Any, ids: list[str]) -> None:  # noqa: ARG002 - pytest's names
        if any(is_question_of(self._config, node_id) for node_id in ids):
            self._check()

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if self._run is not None:
            # Under xdist the questions of users' own tests are known by their first report only.
            self._check()
        if not report.passed:
            self._not_passed.add(report.nodeid)
            if report.skipped and hasattr(report, "wasxfail"):
                known = self._tolerated if hasattr(report, TOLERATED) else self._xfailed
                known[report.nodeid] = report.wasxfail
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
                from pytest_ragcheck.plugin.gating import gate_name  # noqa: PLC0415 - only where questions ran

                run.comparison = [f"{gate_name(self._config)}: not compared: {run.unfinished}"]
        result = yield
        if self.held:
            self._forget_failure()
        return result

    def _judge(self, session: pytest.Session, run: Run) -> None:
        from pytest_ragcheck.plugin.gating import decided, older_lines  # noqa: PLC0415 - only where questions ran
        from pytest_ragcheck.report.gate import (  # noqa: PLC0415 - as above
            decision_headline,
            decision_lines,
            decision_text,
        )

        run.decision = decided(self._config, run, not_passed=self._not_passed)
        run.comparison = list(decision_lines(run.decision))
        if (baseline := self.baseline()) is not None:
            run.comparison += older_lines(baseline, run)
        self.held = decision_headline(run.decision)
        if run.decision.red:
            self._report(session, decision_text(run.decision))

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
                    longrepr=_longrepr(text, settings_of(self._config).baseline) if when == "call" else None,
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

    def baseline(self) -> Baseline | None:
        """What the run is compared with; None where it is compared with nothing."""
        if settings_of(self._config).baseline is None:
            return None
        from pytest_ragcheck.plugin.compared_with import baseline_of  # noqa: PLC0415 - only where questions are

        return baseline_of(self._config)

    def xfailed(self, run: Run) -> dict[tuple[str, str], str]:
        """By dataset name and id why pytest showed a question that did not pass as an expected failure."""
        words = {**self._xfailed, **self._tolerated}
        return {key: why or "it is marked so" for node_id, why in words.items() for key in run.keys_of(node_id)}

    def _check(self) -> None:
        """Reads the baseline, so that a wrong one is known before anything is asked."""
        if self.baseline() is None and settings_of(self._config).gate == "regression":
            raise pytest.UsageError(
                "ragcheck: --rag-gate=regression has nothing to compare with. Give --rag-baseline=PREDICTIONS, "
                "or --rag-gate=each."
            )


def _longrepr(text: str, path: Path | None) -> Any:
    from pytest_ragcheck.plugin.reprs import text_repr  # noqa: PLC0415 - only where the gate is red

    try:
        raise AssertionError(text)  # noqa: TRY301 - only a raised one can be shown as pytest shows failures
    except AssertionError:
        return text_repr(pytest.ExceptionInfo.from_current(), text, path=path, line=1)
