"""Adds a failed item if the run as a whole is red."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING

from pytest_ragcheck.plugin.collecting.gate_baseline import baseline_of
from pytest_ragcheck.plugin.configuration import settings_of
from pytest_ragcheck.plugin.ending.run_reports import forget_failure, report_failure
from pytest_ragcheck.plugin.run_state import GATE_ID, Run
from pytest_ragcheck.plugin.workers.transport import TOLERATED

if TYPE_CHECKING:
    import pytest


class GateItem:
    """
    Decides whether the run as a whole is red, once the last item has ended.

    The `Recorder` calls the methods in the order of this class.
    """

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self._tolerated: set[str] = set()

    def add_report(self, report: pytest.TestReport) -> None:
        """Record a failure that the gate tolerates."""
        if hasattr(report, TOLERATED):
            self._tolerated.add(report.nodeid)

    def decide(self, session: pytest.Session, run: Run, *, not_passed: Collection[str]) -> None:
        """
        Decide after the last item, and report a failed item if the run is red.

        *not_passed* is as for `reach_of`.
        """
        from pytest_ragcheck.plugin.ending.gated_outcomes import decided, older_lines
        from pytest_ragcheck.report.terminal.gate_lines import decision_headline, decision_lines, decision_text

        decision = decided(self._config, run, not_passed=not_passed)
        run.gate.decision = decision
        run.gate.lines = list(decision_lines(decision))
        place = settings_of(self._config).gate.baseline
        if place is not None and decision.findings is None:
            # With findings, the digests of the questions show the changes.
            run.gate.lines += older_lines(baseline_of(self._config), run)
        run.gate.headline = decision_headline(decision)
        if decision.red:
            path = None if place is None else place.path
            report_failure(session, GATE_ID, decision_text(decision), when="call", path=path)

    def finish(self, run: Run) -> None:
        """Complete the outcome of the run, whether or not the gate has decided."""
        if run.ran and run.unfinished:
            from pytest_ragcheck.plugin.ending.gated_outcomes import gate_name

            run.gate.lines = [f"{gate_name(self._config)}: not compared: {run.unfinished}"]
        if run.gate.headline:
            held = run.gate.decision.red_questions if run.gate.decision is not None else frozenset()
            at_fault = [node_id for node_id in self._tolerated if not held.isdisjoint(run.results.keys_of(node_id))]
            forget_failure(self._config, GATE_ID, at_fault=at_fault)
