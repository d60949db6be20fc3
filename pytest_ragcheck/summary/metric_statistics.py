"""Computes mean, spread and percentiles of a metric."""

from __future__ import annotations

import math
from collections.abc import Sequence

from pytest_ragcheck.frozen import frozen
from pytest_ragcheck.scores.score import Score


@frozen
class MetricStatistics:
    mean: float
    min: float
    max: float
    std: float
    """Population deviation (ddof 0); 0.0 for one value."""

    n_scored: int
    """The number of values behind the mean, >= 1."""

    n_unscored: int
    """The number of values that could not be measured."""


def metric_statistics(scores: Sequence[Score]) -> MetricStatistics | None:
    """The statistics of the measured values; None without any, since an empty mean is not 0."""
    values = [score.value for score in scores if score.value is not None]
    if not values:
        return None
    mean = math.fsum(values) / len(values)
    return MetricStatistics(
        # Rounding can push the mean of equal numbers out of their range.
        mean=min(max(mean, min(values)), max(values)),
        min=min(values),
        max=max(values),
        std=math.sqrt(math.fsum((value - mean) ** 2 for value in values) / len(values)),
        n_scored=len(values),
        n_unscored=len(scores) - len(values),
    )


def percentile(values: Sequence[float], percent: float) -> float:
    """
    The value below which *percent* of the values lie, interpolated linearly.

    *percent* is 0..100. There is at least one value, in any order.

    Source: Hyndman and Fan (1996), definition 7, the default of NumPy and of spreadsheets.
    """
    ordered = sorted(values)
    position = (len(ordered) - 1) * percent / 100
    below = math.floor(position)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (ordered[above] - ordered[below]) * (position - below)
