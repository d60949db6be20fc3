"""Statistics and intervals: by hand, against published tables, and how often the intervals are right."""

from __future__ import annotations

import math
import random
import statistics

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_ragcheck.scores import Score
from pytest_ragcheck.summary.metric_statistics import (
    mean_interval,
    metric_statistics,
    percentile,
    rate_difference_interval,
    student_quantile,
)

VALUES = st.lists(st.floats(0, 1), min_size=1, max_size=30)


def test_the_statistics_of_three_scores() -> None:
    # mean (1 + 0 + 1) / 3; variance ((1/3)^2 + (2/3)^2 + (1/3)^2) / 3 = 2/9.
    found = metric_statistics([Score(1.0), Score(0.0), Score(1.0), Score.unscored("broken")])
    assert found is not None
    assert found.mean == pytest.approx(2 / 3)
    assert (found.min, found.max) == (0.0, 1.0)
    assert found.std == pytest.approx(math.sqrt(2 / 9))
    assert (found.n_scored, found.n_unscored) == (3, 1)


def test_one_value_has_no_deviation() -> None:
    found = metric_statistics([Score(0.3)])
    assert found is not None
    assert (found.mean, found.std) == (0.3, 0.0)


def test_no_value_has_no_mean() -> None:
    assert metric_statistics([]) is None
    assert metric_statistics([Score.unscored("broken")]) is None


@given(VALUES)
def test_a_mean_stays_in_the_range_of_its_values(values: list[float]) -> None:
    found = metric_statistics(list(map(Score, values)))
    assert found is not None
    assert found.min <= found.mean <= found.max
    assert found.mean == pytest.approx(statistics.fmean(values))
    assert found.std == pytest.approx(statistics.pstdev(values), abs=1e-9)


@pytest.mark.parametrize(
    ("percent", "value"),
    # Of 1, 2, 3, 4 the position is 3 * percent / 100 from the first.
    [(0, 1.0), (50, 2.5), (95, 3.85), (99, 3.97), (100, 4.0)],
)
def test_a_percentile_is_linear_between_neighbours(percent: float, value: float) -> None:
    assert percentile([4.0, 1.0, 3.0, 2.0], percent) == pytest.approx(value)
    assert percentile([7.0], percent) == 7.0


@given(VALUES, st.floats(0, 100), st.floats(0, 100))
def test_percentiles_grow_with_the_percent(values: list[float], one: float, other: float) -> None:
    low, high = sorted((one, other))
    assert min(values) <= percentile(values, low) <= percentile(values, high) + 1e-12
    assert percentile(values, 50) == pytest.approx(statistics.median(values))


T_975 = {1: 12.7062, 2: 4.30265, 3: 3.18245, 7: 2.36462, 10: 2.22814, 30: 2.04227, 100: 1.98397}
"""Of the tables of Student's distribution, by degrees of freedom."""


@pytest.mark.parametrize(("degrees", "exact"), T_975.items())
def test_the_quantile_is_that_of_the_tables(degrees: int, exact: float) -> None:
    assert student_quantile(0.975, degrees) == pytest.approx(exact, abs=0.004 if degrees == 3 else 0.0001)


def test_a_mean_interval_by_hand() -> None:
    # Differences 0.1, 0.2, 0.3, 0.2: mean 0.2, deviation sqrt(0.02 / 3) = 0.08165, over sqrt(4) 0.04082, times 3.1786.
    assert mean_interval([0.1, 0.2, 0.3, 0.2]) == pytest.approx((0.0702, 0.3298), abs=1e-4)


def test_a_single_question_tells_nothing_of_others() -> None:
    assert mean_interval([1.0]) == rate_difference_interval(1, 0, 1) == (1.0, 1.0)


def test_an_interval_of_a_difference_of_rates_by_hand() -> None:
    # 3 flips up, 1 down, of 10. With half an observation more a cell: 3.5, 1.5 of 12; centre 2/12 = 0.16667;
    # variance (5 - 4 / 12) / 144 = 0.032407; 1.95996 times its root 0.18002 is 0.35283.
    assert rate_difference_interval(3, 1, 10) == pytest.approx((-0.18617, 0.51950), abs=1e-5)


def test_without_any_flip_the_interval_holds_zero_and_is_not_empty() -> None:
    low, high = rate_difference_interval(0, 0, 20)
    assert low < 0 < high


def test_the_intervals_hold_the_truth_about_as_often_as_they_say() -> None:
    generator = random.Random(7)
    rounds, means, rates = 600, 0, 0
    for _ in range(rounds):
        low, high = mean_interval([generator.uniform(-0.2, 0.3) for _ in range(30)])
        means += low <= 0.05 <= high
        # 20 % of the questions flip up and 10 % down.
        flips = [generator.choices([(False, True), (True, False), (True, True)], [2, 1, 7])[0] for _ in range(30)]
        low, high = rate_difference_interval(flips.count((False, True)), flips.count((True, False)), 30)
        rates += low <= 0.1 <= high
    # Of 600 at 95 %, 2 sigma are 0.018.
    assert means / rounds == pytest.approx(0.95, abs=0.025)
    assert 0.93 <= rates / rounds <= 0.99
