"""Computes the interval of a rate."""

from __future__ import annotations

import math
from statistics import NormalDist


def wilson(successes: int, n: int) -> tuple[float, float]:
    """
    Return the 95 % interval of a rate, both ends 0..1.

    Args:
        successes: 0 <= successes <= n.
        n: >= 1.

    Source: Wilson (1927), without a correction for continuity.
    """
    z = NormalDist().inv_cdf(0.975)
    rate = successes / n
    centre = (rate + z * z / (2 * n)) / (1 + z * z / n)
    reach = z / (1 + z * z / n) * math.sqrt(rate * (1 - rate) / n + z * z / (4 * n * n))
    return max(0.0, min(rate, centre - reach)), min(1.0, max(rate, centre + reach))
