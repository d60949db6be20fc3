"""How many broken questions are more than chance, if today is a run like the saved ones."""

from __future__ import annotations

import math
from bisect import bisect_left
from functools import cache

_MOST_IMPROVED = 3
"""Up to so many improved units the critical value is lowered as far as the bound permits."""

_RATES = tuple(0.25 * 1.12**step for step in range(60))
"""Expected numbers of broken and improved units, 0.25 to 200, over which the bound is taken."""


def binomial_p(broken: int, improved: int, known_runs: int) -> float:
    """
    Chance of at least *broken* of all `broken + improved` units, if each broke in a random one of the runs.

    Source: the exact conditional test of a binomial share of 1 / (known_runs + 1).
    """
    n, share = broken + improved, 1 / (known_runs + 1)
    return min(1.0, math.fsum(_chance(n, k, share) for k in range(broken, n + 1)))


def critical_value(known_runs: int, improved: int, level: float) -> int:
    """
    The least number of broken units that is red beside so many improved ones.

    A unit that breaks by the day does so in any of the `known_runs + 1` runs alike, so that the number of units that
    broke in exactly one run is all that noise decides. `binomial_p` is at most *level* from this value on, or, for few
    improved units, the whole procedure is red with a chance of at most *level* whatever the rates of breaking are.

    Args:
        known_runs: >= 1.
        improved: Units that broke in exactly one saved run, >= 0.
        level: Chance of a red run if nothing changed, 0..1.

    Source: an unconditional exact test in the sense of Barnard (1945).
    """
    lowered = _lowered(known_runs, level)
    return lowered[improved] if improved < len(lowered) else _conditional(known_runs, improved, level)


def worst_chance(critical: tuple[int, ...], known_runs: int, level: float) -> float:
    """
    The highest chance of a red run if nothing changed, over all numbers of units and all rates of breaking.

    Args:
        critical: Critical value by number of improved units; from there on the conditional test decides.
        known_runs: >= 1.
        level: Of the conditional test, 0..1.
    """
    red = [_red_share(n, critical, known_runs, level) for n in range(_most(known_runs, level))]
    # A unit breaks in exactly one run with a chance of at most this, whatever its rate.
    likeliest = (known_runs / (known_runs + 1)) ** known_runs
    worst = max(math.fsum(map(math.prod, zip(_poisson(rate, len(red)), red, strict=True))) for rate in _RATES)
    for units in range(1, 100):
        chances = _binomial(units, likeliest, len(red))
        worst = max(worst, math.fsum(map(math.prod, zip(chances, red, strict=True))))
    return worst


@cache
def _lowered(known_runs: int, level: float) -> tuple[int, ...]:
    """Critical values from 0 improved units on, each as low as the bound on the whole procedure permits."""
    critical: tuple[int, ...] = ()
    for improved in range(_MOST_IMPROVED):
        value = _conditional(known_runs, improved, level)
        while value > 1 and worst_chance((*critical, value - 1), known_runs, level) <= level:
            value -= 1
        critical = (*critical, value)
    return critical


@cache
def _conditional(known_runs: int, improved: int, level: float) -> int:
    most = 1
    while binomial_p(most, improved, known_runs) > level:
        most *= 2
    return bisect_left(range(most), -level, key=lambda value: -binomial_p(value, improved, known_runs))


def _most(known_runs: int, level: float) -> int:
    """Totals from here on are decided by the conditional test, and red with a chance of at most the level."""
    return _conditional(known_runs, _MOST_IMPROVED, level) + _MOST_IMPROVED + 40


@cache
def _red_share(n: int, critical: tuple[int, ...], known_runs: int, level: float) -> float:
    """Chance of a red run given that *n* units broke in exactly one run."""
    share = 1 / (known_runs + 1)
    return math.fsum(
        _chance(n, broken, share)
        for broken in range(1, n + 1)
        if broken
        >= (critical[n - broken] if n - broken < len(critical) else _conditional(known_runs, n - broken, level))
    )


@cache
def _poisson(rate: float, n: int) -> tuple[float, ...]:
    return tuple(math.exp(k * math.log(rate) - rate - math.lgamma(k + 1)) for k in range(n))


@cache
def _binomial(units: int, share: float, n: int) -> tuple[float, ...]:
    return tuple(_chance(units, k, share) if k <= units else 0.0 for k in range(n))


def _chance(n: int, k: int, share: float) -> float:
    """Chance of exactly *k* of *n*; by logarithms, as the binomial coefficient of 1,100 is too large for a float."""
    ways = math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1)
    return math.exp(ways + k * math.log(share) + (n - k) * math.log1p(-share))
