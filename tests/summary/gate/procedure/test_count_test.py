"""The count test: its critical values come from the bound, and the bound is the one of the enumerated procedure."""

from __future__ import annotations

import math

import pytest

from pytest_ragcheck.summary.gate.procedure.count_test import binomial_p, critical_value, worst_chance

LEVEL = 0.006


@pytest.mark.parametrize(("known", "values"), [(1, (6, 10)), (2, (4, 6)), (3, (3, 5)), (5, (3, 3)), (10, (2, 3))])
def test_the_critical_values(known: int, values: tuple[int, ...]) -> None:
    assert tuple(critical_value(known, improved, LEVEL) for improved in range(len(values))) == values


@pytest.mark.parametrize("known", [1, 2, 5])
@pytest.mark.parametrize("units", [8, 30, 100])
@pytest.mark.parametrize("rate", [0.02, 0.1, 0.3, 0.5])
def test_units_that_break_by_the_day_make_it_red_at_most_at_its_level(known: int, units: int, rate: float) -> None:
    # Of each unit: it breaks today alone, or in one saved run alone, or neither.
    now = rate * (1 - rate) ** known
    chance = 0.0
    for improved in range(units + 1):
        for broken in range(critical_value(known, improved, LEVEL), units - improved + 1):
            other = units - broken - improved
            ways = math.comb(units, broken) * math.comb(units - broken, improved)
            chance += ways * now**broken * (known * now) ** improved * (1 - (known + 1) * now) ** other
    assert chance <= LEVEL


def test_one_less_would_break_the_bound() -> None:
    assert worst_chance((5,), 1, LEVEL) > LEVEL
    assert worst_chance((3,), 2, LEVEL) > LEVEL


def test_the_chance_of_a_share_is_binomial() -> None:
    # Of 7 units that broke in one of two runs, 6 or 7 today: (7 + 1) / 2^7.
    assert binomial_p(6, 1, 1) == pytest.approx(8 / 128)
    # Of 3 units in one of 6 runs, all today: (1/6)^3.
    assert binomial_p(3, 0, 5) == pytest.approx(1 / 216)


def test_large_sets_have_a_critical_value_too() -> None:
    # Of about 1,100 units the share 1/2 has a deviation of 16.6; 2.5 of them above the middle are red.
    value = critical_value(1, 500, LEVEL)
    assert binomial_p(value, 500, 1) <= LEVEL < binomial_p(value - 1, 500, 1)
    assert 570 < value < 600
