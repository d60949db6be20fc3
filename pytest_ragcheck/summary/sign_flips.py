"""Is a drop more than chance? Tests over paired differences, and a correction for making several of them."""

from __future__ import annotations

import math
from statistics import NormalDist
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_MOST_EXACT = 500
"""Units up to which all signs are counted out: 500 take 20 ms, and their sum is normal to three digits."""

_STEPS = 2048
"""Into how many steps the sum of all differences is divided; what is rounded is below a two-thousandth of it."""

_POWER = 0.8


def drop_p(differences: Sequence[float]) -> float:
    """
    The chance of a sum at most as high as this one, were each difference as likely to have the other sign; 0..1.

    Of differences of -1 and 1 it is the exact one-sided test of McNemar.

    Args:
        differences: After less before, one for each unit that is independent of the others.

    Source: Fisher (1935), the paired permutation test; all signs are counted by the algorithm of Pagano and Tritchler
    (1983), over differences rounded to one grid. Above 500 units by the normal distribution.
    """
    total = math.fsum(abs(each) for each in differences)
    if not total:
        return 1.0
    if len(differences) > _MOST_EXACT:
        return NormalDist().cdf(math.fsum(differences) / math.sqrt(math.fsum(each**2 for each in differences)))
    whole = total <= _STEPS and all(each == round(each) for each in differences)
    grid = 1.0 if whole else total / _STEPS
    steps = [round(each / grid) for each in differences]
    down = -sum(step for step in steps if step < 0)
    sizes = [abs(step) for step in steps if step]
    # One number holds how many choices of signs come to each sum, a cell of so many bits for every sum.
    width = len(sizes) + 1
    counts = 1
    for size in sizes:
        counts += counts << size * width
    # A number is congruent to the sum of its digits, modulo its base less 1.
    as_low = (counts >> down * width) % ((1 << width) - 1) if sizes else 1
    return as_low / (1 << len(sizes))


def holm(p_values: Mapping[str, float], error_rate: float) -> dict[str, bool]:
    """
    Which of several tests are significant, so that any is in *error_rate* of cases at most where nothing changed.

    Source: Holm (1979). It holds however the tests depend on each other.
    """
    significant: dict[str, bool] = dict.fromkeys(p_values, False)
    for rank, name in enumerate(sorted(p_values, key=lambda name: p_values[name])):
        if p_values[name] > error_rate / (len(p_values) - rank):
            break
        significant[name] = True
    return significant


def wilson(successes: int, n: int) -> tuple[float, float]:
    """
    The interval of a rate at 95 %, both ends 0..1.

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


def detectable_drop(differences: Sequence[float], n: int, error_rate: float) -> float | None:
    """
    The drop of a mean that would be significant in 80 of 100 such runs; None where nothing varies.

    Args:
        differences: One for each independent unit, summed over its questions.
        n: How many questions they are of, >= 1.
        error_rate: At which the drop is tested, one-sided.

    Source: the power of the paired test by the normal distribution, of differences as wide as these.
    """
    units = len(differences)
    if units < 2:
        return None
    mean = math.fsum(differences) / units
    deviation = math.sqrt(math.fsum((each - mean) ** 2 for each in differences) / (units - 1))
    if not deviation:
        return None
    reach = NormalDist().inv_cdf(1 - error_rate) + NormalDist().inv_cdf(_POWER)
    return reach * deviation * math.sqrt(units) / n
