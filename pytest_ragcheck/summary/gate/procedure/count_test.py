"""Tests by the numbers of broken and improved questions whether a run is worse than its saved runs."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Sequence
from functools import cache

from pytest_ragcheck.frozen import frozen

_MOST_IMPROVED = 3
"""Most improved units for which a lower critical value is searched."""

_FLOOR_SHARE, _FLOOR_DEVIATIONS = 0.2, 3
"""The floor: red if broken minus improved questions exceed a fifth of all, and 3 standard deviations."""

_EXACT = 1e-12
"""Tolerance for rounding errors of sums."""


@frozen
class CountFinding:
    known_runs: int
    """The fewest saved runs of a unit that broke in exactly one run, else the median of all questions; >= 1."""

    unit: str
    """`question`, or `document` if the noise is shared within documents."""

    n_units: int
    broken: int
    """Units that broke today and in no saved run."""

    improved: int
    """Units that broke in exactly one saved run and not today."""

    needed: int | None
    """Broken units that turn the run red, given `improved`; None if fewer passed in all saved runs."""

    p: float
    """Chance of as large a share of broken units if today is a run like the saved ones, 0..1."""

    red: bool
    floor: int | None
    """
    Number of broken questions that turns the run red without a test; None if fewer passed in the latest saved run.
    Questions are counted one by one here, even if documents are the units.
    """

    floor_red: bool


def binomial_p(broken: int, improved: int, known_runs: int) -> float:
    """
    The chance of at least *broken* of `broken + improved` units, if each broke in a random run.

    Source: the exact conditional test of a binomial share of 1 / (known_runs + 1).
    """
    n, share = broken + improved, 1 / (known_runs + 1)
    return min(1.0, math.fsum(_chance(n, k, share) for k in range(broken, n + 1)))


def mixed_p(broken: int, known_runs: Sequence[int]) -> float:
    """
    The chance of at least *broken* units, if each broke in a random one of its own runs.

    *known_runs* has the number of saved runs, >= 1, of each unit that broke in exactly one run.

    Source: the Poisson binomial distribution, computed by adding one unit at a time.
    """
    chances = [1.0]
    for runs in known_runs:
        chances = [(runs * no + yes) / (runs + 1) for no, yes in zip([*chances, 0.0], [0.0, *chances], strict=True)]
    return min(1.0, math.fsum(chances[broken:]))


def critical_value(known_runs: int, improved: int, level: float) -> int:
    """
    The least number of broken units that is red, given the number of improved ones.

    *known_runs* is >= 1. *improved* units, >= 0, broke in exactly one saved run. *level* is the chance of a red run if
    nothing changed, 0..1.

    Source: an unconditional exact test in the sense of Barnard (1945).
    """
    # If nothing changed, a unit that breaks in exactly one of the `known_runs + 1` runs is as likely to break in each.
    # From the critical value on, `binomial_p` is at most *level*. For few improved units the value is lower, as long as
    # the whole test is red with at most that chance for any rates at which units break.
    lowered = _lowered(known_runs, level)
    return lowered[improved] if improved < len(lowered) else _conditional(known_runs, improved, level)


def floor_value(improved: int, questions: int) -> int:
    """
    The least number of newly broken questions that is red without a test, among all compared *questions*.

    *improved* is the number of questions that failed in the latest saved run and pass today.

    Source: McNemar (1947), with 3 standard deviations. For independent questions at most 0.13 % of unchanged runs are
    red.
    """
    # (b - i)^2 >= 9 (b + i), solved for the difference b - i.
    squared = _FLOOR_DEVIATIONS**2
    deviations = (squared + math.sqrt(squared**2 + 8 * squared * improved)) / 2
    return improved + math.ceil(max(_FLOOR_SHARE * questions, deviations) - _EXACT * questions)


def holds_level(critical: tuple[int, ...], known_runs: int, level: float) -> bool:
    """
    True if the test is red with a chance of at most *level*, 0..1, for all rates of breaking.

    *critical* has the critical value by number of improved units; for larger numbers the conditional test, of the same
    level, decides. *known_runs* is >= 1.
    """
    # The chance of red is linear in each unit's chance to break in exactly one run, so it is the largest where some
    # units have the highest such chance and the others none. Larger totals are decided by the conditional test, which
    # holds the level.
    totals = _conditional(known_runs, _MOST_IMPROVED, level) + _MOST_IMPROVED
    above = [_red_share(n, critical, known_runs, level) - level for n in range(totals)]
    likeliest = (known_runs / (known_runs + 1)) ** known_runs
    return all(
        math.fsum(_chance(units, n, likeliest) * above[n] for n in range(min(units + 1, totals))) <= _EXACT * level
        for units in range(1, 4 * totals)
    )


@cache
def _lowered(known_runs: int, level: float) -> tuple[int, ...]:
    # The critical values for 0, 1, ... improved units, each as low as the level of the whole test permits.
    critical: tuple[int, ...] = ()
    for improved in range(_MOST_IMPROVED):
        value = _conditional(known_runs, improved, level)
        while value > 1 and holds_level((*critical, value - 1), known_runs, level):
            value -= 1
        critical = (*critical, value)
    return critical


@cache
def _conditional(known_runs: int, improved: int, level: float) -> int:
    most = 1
    while binomial_p(most, improved, known_runs) > level:
        most *= 2
    return bisect_left(range(most), -level, key=lambda value: -binomial_p(value, improved, known_runs))


@cache
def _red_share(n: int, critical: tuple[int, ...], known_runs: int, level: float) -> float:
    # The chance of a red run given that *n* units broke in exactly one run.
    share = 1 / (known_runs + 1)
    return math.fsum(
        _chance(n, broken, share)
        for broken in range(1, n + 1)
        if broken
        >= (critical[n - broken] if n - broken < len(critical) else _conditional(known_runs, n - broken, level))
    )


def _chance(n: int, k: int, share: float) -> float:
    # The chance of exactly *k* of *n*, by logarithms: the coefficient of 1,100 is too large for a float.
    ways = math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1)
    return math.exp(ways + k * math.log(share) + (n - k) * math.log1p(-share))
