"""Applies a gate to results that are read from files."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from pytest_ragcheck.report.terminal.findings_lines import newly_failing_of
from pytest_ragcheck.report.terminal.gate_lines import decision_headline, decision_lines, flaky_lines
from pytest_ragcheck.summary.flaky import flaky_in_run
from pytest_ragcheck.summary.gate.baseline_comparison import compare, examined_against
from pytest_ragcheck.summary.gate.gate_decision import decide, tolerated
from pytest_ragcheck.summary.outcomes_reader import outcomes_of

if TYPE_CHECKING:
    from pytest_ragcheck.report.files.results_reader import Results
    from pytest_ragcheck.summary.gate.baseline_reader import Baseline
    from pytest_ragcheck.summary.gate_rules import GateRules


def gated(results: Results, baseline: Baseline | None, terms: GateRules, *, clean: Callable[[str], str]) -> Results:
    """Return the results with this gate's decision in place of the run's own; *clean* removes secrets from a text."""
    outcomes = outcomes_of(results.predictions, results.summary, results.asked)
    comparison = None
    if baseline is not None:
        outcomes = examined_against(baseline, outcomes)
        comparison = compare(baseline, outcomes, terms, clean=clean, expects=lambda _dataset, _id: outcomes.complete)
    decision = decide(outcomes, comparison, terms)
    flaky = flaky_in_run(outcomes.measured, baseline, clean=clean)
    return replace(
        results,
        baseline=baseline,
        notes=(*decision_lines(decision), *flaky_lines(flaky)),
        gate=decision_headline(decision),
        newly_failing=newly_failing_of(decision),
        xfailed=tolerated(outcomes, terms, baseline, clean=clean),
    )
