"""Questions that always passed and now always fail: how likely that is of questions that did not change."""

from __future__ import annotations

import math
from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

Key = TypeVar("Key")

STABLE_LOOKS = 3
"""How often the baseline has to have looked at a question for it to count among several: one pass shows nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Streak:
    """What one question would do if it broke: pass each time that the baseline looked, and fail each time now."""

    unit: int
    """Questions of one unit are not independent of each other."""

    before: int
    """How often the baseline looked at it, whatever it saw; >= 0."""

    now: int
    """How often this run looks at it if it fails, >= 1."""

    broke: bool
    """Whether it did so."""

    @property
    def bound(self) -> float:
        """The most likely that it can be with nothing changed, 0..1."""
        return streak_bound(self.before, self.now)

    @property
    def well_known(self) -> bool:
        """Whether the baseline looked at it often enough for it to count among several."""
        return self.before >= STABLE_LOOKS


def streak_bound(passes: int, fails: int) -> float:
    """
    The most likely that any question with one unchanged rate of passing can be to pass so often and then fail so often.

    Args:
        passes: How often it passed, and never failed, before; >= 0.
        fails: How often it failed, and never passed, now; >= 0.

    Source: the maximum of p^passes (1 - p)^fails, which is at p = passes / (passes + fails).
    """
    share = passes / (passes + fails) if fails else 1.0
    return share**passes * (1 - share) ** fails


def alone_p(streaks: Iterable[Streak]) -> Mapping[float, float]:
    """
    By a question's bound the chance that any question with this bound, or a lower one, breaks with nothing changed.

    Source: the inequality of Boole, however the questions depend on each other. By how often each was looked at, which
    no outcome changes, the questions stand in one order, so that this is at most *p* in *p* of all runs.
    """
    chances: dict[float, float] = defaultdict(float)
    for streak in streaks:
        chances[streak.bound] += streak.bound
    so_far = 0.0
    for bound in sorted(chances):
        so_far = chances[bound] = min(1.0, so_far + chances[bound])
    return chances


def together_p(streaks: Iterable[Streak]) -> float:
    """
    The chance that so many units of well-known questions break with nothing changed, 0..1; 1.0 where none does.

    Source: the Poisson binomial distribution, Poisson (1837), of independent units each at its bound.
    """
    bounds, broken = _by_unit(streaks)
    return _at_least(len(broken), list(bounds.values()))


def clearly_broken(streaks: Mapping[Key, Streak], *, level: float, several: bool) -> set[Key]:
    """
    Those that broke and are known not to by chance.

    Args:
        streaks: By any key.
        level: Of a single question, 0..1.
        several: Whether so many of the well-known ones broke that chance is out.
    """
    alone = alone_p(streaks.values())
    return {
        key
        for key, streak in streaks.items()
        if streak.broke and (alone[streak.bound] <= level or (several and streak.well_known))
    }


def can_be_seen(streaks: Sequence[Streak], error_rate: float) -> tuple[bool, bool]:
    """Whether a single question, and whether several together, could at all be as unlikely as *error_rate*."""
    bounds, _ = _by_unit(streaks)
    return (
        min(alone_p(streaks).values(), default=1.0) <= error_rate,
        bool(bounds) and math.prod(bounds.values()) <= error_rate,
    )


def _by_unit(streaks: Iterable[Streak]) -> tuple[dict[int, float], set[int]]:
    """Of the well-known questions the bound of each unit, and the units of which one broke."""
    bounds: dict[int, float] = defaultdict(float)
    broken = set()
    for streak in streaks:
        if streak.well_known:
            bounds[streak.unit] = min(1.0, bounds[streak.unit] + streak.bound)
            if streak.broke:
                broken.add(streak.unit)
    return bounds, broken


def _at_least(count: int, chances: Iterable[float]) -> float:
    """The chance that *count* or more of independent events happen."""
    if not count:
        return 1.0
    # By how many happen, up to one less than that.
    fewer = [1.0] + [0.0] * (count - 1)
    for chance in chances:
        for happen in range(count - 1, 0, -1):
            fewer[happen] += (fewer[happen - 1] - fewer[happen]) * chance
        fewer[0] *= 1 - chance
    return max(0.0, 1.0 - math.fsum(fewer))
