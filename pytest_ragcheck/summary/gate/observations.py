"""Counts how often a question passed and failed in one run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import median

from pytest_ragcheck.verdict.verdict import Verdict

LOOKS_AGAIN = 2
"""Maximum number of further requests for a newly failing question."""


def looks(
    verdict: Verdict, repeated: Mapping[str, Sequence[Sequence[float]]], thresholds: Mapping[str, float]
) -> tuple[int, int]:
    """Return the number of passes and of failures of a question over all its answers in one run."""
    asserted = {metric: values for metric, values in repeated.items() if metric in thresholds}
    answers = max((len(values) for values in asserted.values()), default=1)
    if answers == 1:
        return int(verdict is Verdict.PASS), int(verdict is Verdict.FAIL)
    passed = sum(
        all(median(values[i]) >= thresholds[metric] for metric, values in asserted.items() if i < len(values))
        for i in range(answers)
    )
    return passed, answers - passed
