"""The most requests that a gate can need."""

from __future__ import annotations

import pytest

from pytest_ragcheck.plugin.collecting.cost_preview import most_requests
from pytest_ragcheck.summary.gate.baseline_reader import BaselineRow
from pytest_ragcheck.summary.gate.saved_answer import SavedAnswer
from pytest_ragcheck.verdict.verdict import Verdict

ONE, TWO = {"f1": 0.5}, {"f1": 0.5, "groundedness": 0.7}
PASS, FAIL, ERROR = Verdict.PASS, Verdict.FAIL, Verdict.ERROR


@pytest.mark.parametrize(
    ("verdict", "passes", "thresholds", "gate", "most"),
    [
        # Four times again, each after the two turns before it, and eight judgements of both sides.
        (PASS, 2, TWO, "confirmed", (4 * 3, 4 + 2 * 8)),
        (FAIL, 0, TWO, "confirmed", (0, 0)),
        # Each of three answers once more for the mean, and twice with a single metric.
        (PASS, 2, TWO, "regression", (2 * 3, 2 + 2 * 8 + 3)),
        (PASS, 2, ONE, "regression", (2 * 3, 2 + 2 * 8 + 2 * 3)),
        (FAIL, 0, TWO, "regression", (2 * 3, 2 + 3)),
        # Its saved runs differ.
        (FAIL, 1, TWO, "regression", (4 * 3, 4 + 2 * 8 + 3)),
        (ERROR, 0, TWO, "regression", (0, 0)),
    ],
)
def test_the_requests_for_a_turn_with_two_saved_runs(
    verdict: Verdict, passes: int, thresholds: dict[str, float], gate: str, most: tuple[int, int]
) -> None:
    row = BaselineRow(
        dataset_name="billing",
        id="a",
        question="What about a?",
        verdict=verdict,
        thresholds=thresholds,
        passes=passes,
        fails=2 - passes,
        saved=((SavedAnswer(passed=True),),) * 2,
    )
    assert most_requests([(row, 3)], gate) == most
