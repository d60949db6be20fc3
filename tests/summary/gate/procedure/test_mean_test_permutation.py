"""The permutation of runs within units, against all choices written out."""

from __future__ import annotations

import random
from collections import Counter
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_ragcheck.summary.gate.procedure.mean_test import lower_sum_p

units_of_scores = st.lists(st.lists(st.integers(0, 20), min_size=2, max_size=4), max_size=5)


@given(units_of_scores)
def test_it_is_the_share_of_all_choices_with_a_sum_as_low(twentieths: list[list[int]]) -> None:
    sums = [sum(choice) for choice in product(*twentieths)]
    as_low = sum(each <= sum(unit[0] for unit in twentieths) for each in sums)
    units = [[value / 20 for value in unit] for unit in twentieths]
    assert lower_sum_p(units) == pytest.approx(as_low / len(sums), abs=1e-12)


def test_ties_of_thirds_count_as_low() -> None:
    # Differences of -1, -1 and +2 thirds: of the eight sums -4, -2, -2, 0, 0, 2, 2 and 4 five are at most 0.
    units = [[1 / 3, 2 / 3], [1 / 3, 2 / 3], [1.0, 1 / 3]]
    assert lower_sum_p(units) == pytest.approx(5 / 8)


@pytest.mark.parametrize("runs", [1, 2, 5])
def test_rounding_never_makes_p_smaller(runs: int) -> None:
    chance = random.Random(1)
    for _ in range(20):
        units = [[chance.random() for _ in range(runs + 1)] for _ in range(5)]
        sums = [sum(choice) for choice in product(*units)]
        exact = sum(each <= sum(unit[0] for unit in units) + 1e-12 for each in sums) / len(sums)
        assert exact <= lower_sum_p(units) <= 1.05 * exact + 1e-9


def test_many_units_without_a_difference_change_nothing() -> None:
    # 8 falls give 1/2^8, whether or not 1,000 others stayed the same.
    falls = [[0.2, 0.9]] * 8
    assert lower_sum_p(falls) == 1 / 256
    assert lower_sum_p([*falls, *([[0.9, 0.9]] * 1000)]) == 1 / 256


def test_more_choices_than_a_counter_holds() -> None:
    # 1,000 differences of 0.001 (500 + 40 down): the exact binomial tail of 540 of 1,000, 0.00623.
    units = [[0.5, 0.501]] * 540 + [[0.501, 0.5]] * 460
    assert lower_sum_p(units) == pytest.approx(0.00623, abs=0.00002)


def test_the_choice_of_today_keeps_p_above_0() -> None:
    # One choice of 21^40 is less than the counters hold beside all choices.
    assert 0 < lower_sum_p([[0.1, *[0.9] * 20]] * 40) < 1e-30


def exact_p(units: list[list[int]]) -> float:
    """The share of all choices, counted sum by sum."""
    ways = Counter({0: 1})
    for unit in units:
        before, ways = ways, Counter()
        for total, value in product(before, unit):
            ways[total + value] += before[total]
    return sum(n for total, n in ways.items() if total <= sum(unit[0] for unit in units)) / ways.total()


@pytest.mark.parametrize("size", [30, 31, 60])
def test_many_units_of_several_runs_have_the_exact_p_or_a_clearly_high_one(size: int) -> None:
    # Above 30 units a p that decides nothing is that of the normal distribution.
    chance = random.Random(size)
    for _ in range(20):
        twentieths = [[chance.randrange(20) for _ in range(chance.choice((2, 3, 6)))] for _ in range(size)]
        exact = exact_p(twentieths)
        found = lower_sum_p([[value / 20 for value in unit] for unit in twentieths])
        assert found == pytest.approx(exact, abs=1e-9 if size == 30 or found <= 0.05 else 0.02)
