"""Judges over the same labelled answers: which one is best, and which cheaper one is as good."""

from __future__ import annotations

import random

import pytest

from pytest_ragcheck.errors import UsageError
from pytest_ragcheck.summary.calibration.confusion import Judged
from pytest_ragcheck.summary.calibration.judge_comparison import compare_judges
from pytest_ragcheck.summary.calibration.score_intervals import RateSample, difference


def judged(wrong: set[int], *, n: int = 200, without: frozenset[int] = frozenset()) -> dict[int, Judged]:
    """Half good and half bad answers; the verdict is wrong on the given ones."""
    return {
        number: Judged(score=float((number % 2 == 0) != (number in wrong)), good=number % 2 == 0, group=str(number))
        for number in range(n)
        if number not in without
    }


def test_a_cheaper_judge_with_the_same_errors_but_two_is_as_good() -> None:
    good, cheap, poor = judged({0, 1, 2}), judged({0, 1, 2, 3, 4}), judged(set(range(40)))
    told = compare_judges([poor, cheap, good], [0.0, 0.01, 1.0], threshold=0.5, margin=0.05)
    assert (told.n, told.ranked_by, told.best, told.cheapest) == (200, "balanced_accuracy", 2, 1)
    assert [judge.as_good for judge in told.judges] == [False, True, True]
    # 5 errors less 3, of 200: of the good answers 3 against 2, of the bad ones 2 against 1.
    assert told.judges[1].differences["balanced_accuracy"].value == pytest.approx(-0.01)
    assert told.judges[2].differences == {}


def test_the_margin_decides_what_counts_as_as_good() -> None:
    good, cheap = judged({0, 1, 2}), judged({0, 1, 2, 3, 4})
    strict = compare_judges([good, cheap], [1.0, 0.0], threshold=0.5, margin=0.01)
    assert (strict.judges[1].as_good, strict.cheapest) == (False, 0)


def test_ten_answers_do_not_show_that_a_judge_is_as_good() -> None:
    told = compare_judges([judged(set(), n=10), judged(set(), n=10)], [1.0, 0.0], threshold=0.5, margin=0.05)
    assert told.judges[1].differences["balanced_accuracy"].value == 0.0
    assert not told.judges[1].as_good


def test_a_difference_of_all_answers_ends_at_1() -> None:
    right, wrong = (RateSample(list(judged(set(range(errors)), n=6).values()), 0.5) for errors in (0, 6))
    assert (difference(right, wrong, "tpr").value, difference(right, wrong, "tpr").high) == (1.0, 1.0)
    assert (difference(wrong, right, "tpr").value, difference(wrong, right, "tpr").low) == (-1.0, -1.0)


def test_only_answers_that_all_judges_scored_are_compared() -> None:
    told = compare_judges(
        [judged({0}, without=frozenset({5, 6})), judged({0}, without=frozenset({7}))],
        [None, 0.0],
        threshold=0.5,
        margin=0,
    )
    assert told.n == 197
    with pytest.raises(UsageError, match="no answer was scored by all judges"):
        compare_judges([{0: judged({})[0]}, {1: judged({})[1]}], [0.0, 0.0], threshold=0.5, margin=0)  # type: ignore[arg-type]


def test_an_unknown_cost_names_no_cheapest_judge_unless_one_is_free() -> None:
    rows = [judged({0, 1, 2}), judged({0, 1, 2})]
    assert compare_judges(rows, [1.0, None], threshold=0.5, margin=0.05).cheapest is None
    assert compare_judges(rows, [0.0, None], threshold=0.5, margin=0.05).cheapest == 0


def test_paired_intervals_are_narrower_where_judges_err_together() -> None:
    a, together, apart = judged(set(range(20))), judged(set(range(2, 22))), judged(set(range(100, 120)))
    samples = [RateSample(list(rows.values()), 0.5) for rows in (a, together, apart)]
    paired = difference(samples[1], samples[0], "accuracy")
    unpaired = difference(samples[2], samples[0], "accuracy")
    assert paired.value == unpaired.value == 0.0
    assert paired.high - paired.low < 0.5 * (unpaired.high - unpaired.low)


@pytest.mark.exhaustive
@pytest.mark.parametrize(("first", "second"), [(0.9, 0.9), (0.98, 0.93), (1.0, 0.97)])
def test_the_paired_interval_holds_its_level(first: float, second: float) -> None:
    generator = random.Random(11)
    runs, hits = 400, 0
    for _ in range(runs):
        draws = [generator.random() for _ in range(100)]
        sides = [
            RateSample(
                [
                    Judged(score=float((draw < rate) == (number % 2 == 0)), good=number % 2 == 0, group=str(number))
                    for number, draw in enumerate(draws)
                ],
                0.5,
            )
            for rate in (first, second)
        ]
        told = difference(sides[0], sides[1], "accuracy")
        hits += told.low <= first - second <= told.high
    # 95 % less three standard deviations of 400 runs.
    assert hits >= 0.917 * runs
