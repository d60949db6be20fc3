"""How far scores agree with labels, and which of several judges is best or as good and cheaper."""

from __future__ import annotations

import math
import random
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_ragcheck.errors import UsageError
from pytest_ragcheck.summary.judge_calibration import Calibration, CurvePoint, calibrate, compare_judges
from pytest_ragcheck.summary.judge_rates import Judged, RateSample, difference

GOOD, BAD = True, False
exhaustive = pytest.mark.exhaustive


def of(*rows: tuple[float, bool], threshold: float = 0.7, groups: str = "") -> Calibration:
    names = groups or [str(number) for number in range(len(rows))]
    judged = [Judged(score=score, good=good, group=group) for (score, good), group in zip(rows, names, strict=True)]
    return calibrate(judged, threshold=threshold)


def value(calibration: Calibration, name: str) -> float:
    return calibration.estimates[name].value


SIX = ((0.9, GOOD), (0.8, GOOD), (0.4, GOOD), (0.7, BAD), (0.2, BAD), (0.1, BAD))


def test_the_rates_at_a_threshold() -> None:
    told = of(*SIX)
    # Pass at 0.7: 0.9 and 0.8 of the good, 0.7 of the bad.
    assert (told.confusion.good_passed, told.confusion.good_failed) == (2, 1)
    assert (told.confusion.bad_passed, told.confusion.bad_failed) == (1, 2)
    for name, expected in {
        "accuracy": 4 / 6,
        "tpr": 2 / 3,
        "tnr": 2 / 3,
        "balanced_accuracy": 2 / 3,
        # By chance: 3 of 6 pass and 3 of 6 are good, so half agree; (4/6 - 1/2) / (1 - 1/2).
        "kappa": 1 / 3,
        # Of 9 pairs the good one is above in 8: 0.4 is below 0.7.
        "roc_auc": 8 / 9,
    }.items():
        assert value(told, name) == pytest.approx(expected, abs=1e-12), name


def test_the_best_threshold_lies_between_two_scores() -> None:
    told = of(*SIX)
    # From 0.8 on 2 of 3 good and 0 of 3 bad pass; from 0.4 on 3 of 3 and 1 of 3: both gain 2/3. 0.75 is nearer to 0.7.
    assert told.best_threshold == pytest.approx(0.75)
    assert told.at_best is not None
    assert told.at_best.balanced_accuracy == pytest.approx(5 / 6)
    assert of(*SIX, threshold=0.3).best_threshold == pytest.approx(0.3)


def test_the_curve_goes_from_corner_to_corner() -> None:
    curve = of((0.9, GOOD), (0.5, BAD), (0.5, GOOD)).curve
    assert curve == (
        CurvePoint(threshold=None, tpr=0.0, fpr=0.0),
        CurvePoint(threshold=0.9, tpr=0.5, fpr=0.0),
        CurvePoint(threshold=0.5, tpr=1.0, fpr=1.0),
    )


def test_where_people_say_one_thing_only_what_needs_both_is_absent() -> None:
    told = of((0.9, GOOD), (0.2, GOOD))
    assert told.estimates.keys() == {"accuracy", "tpr", "kappa"}
    # By chance half agree, and half do.
    assert value(told, "kappa") == 0.0
    assert (told.best_threshold, told.at_best, told.curve) == (None, None, ())
    assert of((0.9, GOOD), (0.8, GOOD)).estimates.keys() == {"accuracy", "tpr"}


def test_rows_of_one_group_count_as_one() -> None:
    rows = ((0.9, GOOD), (0.1, BAD), (0.1, GOOD), (0.9, BAD)) * 10
    alone, tied = of(*rows), of(*rows, groups="aabb" * 10)
    assert alone.n_groups == 40
    assert tied.n_groups == 2
    # Two groups, one all right and one all wrong, say nothing about the rate of others.
    assert tied.estimates["accuracy"].low < 0.01
    assert tied.estimates["accuracy"].high > 0.99
    assert 0.3 < alone.estimates["accuracy"].low < 0.5 < alone.estimates["accuracy"].high < 0.7


def test_a_rate_without_errors_has_an_interval() -> None:
    told = of(*[(0.9, GOOD), (0.1, BAD)] * 30)
    # Wilson with Student's t = 2.0010 of 59 degrees: 60 / (60 + t^2) for the accuracy, 30 / (30 + t^2) for tpr.
    assert told.estimates["accuracy"].low == pytest.approx(0.9374, abs=0.0005)
    assert told.estimates["tpr"].low == pytest.approx(0.8822, abs=0.0005)
    assert told.estimates["roc_auc"].low == pytest.approx(0.8822, abs=0.0005)
    # One group says nothing about others.
    one = of(*[(0.9, GOOD), (0.1, BAD)] * 30, groups="a" * 60)
    assert (one.estimates["accuracy"].low, one.estimates["kappa"].low) == (0.0, -1.0)


def test_unequal_numbers_of_good_and_bad_answers_weigh_by_their_harmonic_mean() -> None:
    told = of(*[(0.9, GOOD)] * 10, *[(0.1, BAD)] * 30)
    # 4 / (1/10 + 1/30) = 30 answers, and t = 2.0227 of 39 degrees: 30 / (30 + t^2).
    assert told.estimates["balanced_accuracy"].low == pytest.approx(0.8800, abs=0.0005)


def test_few_independent_answers_have_the_interval_of_one_less() -> None:
    told = of(*[(0.9, GOOD)] * 8, *[(0.1, GOOD)] * 2)
    # The jackknife's variance of a share is p (1 - p) / (n - 1), so n is 9; t = 2.2622 of 9 degrees.
    middle, reach = 0.8 + 2.2622**2 / 18, 2.2622 * math.sqrt(0.16 / 9 + 2.2622**2 / 324)
    low, high = ((middle + each) / (1 + 2.2622**2 / 9) for each in (-reach, reach))
    assert told.estimates["tpr"].low == pytest.approx(low, abs=0.0005)
    assert told.estimates["tpr"].high == pytest.approx(high, abs=0.0005)


@pytest.mark.parametrize("rate", [pytest.param(0.8, marks=exhaustive), pytest.param(0.95, marks=exhaustive), 0.98])
@pytest.mark.parametrize(
    ("groups", "size", "shared"),
    [
        (60, 1, 0.0),
        (20, 3, 0.5),
        pytest.param(200, 1, 0.0, marks=exhaustive),
        pytest.param(60, 3, 0.5, marks=exhaustive),
    ],
)
def test_the_intervals_hold_their_level(rate: float, groups: int, size: int, shared: float) -> None:
    generator = random.Random(7)
    runs = 150
    hits = dict.fromkeys(["accuracy", "tpr", "tnr", "balanced_accuracy"], 0)
    for _ in range(runs):
        rows = []
        for group in range(groups):
            together = generator.random() < rate
            for number in range(size):
                right = together if generator.random() < shared else generator.random() < rate
                good = (group * size + number) % 2 == 0
                rows.append(Judged(score=float(right == good), good=good, group=str(group)))
        told = calibrate(rows, threshold=0.5).estimates
        for name in hits:
            hits[name] += told[name].low <= rate <= told[name].high
    # 95 % less three standard deviations of 150 runs is 89.7 %.
    assert min(hits.values()) >= 0.897 * runs, hits


judged_rows = st.lists(st.tuples(st.sampled_from([0.0, 0.25, 0.5, 0.7, 1.0]), st.booleans()), min_size=1, max_size=12)


@given(judged_rows)
def test_the_area_is_the_share_of_pairs_that_are_in_order(rows: list[tuple[float, bool]]) -> None:
    good = [score for score, is_good in rows if is_good]
    bad = [score for score, is_good in rows if not is_good]
    pairs = [(g > b) + (g == b) / 2 for g in good for b in bad]
    told = of(*rows)
    if not pairs:
        assert "roc_auc" not in told.estimates
    else:
        assert value(told, "roc_auc") == pytest.approx(sum(pairs) / len(pairs), abs=1e-12)
        # The area below the curve is the same number.
        points = told.curve
        area = sum((b.fpr - a.fpr) * (a.tpr + b.tpr) / 2 for a, b in pairwise(points))
        assert area == pytest.approx(value(told, "roc_auc"), abs=1e-12)


@given(judged_rows)
def test_every_number_is_in_its_range_and_in_its_interval(rows: list[tuple[float, bool]]) -> None:
    told = of(*rows)
    for name, estimate in told.estimates.items():
        assert estimate.low <= estimate.value <= estimate.high
        assert (-1 if name == "kappa" else 0) <= estimate.low <= estimate.high <= 1
    if told.at_best is not None and told.confusion.balanced_accuracy is not None:
        assert (told.at_best.balanced_accuracy or 0) >= told.confusion.balanced_accuracy


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
