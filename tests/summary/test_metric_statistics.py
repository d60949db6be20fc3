from __future__ import annotations

import math
import statistics

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_ragcheck.scores.score import Score
from pytest_ragcheck.summary.metric_statistics import metric_statistics, percentile

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
