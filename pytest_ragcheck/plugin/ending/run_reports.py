"""Reports on the run as a whole, in addition to its items: as a failed item if the gate is red."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from pathlib import Path
from typing import Any, Literal

import pytest

from pytest_ragcheck.plugin.configuration import settings_of
from pytest_ragcheck.plugin.run_state import GATE_ID, Run
from pytest_ragcheck.plugin.workers import TOLERATED


def report_failure(
    session: pytest.Session, node_id: str, text: str, *, when: Literal["setup", "call"], path: Path | None = None
) -> None:
    """
    Report a failed item that was not collected, so that the exit status, the terminal and the JUnit file agree.

    *when* is `setup` for an ERROR, and `call` for a FAIL. *path* is the file that the text is about.
    """
    session.testscollected += 1
    location = ("ragcheck", None, node_id)
    hook = session.config.hook
    hook.pytest_runtest_logstart(nodeid=node_id, location=location)
    phases: tuple[Literal["setup", "call", "teardown"], ...] = ("setup", "call", "teardown")
    for phase in phases if when == "call" else ("setup", "teardown"):
        hook.pytest_runtest_logreport(
            report=pytest.TestReport(
                nodeid=node_id,
                location=location,
                keywords={node_id: 1},
                outcome="failed" if phase == when else "passed",
                longrepr=_longrepr(text, path) if phase == when else None,
                when=phase,
            )
        )
    hook.pytest_runtest_logfinish(nodeid=node_id, location=location)


def forget_failure(config: pytest.Config, node_id: str, *, at_fault: Iterable[str] = ()) -> None:
    """Replace the item in `--last-failed`, which could never run it again, by the items that made it fail."""
    cache = getattr(config, "cache", None)  # there is none under -p no:cacheprovider
    if cache is not None:
        failed = cache.get("cache/lastfailed", {})
        if failed.pop(node_id, None) is not None:
            cache.set("cache/lastfailed", {**failed, **dict.fromkeys(at_fault, True)})


def _longrepr(text: str, path: Path | None) -> Any:
    from pytest_ragcheck.plugin.guests.traceback_texts import text_repr

    try:
        # At the end of a stopped session another exception is being handled, and must not be shown.
        raise AssertionError(text) from None  # noqa: TRY301 - pytest formats raised exceptions only
    except AssertionError:
        return text_repr(pytest.ExceptionInfo.from_current(), text, path=path, line=1)


class GateItem:
    """Decides whether the run as a whole is red; the `Recorder` calls the methods in the order of this class."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self._tolerated: set[str] = set()

    def add_report(self, report: pytest.TestReport) -> None:
        if hasattr(report, TOLERATED):
            self._tolerated.add(report.nodeid)

    def decide(self, session: pytest.Session, run: Run, *, not_passed: Collection[str]) -> None:
        """Decide after the last item, and report a failed one if the run is red; *not_passed* as for `reach_of`."""
        from pytest_ragcheck.plugin.ending.gated_outcomes import decided
        from pytest_ragcheck.report.terminal.gate_lines import decision_headline, decision_lines, decision_text

        decision = decided(self._config, run, not_passed=not_passed)
        run.gate.decision = decision
        run.gate.lines = list(decision_lines(decision))
        run.gate.headline = decision_headline(decision)
        if decision.red:
            place = settings_of(self._config).gate.baseline
            report_failure(session, GATE_ID, decision_text(decision), when="call", path=place.path if place else None)

    def finish(self, run: Run) -> None:
        """Complete the outcome of the run, whether or not the gate has decided."""
        if run.ran and run.unfinished:
            from pytest_ragcheck.plugin.ending.gated_outcomes import gate_name

            run.gate.lines = [f"{gate_name(self._config)}: not compared: {run.unfinished}"]
        if run.gate.headline:
            red = run.gate.decision.red_questions if run.gate.decision is not None else frozenset()
            at_fault = [node_id for node_id in self._tolerated if not red.isdisjoint(run.results.keys_of(node_id))]
            forget_failure(self._config, GATE_ID, at_fault=at_fault)
