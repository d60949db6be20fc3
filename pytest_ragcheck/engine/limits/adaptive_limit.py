"""Finds the number of requests at once that a server accepts, from its refusals."""

from __future__ import annotations

import math
from dataclasses import dataclass

_LARGEST_CUT = 0.5
"""Least share of the limit that remains after the refusals of one round."""

_FIRST_GROWTH = 0.5
_LEAST_GROWTH = 1 / 16
"""Growth of the limit for a full round of successes, in requests."""

_UNHELPFUL_CUTS = 3
"""Refusals below an accepted level that show that refusals do not depend on the number of requests."""

_CHANCE = 0.005
"""A row of refusals that is less likely than this by chance is an overload."""

_RECOVERED = 8.0
"""Random refusals have ended if this many were to be expected since the last one."""


@dataclass(slots=True)
class AdaptiveLimit:
    """
    A limit that refusals lower and successes raise.

    A refusal takes away the slot of the refused request, so that the number left is the number that was accepted. The
    limit grows by a part of a request per round trip up to the last refused level, more slowly each time that this
    level repeats, and exponentially above it.

    Some servers refuse a share of requests at any level. A lower limit does not help there, so refusals at that share
    have no effect, except a row of refusals that chance does not explain.

    Times are seconds of the event loop's clock, which all processes of the machine share.
    """

    most: float
    """The initial limit, which is never exceeded; >= 1."""

    allowed: float
    least: float = 1.0
    refused_at: float = math.inf
    """The level of the last refusal."""

    growth: float = _FIRST_GROWTH
    cut_at: float = -math.inf
    refused_since: float = math.inf
    """The first refusal of a request that ran alone, with no success since."""

    refused_alone: float = 0.0
    """Refusals of lone requests since `refused_since`."""

    served_at: float = -math.inf
    """The last success, noted while the limit is lowered."""

    started_at: float = -math.inf
    """The start of the last request, noted with a delay between requests."""

    share: float = 0.0
    """The share of requests that are refused at any level, 0..1; 0.0 while refusals seem to depend on the level."""

    unhelpful: float = 0.0
    """Cuts that did not help: refusals below the last refused level that follow a full round of successes."""

    n_served: float = 0.0
    n_refused: float = 0.0
    """Successes and refusals since the first of these cuts."""

    refused_in_row: float = 0.0
    served_in_row: float = 0.0

    @property
    def number(self) -> int:
        return int(self.allowed)  # requests at once, >= 1

    @property
    def is_lowered(self) -> bool:
        """True while refusals have an effect."""
        return self.allowed < self.most or self.refused_since < math.inf or self.share > 0

    @property
    def is_chance(self) -> bool:
        """True if chance explains the refusals since the last success."""
        chance: float = self.share**self.refused_in_row
        return chance >= _CHANCE

    def refused(self, running: int, *, began: float, now: float) -> None:
        """Note a refusal of the request that started at *began*; *running* includes this request."""
        served, self.served_in_row = self.served_in_row, 0.0
        self.refused_in_row += 1
        self.n_refused += 1
        if self.is_chance:
            return
        # A request that was under way at the last cut belongs to that cut.
        if began >= self.cut_at:
            if self._cuts_do_not_help(served):
                return
            self.cut_at = now
            self.least = max(1.0, self.allowed * _LARGEST_CUT)
            again = self.number == self.refused_at
            self.growth = max(_LEAST_GROWTH, self.growth / 2) if again else _FIRST_GROWTH
        self.allowed = max(self.least, min(self.allowed, running - 1.0))
        self.refused_at = self.number + 1

    def served(self, running: int, *, now: float) -> None:
        """Note a success; *running* is the number of requests under way."""
        self.served_at = now
        self.refused_in_row = 0.0
        self.served_in_row += 1
        self.n_served += 1
        if self.share * self.served_in_row > _RECOVERED:
            self.share = 0.0
        self.refused_since, self.refused_alone = math.inf, 0.0
        if running < self.number:
            return  # more requests at once were not tried
        beyond = self.allowed >= self.refused_at + 1
        self.allowed = min(self.most, self.allowed + (1.0 if beyond else self.growth / self.allowed))

    def _cuts_do_not_help(self, served: float) -> bool:
        # True if the refusal, after *served* successes in a row, shows that cuts do not help.
        if self.number >= self.refused_at:
            self.unhelpful = max(0.0, self.unhelpful - 1)
        elif served >= self.number:
            if not self.unhelpful:
                self.n_served, self.n_refused = 0.0, 1.0
            self.unhelpful += 1
        if self.unhelpful < _UNHELPFUL_CUTS:
            return False
        self.share = self.n_refused / (self.n_refused + self.n_served)
        self.unhelpful = 0.0
        self.refused_at = 0.0
        return True
