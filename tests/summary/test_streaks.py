"""The chance of questions that always passed to fail each time, against values worked out by hand."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_ragcheck.summary.streaks import Streak, alone_p, can_be_seen, clearly_broken, streak_bound, together_p


def streak(unit: int, before: int, *, broke: bool = False) -> Streak:
    return Streak(unit=unit, before=before, now=3, broke=broke)


def some(count: int, before: int, *, broken: int = 0) -> list[Streak]:
    return [streak(unit, before, broke=unit < broken) for unit in range(count)]


@pytest.mark.parametrize(
    ("passes", "fails", "bound"),
    [
        (1, 3, 27 / 256),  # at p = 1/4: 1/4 * (3/4)^3
        (0, 3, 1.0),
        (3, 0, 1.0),
        (9, 3, 0.75**9 * 0.25**3),
    ],
)
def test_a_streak_is_as_likely_as_its_likeliest_rate_makes_it(passes: int, fails: int, bound: float) -> None:
    assert streak_bound(passes, fails) == pytest.approx(bound)


def test_a_question_is_held_against_all_that_are_as_well_known() -> None:
    # 20 passes and 3 fails: b = 0.000142; 1 pass: 27/256. The well-known are two, and all are three.
    well, ill = streak_bound(20, 3), 27 / 256
    found = alone_p([streak(0, 20), streak(1, 20), streak(2, 1)])
    assert found == pytest.approx({well: 2 * well, ill: 2 * well + ill})
    assert alone_p(some(40, 1))[ill] == 1.0


@given(st.integers(1, 12), st.integers(3, 9), st.data())
def test_several_are_as_likely_as_the_binomial_distribution_says(count: int, before: int, data: st.DataObject) -> None:
    broken = data.draw(st.integers(0, count))
    chance = streak_bound(before, 3)
    expected = sum(math.comb(count, n) * chance**n * (1 - chance) ** (count - n) for n in range(broken, count + 1))
    assert together_p(some(count, before, broken=broken)) == pytest.approx(expected, abs=1e-12)


def test_of_unequal_questions_each_has_its_own_chance() -> None:
    # 3^3 3^3 / 6^6 = 1/64 and 5^5 3^3 / 8^8 = 0.005029; at least one of the two: 1 - 63/64 * 0.994971 = 0.020575.
    assert together_p([streak(0, 3, broke=True), streak(1, 5)]) == pytest.approx(0.020575, abs=1e-6)


def test_what_one_pass_shows_does_not_count_among_several() -> None:
    assert together_p(some(5, 2, broken=5)) == 1.0


def test_questions_of_one_unit_break_as_one() -> None:
    # Of three in one unit and one in another, the likeliest that either breaks: 1 - (1 - 3b)(1 - b), b = 0.005029.
    one = [streak(0, 5, broke=True)] * 3
    assert together_p([*one, streak(1, 5)]) == pytest.approx(1 - (1 - 3 * 0.0050292) * (1 - 0.0050292), abs=1e-6)


def test_a_test_that_could_never_be_significant_is_none() -> None:
    assert can_be_seen(some(1, 1), 0.01) == (False, False)
    assert can_be_seen(some(30, 3), 0.01) == (False, True)
    assert can_be_seen(some(30, 30), 0.01) == (True, True)
    assert can_be_seen([], 0.01) == (False, False)


def test_clearly_broken_is_a_well_known_question_alone_and_less_known_ones_together() -> None:
    streaks = {"well": streak(0, 40, broke=True), "less": streak(1, 5, broke=True), "no": streak(2, 5)}
    new = {"new": streak(3, 1, broke=True)}
    assert clearly_broken({**streaks, **new}, level=0.002, several=False) == {"well"}
    assert clearly_broken({**streaks, **new}, level=0.002, several=True) == {"well", "less"}
