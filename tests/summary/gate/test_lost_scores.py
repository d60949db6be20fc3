"""Lost scores of asserted metrics: counted by question, and red only beyond chance."""

from __future__ import annotations

import random

import pytest

from pytest_ragcheck.summary.gate.baseline_comparison import Change
from pytest_ragcheck.summary.gate.baseline_reader import BaselineRow
from pytest_ragcheck.summary.gate.lost_scores import LostScores, lost_scores
from pytest_ragcheck.summary.gate.recorded.saved_answer import SavedAnswer
from pytest_ragcheck.verdict.verdict import Verdict
from tests.making import a_question, a_record

METRIC = "citation_validity"


def change(number: int, *runs: bool, now: bool, metric: str = METRIC) -> Change:
    """The change of a question with a score in some of its saved runs, latest last, and maybe now."""
    saved = tuple((SavedAnswer(passed=True, scores={metric: 1.0} if has else {}),) for has in runs)
    row = BaselineRow(
        dataset_name="billing", id=f"q{number}", question=f"What about q{number}?", verdict=Verdict.PASS, saved=saved
    )
    scores = {metric: 1.0} if now else {}
    asserted = {"thresholds": {metric: 1.0}} if now else {"dropped": {metric: "the answer has no citation markers"}}
    return Change(
        before=row, now=a_record(question=a_question(f"q{number}"), scores=scores, **asserted), reworded=False
    )


def test_the_latest_saved_run_is_compared_with_today() -> None:
    pairs = [((True, False), True), ((False, True), False), ((True, True), True), ((True, False), False)]
    (found,) = lost_scores(change(number, *runs, now=now) for number, (runs, now) in enumerate(pairs))
    assert found == LostScores(METRIC, lost=[("billing", "q1")], n_gained=1, n=3)


@pytest.mark.parametrize(
    ("n_lost", "n_gained", "n", "red"),
    [
        # 9 are 3 standard deviations of 9: 9^2 >= 9 * 9.
        (8, 0, 8, False),
        (9, 0, 9, True),
        # (17 - 5)^2 = 144 < 9 * 22 = 198 <= (20 - 5)^2 = 225, and 9 * 25 = 225.
        (17, 5, 50, False),
        (20, 5, 50, True),
        # A fifth of 60 is 12.
        (11, 0, 60, False),
        (12, 0, 60, True),
        (45, 0, 50, True),
    ],
)
def test_lost_scores_are_red_beyond_chance(n_lost: int, n_gained: int, n: int, red: bool) -> None:
    lost = [("billing", f"q{number}") for number in range(n_lost)]
    assert LostScores(METRIC, lost=lost, n_gained=n_gained, n=n).red is red


@pytest.mark.parametrize("metric", ["abstained", "recall_at_5", "f1", "groundedness", "must_cite"])
def test_a_score_that_labels_or_judge_can_remove_is_counted_and_never_red(metric: str) -> None:
    (found,) = lost_scores(change(number, True, now=False, metric=metric) for number in range(20))
    assert (found.metric, found.n, found.red) == (metric, 20, False)


@pytest.mark.parametrize("chance", [0.05, 0.2, 0.5, 0.8, 0.95])
@pytest.mark.parametrize("n", [20, 50, 300])
def test_scores_that_are_there_at_random_are_nearly_never_red(chance: float, n: int) -> None:
    noise, runs = random.Random(n), 2_000
    red = 0
    for _ in range(runs):
        both = [(noise.random() < chance, noise.random() < chance) for _ in range(n)]
        lost = [("billing", str(place)) for place, (had, has) in enumerate(both) if had and not has]
        gained = sum(has and not had for had, has in both)
        red += LostScores(METRIC, lost=lost, n_gained=gained, n=sum(map(any, both))).red
    # The rule promises at most 0.13 %: 2.6 of 2,000, and by chance rarely more than 8.
    assert red <= 8
