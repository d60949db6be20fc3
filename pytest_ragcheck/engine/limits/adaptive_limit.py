"""Finds the number of requests at once that a server accepts, from its refusals."""

from __future__ import annotations

import math
from dataclasses import dataclass

_LARGEST_CUT = 0.5
"""Least share of the limit that remains after the refusals of one round."""

_FIRST_GROWTH = 0.5
_LEAST_GROWTH = 1 / 16
"""Growth of the limit for a full round of successes, in requests."""


@dataclass(slots=True)
class AdaptiveLimit:
    """
    A limit that refusals lower and successes raise.

    A refusal takes away the slot of the refused request, so that the number left is the number that was accepted. The
    limit grows by a part of a request per round trip up to the last refused level, more slowly each time that this
    level repeats, and exponentially above it.

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

    @property
    def number(self) -> int:
        """Requests that may run at once, >= 1."""
        return int(self.allowed)

    @property
    def is_lowered(self) -> bool:
        """True while refusals have an effect."""
        return self.allowed < self.most or self.refused_since < math.inf

    def refused(self, running: int, *, began: float, now: float) -> None:
        """
        Note a refusal.

        Args:
            running: Requests under way, including this one.
            began: Start of this request.
            now: The current time.
        """
        # A request that was under way at the last cut belongs to that cut.
        if began >= self.cut_at:
            self.cut_at = now
            self.least = max(1.0, self.allowed * _LARGEST_CUT)
            again = self.number == self.refused_at
            self.growth = max(_LEAST_GROWTH, self.growth / 2) if again else _FIRST_GROWTH
        self.allowed = max(self.least, min(self.allowed, running - 1.0))
        self.refused_at = self.number + 1

    def served(self, running: int, *, now: float) -> None:
        """Note a success; *running* is the number of requests under way."""
        self.served_at = now
        self.refused_since, self.refused_alone = math.inf, 0.0
        if running < self.number:
            return  # more requests at once were not tried
        beyond = self.allowed >= self.refused_at + 1
        self.allowed = min(self.most, self.allowed + (1.0 if beyond else self.growth / self.allowed))
