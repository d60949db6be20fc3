from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import NormalDist

_DECIMALS = 1_000_000
"""Scores are rounded to six decimals, as in the files, so that equal sums compare equal."""

_CELLS = 8192
"""Most cells; larger sums are rounded to fit."""

_WIDTH, _DROPPED = 192, 64
"""Most bits of a counter, and the lowest ones dropped before an overflow: less than 1e-20 of the total."""

_CLEAR = 0.05
"""Above this p the normal distribution is used, because no decision depends on the exact value."""

_FEW = 30


def lower_sum_p(units: Sequence[Sequence[float]]) -> float:
    """
    The chance, 0..1, of a sum as low as the sum of the first values if each unit were in random order.

    The units are independent; each has the value of today first, then those of the saved runs. With two values in each
    unit this is the paired permutation test.

    Source: Fisher (1935); all choices are counted by the algorithm of Pagano and Tritchler (1983). Equal sums count as
    low. Above 8,192 distinct sums the values are rounded to a grid, with two standard deviations of the rounding added,
    so that p gets no smaller.
    """
    whole = [[round(value * _DECIMALS) for value in unit] for unit in units]
    above = [[value - min(unit) for value in unit] for unit in whole if len(set(unit)) > 1]
    if not above:
        return 1.0
    if len(above) > _FEW and (p := _normal_p(above)) > _CLEAR:
        return p
    step = math.gcd(*(value for unit in above for value in unit))
    total = sum(map(max, above))
    slack = 0
    if total > step * _CELLS:
        step = math.ceil(total / _CELLS)
        slack = math.ceil(2 * math.sqrt(len(above) / 6))
    steps = [[(value + step // 2) // step for value in unit] for unit in above]
    return _share_at_most(steps, sum(unit[0] for unit in steps) + slack)


def _share_at_most(units: Sequence[Sequence[int]], most: int) -> float:
    # The share of all choices of one value from each unit whose sum is at most the limit.
    width = min(_WIDTH, math.prod(map(len, units)).bit_length() + 1)
    cells = (1 << (most + 1) * width) - 1
    upper_bits = cells // ((1 << width) - 1) * ((1 << max(0, width - _DROPPED)) - 1)
    # One integer holds the number of choices for each sum, in a cell of fixed width for each sum.
    counts = choices = 1
    dropped = 0
    for unit in units:
        counts = sum(counts << value * width for value in unit) & cells
        choices *= len(unit)
        if choices.bit_length() - dropped > _WIDTH - _DROPPED // 2:
            counts = counts >> _DROPPED & upper_bits
            dropped += _DROPPED
    # A number is congruent to its digit sum modulo its base minus 1. The choice of today is always counted.
    return (max(1, counts % ((1 << width) - 1)) << dropped) / choices


def _normal_p(units: Sequence[Sequence[int]]) -> float:
    means = [sum(unit) / len(unit) for unit in units]
    variance = sum((value - mean) ** 2 / len(unit) for unit, mean in zip(units, means, strict=True) for value in unit)
    return NormalDist(sum(means), math.sqrt(variance)).cdf(sum(unit[0] for unit in units))
