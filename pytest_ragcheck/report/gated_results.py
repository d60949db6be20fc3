"""Applies a gate to results that are read from files."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from pytest_ragcheck.frozen import frozen
from pytest_ragcheck.report.files.results_reader import Results
from pytest_ragcheck.report.terminal.findings_lines import changes_of
from pytest_ragcheck.report.terminal.gate_lines import decision_headline, decision_lines, flaky_lines
from pytest_ragcheck.summary.flaky import Flaky, flaky_in_run
from pytest_ragcheck.summary.gate.baseline_comparison import ACCEPT, compare, examined_against
from pytest_ragcheck.summary.gate.baseline_reader import Baseline
from pytest_ragcheck.summary.gate.gate_decision import Decision, decide, tolerated
from pytest_ragcheck.summary.gate_rules import GateRules
from pytest_ragcheck.summary.outcomes_reader import outcomes_of
from pytest_ragcheck.summary.run_outcomes import Outcomes


@frozen
class GatedOutcomes:
    outcomes: Outcomes
    decision: Decision
    flaky: tuple[Flaky, ...]


def gate_outcomes(
    outcomes: Outcomes, baseline: Baseline | None, rules: GateRules, *, clean: Callable[[str], str], accept: str
) -> GatedOutcomes:
    """The outcomes under this gate; *clean* and *accept* are as for `compare` and `Comparison`."""
    comparison = None
    if baseline is not None:
        outcomes = examined_against(baseline, outcomes)
        comparison = compare(baseline, outcomes, rules, clean=clean, expects=outcomes.reach.expects)
        comparison = replace(comparison, accept=accept)
    return GatedOutcomes(
        outcomes=replace(outcomes, tolerated=tolerated(outcomes, rules, baseline, clean=clean)),
        decision=decide(outcomes, comparison, rules),
        flaky=flaky_in_run(outcomes.measured, baseline, clean=clean),
    )


def gated(results: Results, baseline: Baseline | None, rules: GateRules, *, clean: Callable[[str], str]) -> Results:
    """The results with this gate's decision in place of the run's own; *clean* removes secrets from a text."""
    outcomes = outcomes_of(results.predictions, results.summary, results.asked)
    gated = gate_outcomes(outcomes, baseline, rules, clean=clean, accept=ACCEPT)
    decision = gated.decision
    return replace(
        results,
        baseline=baseline,
        notes=(*decision_lines(decision), *flaky_lines(gated.flaky)),
        gate=decision_headline(decision),
        changes=changes_of(decision),
        xfailed=gated.outcomes.tolerated,
    )
