"""Paired differences: by hand, against published tables, and how often their intervals are right."""

from __future__ import annotations

import random

import pytest

from pytest_ragcheck.summary.paired import mean_difference, rate_difference, student_quantile

T_975 = {1: 12.7062, 2: 4.3027, 4: 2.7764, 7: 2.3646, 10: 2.2281, 30: 2.0423, 100: 1.9840}
"""Of the tables of Student's distribution, by degrees of freedom."""


@pytest.mark.parametrize(("degrees", "exact"), T_975.items())
def test_the_quantile_is_that_of_the_tables(degrees: int, exact: float) -> None:
    assert student_quantile(0.975, degrees) == pytest.approx(exact, abs=0.001)


def test_a_mean_difference_by_hand() -> None:
    # Differences 0.1, 0.2, 0.3, 0.2: mean 0.2, deviation sqrt(0.02 / 3) = 0.08165, over sqrt(4) 0.04082, times 3.1786.
    found = mean_difference([0.5, 0.5, 0.5, 0.5], [0.6, 0.7, 0.8, 0.7])
    assert found.value == pytest.approx(0.2)
    assert found.n == 4
    assert [found.low, found.high] == pytest.approx([0.0702, 0.3298], abs=1e-4)


def test_a_single_question_tells_nothing_of_others() -> None:
    for found in (mean_difference([0.0], [1.0]), rate_difference([False], [True])):
        assert (found.value, found.low, found.high) == (1.0, 1.0, 1.0)


def test_a_rate_difference_by_hand() -> None:
    # 3 flips up, 1 down, of 10. With half an observation more a cell: 3.5, 1.5 of 12; centre 2/12 = 0.16667;
    # variance (5 - 4 / 12) / 144 = 0.032407; 1.95996 times its root 0.18002 is 0.35283.
    found = rate_difference([False] * 3 + [True] * 7, [True] * 9 + [False])
    assert found.value == pytest.approx(0.2)
    assert [found.low, found.high] == pytest.approx([-0.18617, 0.51950], abs=1e-5)


def test_without_any_flip_the_interval_holds_zero_and_is_not_empty() -> None:
    found = rate_difference([True] * 20, [True] * 20)
    assert found.low < found.value == 0 < found.high


def test_the_intervals_hold_the_truth_about_as_often_as_they_say() -> None:
    generator = random.Random(7)
    rounds, means, rates = 600, 0, 0
    for _ in range(rounds):
        before = [min(1.0, max(0.0, generator.gauss(0.6, 0.2))) for _ in range(30)]
        after = [value + generator.uniform(-0.2, 0.3) for value in before]
        means += (found := mean_difference(before, after)).low <= 0.05 <= found.high
        # 20 % of the questions flip up and 10 % down.
        flips = [generator.choices([(False, True), (True, False), (True, True)], [2, 1, 7])[0] for _ in range(30)]
        rate = rate_difference([a for a, _ in flips], [b for _, b in flips])
        rates += rate.low <= 0.1 <= rate.high
    # Of 600 at 95 %, 2 sigma are 0.018.
    assert means / rounds == pytest.approx(0.95, abs=0.025)
    assert 0.93 <= rates / rounds <= 0.99
