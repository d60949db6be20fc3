"""How often one run looked at a question, and what it saw."""

from __future__ import annotations

from statistics import median
from typing import TYPE_CHECKING

from pytest_ragcheck.verdict.verdict import Verdict

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


LOOKS_AGAIN = 2
"""How often a newly failing question is asked once more, where it fails each time."""


def looks(
    verdict: Verdict, repeated: Mapping[str, Sequence[Sequence[float]]], thresholds: Mapping[str, float]
) -> tuple[int, int]:
    """How often a question passed and how often it failed in one run, by the answers that it was given there."""
    asserted = {metric: values for metric, values in repeated.items() if metric in thresholds}
    answers = max((len(values) for values in asserted.values()), default=1)
    if answers == 1:
        return int(verdict is Verdict.PASS), int(verdict is Verdict.FAIL)
    passed = sum(
        all(median(values[i]) >= thresholds[metric] for metric, values in asserted.items() if i < len(values))
        for i in range(answers)
    )
    return passed, answers - passed
