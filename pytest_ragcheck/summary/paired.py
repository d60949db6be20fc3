"""Differences between two systems over the same questions, with intervals."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """A paired difference of two systems."""

    value: float
    low: float
    """Lower end of the 95 % interval; equal to `value` for a single question."""

    high: float
    n: int
    """The number of questions that both have, >= 1."""

    p: float = 1.0
    """Chance of a difference at least as high in its direction between equal systems, by the gate's test, 0..1."""

    significant: bool = False
    """True if the gate's test finds it significant in this direction."""


def mean_difference(before: Sequence[float], after: Sequence[float]) -> Difference:
    """
    Return the mean of `after - before`.

    Args:
        before: At least one value, by question.
        after: As many, of the same questions in the same order.

    Source: Student (1908), the paired t interval.
    """
    differences = [b - a for a, b in zip(before, after, strict=True)]
    low, high = mean_interval(differences)
    return Difference(value=math.fsum(differences) / len(differences), low=low, high=high, n=len(differences))


def mean_interval(values: Sequence[float]) -> tuple[float, float]:
    """
    Return the 95 % interval of a mean; both ends are the value itself if there is only one.

    Source: Student (1908), the t interval.
    """
    n = len(values)
    mean = math.fsum(values) / n
    if n == 1:
        return mean, mean
    deviation = math.sqrt(math.fsum((each - mean) ** 2 for each in values) / (n - 1))
    reach = student_quantile(0.975, n - 1) * deviation / math.sqrt(n)
    return mean - reach, mean + reach


def rate_difference(before: Sequence[bool], after: Sequence[bool]) -> Difference:
    """
    Return the difference of the shares of True, after minus before.

    Args:
        before: At least one, by question.
        after: As many, of the same questions in the same order.

    Source: Agresti and Min (2005), the Wald interval with half an observation added to each of the four cells: it
    holds its level in small samples, where that of the plain Wald interval is too short.
    """
    pairs = list(zip(before, after, strict=True))
    n = len(pairs)
    up, down = pairs.count((False, True)), pairs.count((True, False))
    value = (up - down) / n
    if n == 1:
        return Difference(value=value, low=value, high=value, n=1)
    n_more, up_more, down_more = n + 2, up + 0.5, down + 0.5
    centre = (up_more - down_more) / n_more
    variance = (up_more + down_more - (up_more - down_more) ** 2 / n_more) / n_more**2
    reach = NormalDist().inv_cdf(0.975) * math.sqrt(variance)
    return Difference(
        value=value, low=max(-1.0, min(value, centre - reach)), high=min(1.0, max(value, centre + reach)), n=n
    )


def student_quantile(share: float, degrees: int) -> float:
    """
    Return the value below which *share* of Student's distribution lies.

    Args:
        share: 0.5 < share < 1.
        degrees: Degrees of freedom, >= 1.

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
