"""Computes the interval of a rate."""

from __future__ import annotations

import math
from statistics import NormalDist

_Z = NormalDist().inv_cdf(0.975)


def wilson(share: float, n: float, *, z: float = _Z) -> tuple[float, float]:
    """
    Return the 95 % interval of a rate, both ends 0..1.

    Args:
        share: The rate, 0..1.
        n: The number of independent observations, > 0; need not be whole.
        z: The quantile of the interval.

    Source: Wilson (1927), without a correction for continuity.
    """
    centre = (share + z * z / (2 * n)) / (1 + z * z / n)
    reach = z / (1 + z * z / n) * math.sqrt(share * (1 - share) / n + z * z / (4 * n * n))
    return max(0.0, min(share, centre - reach)), min(1.0, max(share, centre + reach))
