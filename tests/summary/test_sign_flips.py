"""Tests of a drop by the signs of differences, and their company, against values worked out by hand."""

from __future__ import annotations

import math
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_ragcheck.summary.paired import flips_p
from pytest_ragcheck.summary.sign_flips import detectable_drop, drop_p, holm, wilson

differences_of_scores = st.lists(st.integers(-100, 100), max_size=8)


@pytest.mark.parametrize(
    ("differences", "p"),
    [
        ([], 1.0),
        ([0.0, 0.0], 1.0),
        ([-1, -1, -1], 1 / 8),  # of 2^3 choices of signs only --- is as low
        ([-1, -1, 1], 4 / 8),  # ---, --+, -+-, +-- are at most -1
        ([1, 1], 1.0),
        ([-3, 1], 2 / 4),  # -3-1 = -4 and -3+1 = -2
        ([-0.2, -0.1, 0.1], 3 / 8),  # -0.4, and -0.2 twice
    ],
)
def test_the_chance_of_a_drop_counts_the_choices_of_signs(differences: list[float], p: float) -> None:
    assert drop_p(differences) == pytest.approx(p, abs=1e-12)


@given(differences_of_scores)
def test_it_is_that_of_all_choices_written_out(differences: list[int]) -> None:
    sums = [
        sum(map(math.prod, zip(signs, differences, strict=True))) for signs in product((1, -1), repeat=len(differences))
    ]
    as_low = sum(each <= sum(differences) for each in sums)
    assert drop_p(differences) == pytest.approx(as_low / len(sums), abs=1e-12)


@pytest.mark.parametrize(("up", "down"), [(0, 7), (2, 9), (1, 3)])
def test_of_flips_it_is_half_of_the_two_sided_test_of_mcnemar(up: int, down: int) -> None:
    assert drop_p([1.0] * up + [-1.0] * down) == pytest.approx(flips_p(up, down) / 2)


def test_of_many_it_is_the_normal_distributions() -> None:
    # 300 down and 250 up of the same size: z = -50 / sqrt(550) = -2.132, and the share below it is 0.0165.
    assert drop_p([-0.1] * 300 + [0.1] * 250) == pytest.approx(0.0165, abs=0.0001)


def test_the_smallest_chance_meets_the_strictest_level_and_each_next_a_laxer_one() -> None:
    # Levels 0.01/3, 0.01/2, 0.01.
    assert holm({"a": 0.004, "b": 0.003, "c": 0.5}, 0.01) == {"a": True, "b": True, "c": False}
    assert holm({"a": 0.004, "b": 0.0034, "c": 0.5}, 0.01) == {"a": False, "b": False, "c": False}


def test_the_interval_of_a_rate() -> None:
    # 7 of 10, z = 1.96: centre (0.7 + 0.19207) / 1.38415 = 0.64449, reach 0.24778.
    assert wilson(7, 10) == pytest.approx((0.3968, 0.8922), abs=0.0001)
    assert wilson(0, 5)[0] == 0.0
    assert wilson(5, 5)[1] == 1.0


def test_the_drop_that_would_be_seen_is_as_wide_as_the_noise() -> None:
    # Four differences of 0.1 and -0.1: deviation sqrt(0.04 / 3) = 0.11547; (2.3263 + 0.8416) * 0.11547 / 2 = 0.1829.
    assert detectable_drop([0.1, -0.1, 0.1, -0.1], 4, 0.01) == pytest.approx(0.1829, abs=0.0001)
    assert detectable_drop([0.0, 0.0], 2, 0.01) is None
    assert detectable_drop([0.3], 1, 0.01) is None
