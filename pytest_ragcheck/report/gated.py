"""The results in files, held to a gate once more."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from pytest_ragcheck.report.flaky import flaky_lines
from pytest_ragcheck.report.gate import decision_headline, decision_lines
from pytest_ragcheck.summary.comparison import compare
from pytest_ragcheck.summary.flaky import flaky_in_run
from pytest_ragcheck.summary.gate import decide, tolerated
from pytest_ragcheck.summary.reread import outcomes_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from pytest_ragcheck.report.results import Results
    from pytest_ragcheck.summary.baseline import Baseline
    from pytest_ragcheck.summary.terms import Terms


def gated(results: Results, baseline: Baseline | None, terms: Terms, *, clean: Callable[[str], str]) -> Results:
    """
    The results with what the gate makes of them, instead of what the run's own gate made.

    Args:
        results: Read from files.
        baseline: What they are compared with; None for nothing.
        terms: What the run is held to.
        clean: Takes secrets out of a text, as was done with the texts of the files.
    """
    outcomes = outcomes_of(results.predictions, results.summary, results.questions)
    comparison = None
    if baseline is not None:
        comparison = compare(
            baseline,
            outcomes,
            clean=clean,
            would_meet=lambda _dataset, _id: outcomes.complete,
            missing_allowed=terms.missing == "allowed",
        )
    decision = decide(outcomes, comparison, terms)
    flaky = flaky_in_run(outcomes.measured, baseline, clean=clean)
    return replace(
        results,
        baseline=baseline,
        notes=(*decision_lines(decision), *flaky_lines(flaky)),
        gate=decision_headline(decision),
        xfailed=tolerated(outcomes, terms, baseline, clean=clean),
    )
