"""The count test: its critical values come from the bound, and the bound is the one of the enumerated procedure."""

from __future__ import annotations

import math

import pytest

from pytest_ragcheck.summary.gate.procedure.count_test import (
    binomial_p,
    critical_value,
    floor_value,
    holds_level,
    mixed_p,
)

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


@pytest.mark.parametrize(("more", "fewer"), [(5, 1), (3, 2)])
@pytest.mark.parametrize("units", [(10, 0), (7, 8), (3, 10), (0, 14)])
def test_units_with_unlike_histories_make_it_red_at_most_at_its_level(
    more: int, fewer: int, units: tuple[int, int]
) -> None:
    # The rates that make a unit break in exactly one run most often: 1 / (known + 1).
    likeliest = [(known / (known + 1)) ** known for known in (more, fewer)]
    chance = 0.0
    for old in range(units[0] + 1):
        for new in range(units[1] + 1):
            histories = [more] * old + [fewer] * new
            least = min(histories, default=1)
            red = [
                broken > 0
                and (
                    broken >= critical_value(least, len(histories) - broken, LEVEL)
                    or mixed_p(broken, histories) <= LEVEL
                )
                for broken in range(len(histories) + 1)
            ]
            share = mixed_p(red.index(True), histories) if any(red) else 0.0
            weight = 1.0
            for n, k, p in ((units[0], old, likeliest[0]), (units[1], new, likeliest[1])):
                weight *= math.comb(n, k) * p**k * (1 - p) ** (n - k)
            chance += weight * share
    assert chance <= LEVEL


def test_one_less_would_break_the_bound() -> None:
    assert not holds_level((5,), 1, LEVEL)
    assert not holds_level((3,), 2, LEVEL)


def test_the_chance_of_a_share_is_binomial() -> None:
    # Of 7 units that broke in one of two runs, 6 or 7 today: (7 + 1) / 2^7.
    assert binomial_p(6, 1, 1) == pytest.approx(8 / 128)
    # Of 3 units in one of 6 runs, all today: (1/6)^3.
    assert binomial_p(3, 0, 5) == pytest.approx(1 / 216)
    assert mixed_p(6, [1] * 7) == pytest.approx(8 / 128)
    # Two of two, with one and with five saved runs: 1/2 * 1/6.
    assert mixed_p(2, [1, 5]) == pytest.approx(1 / 12)


def test_large_sets_have_a_critical_value_too() -> None:
    # Of about 1,100 units the share 1/2 has a deviation of 16.6; 2.5 of them above the middle are red.
    value = critical_value(1, 500, LEVEL)
    assert binomial_p(value, 500, 1) <= LEVEL < binomial_p(value - 1, 500, 1)
    assert 570 < value < 600


def test_the_floor_is_a_fifth_and_three_standard_deviations() -> None:
    # Of 20: (9 - 0)^2 = 9 * 9. Of 100: a fifth. Beside 3 improved ones: (16 - 3)^2 = 169 < 9 * 19 <= (17 - 3)^2.
    assert [floor_value(0, 20), floor_value(0, 100), floor_value(3, 20)] == [9, 20, 17]


@pytest.mark.parametrize("questions", [10, 30, 70, 150])
@pytest.mark.parametrize("share", [0.1, 0.2, 0.25])
def test_the_floor_is_red_in_at_most_1_3_of_1000_unchanged_runs(questions: int, share: float) -> None:
    # Each question breaks with the chance r (1 - r), a quarter at most, and passes newly with the same.
    chance = 0.0
    for improved in range(questions + 1):
        for broken in range(floor_value(improved, questions), questions - improved + 1):
            ways = math.comb(questions, broken) * math.comb(questions - broken, improved)
            chance += ways * share ** (broken + improved) * (1 - 2 * share) ** (questions - broken - improved)
    assert chance <= 0.0013
