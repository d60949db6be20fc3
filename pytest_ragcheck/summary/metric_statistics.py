"""Computes mean, spread and percentiles of a metric, and intervals of means, of rates and of differences of rates."""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import NormalDist, stdev

from pytest_ragcheck.frozen import frozen
from pytest_ragcheck.scores import Score


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
    """The number of unmeasured values."""


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


_Z = NormalDist().inv_cdf(0.975)


def mean_interval(values: Sequence[float]) -> tuple[float, float]:
    """
    The 95 % interval of a mean; both ends are the value itself if there is only one.

    Source: Student (1908), the t interval.
    """
    n = len(values)
    mean = math.fsum(values) / n
    if n == 1:
        return mean, mean
    reach = student_quantile(0.975, n - 1) * stdev(values) / math.sqrt(n)
    return mean - reach, mean + reach


def wilson(share: float, n: float, *, z: float = _Z) -> tuple[float, float]:
    """
    The 95 % interval of a rate, both ends 0..1.

    *share* is the rate, 0..1. *n* is the number of independent observations, > 0; it need not be whole. *z* is the
    quantile of the interval.

    Source: Wilson (1927), without a correction for continuity.
    """
    centre = (share + z * z / (2 * n)) / (1 + z * z / n)
    reach = z / (1 + z * z / n) * math.sqrt(share * (1 - share) / n + z * z / (4 * n * n))
    return max(0.0, min(share, centre - reach)), min(1.0, max(share, centre + reach))


def rate_difference_interval(up: int, down: int, n: int) -> tuple[float, float]:
    """
    The 95 % interval of the difference of two shares; both ends are the difference itself if *n* is 1.

    *up* questions are in the second alone and *down* in the first alone, both >= 0, of *n* in all, >= 1.

    Source: Agresti and Min (2005), the Wald interval with half an observation added to each of the four cells. Unlike
    the plain Wald interval, it holds its level in small samples.
    """
    value = (up - down) / n
    if n == 1:
        return value, value
    n_more, up_more, down_more = n + 2, up + 0.5, down + 0.5
    centre = (up_more - down_more) / n_more
    variance = (up_more + down_more - (up_more - down_more) ** 2 / n_more) / n_more**2
    reach = _Z * math.sqrt(variance)
    return max(-1.0, min(value, centre - reach)), min(1.0, max(value, centre + reach))


def student_quantile(share: float, degrees: int) -> float:
    """
    The value below which *share* of Student's distribution lies.

    *share* is above 0.5 and below 1. There is at least one degree of freedom.

    Source: exact for 1 and 2 degrees; else Abramowitz and Stegun (1964), 26.7.5, four terms, at 0.975 within 0.004 of
    the exact value for 3 degrees and within 0.0001 from 7 on.
    """
    if degrees == 1:
        return math.tan(math.pi * (share - 0.5))
    if degrees == 2:
        a = 4 * share * (1 - share)
        return 2 * (share - 0.5) * math.sqrt(2 / a)
    z = NormalDist().inv_cdf(share)
    terms = (
        (z**3 + z) / 4,
        (5 * z**5 + 16 * z**3 + 3 * z) / 96,
        (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384,
        (79 * z**9 + 776 * z**7 + 1482 * z**5 - 1920 * z**3 - 945 * z) / 92160,
    )
    return z + math.fsum(term / float(degrees) ** power for power, term in enumerate(terms, start=1))
