"""How many requests the other side has room for, as far as its refusals tell."""

from __future__ import annotations

import math

_LARGEST_CUT = 0.5
"""What is left after the refusals of one round, at the least."""

_FIRST_GROWTH = 0.5
_LEAST_GROWTH = 1 / 16
"""Of one more request, for each full round of successes: a limit once found is run into ever more seldom."""


class Allowance:
    """
    A number of requests at once: refusals lower it, successes raise it.

    A refusal takes away the place of the request that was refused, so that as many are left as the other side had
    room for. Where other processes have requests there too, that says nothing, and the number is halved, by which
    they come to equal shares. It grows slowly up to where it was refused, more slowly each time that this is at the
    same number, and fast beyond.

    Args:
        most: What it starts from and never exceeds, >= 1.
        alone: Whether no other process of the run has requests there.
    """

    def __init__(self, most: int, *, alone: bool = True) -> None:
        self._most = most
        self._alone = alone
        self._allowed = float(most)
        self._least = 1.0
        self._refused_at = math.inf
        self._growth = _FIRST_GROWTH
        self._cut_at = -math.inf

    @property
    def number(self) -> int:
        """How many may run at once, >= 1."""
        return int(self._allowed)

    def refused(self, running: int, *, began: float, now: float) -> None:
        """
        Notes a refusal.

        Args:
            running: How many requests are under way, this one among them.
            began: When this one was sent, in seconds of any clock.
            now: The same clock's time.
        """
        # What was under way at the last cut tells of that, and is part of it.
        if began >= self._cut_at:
            self._cut_at = now
            self._least = max(1.0, self._allowed * _LARGEST_CUT)
            again = self.number == self._refused_at
            self._growth = max(_LEAST_GROWTH, self._growth / 2) if again else _FIRST_GROWTH
            self._refused_at = self.number
        if self._alone:
            self._allowed = max(self._least, min(self._allowed, running - 1.0))
            self._refused_at = self.number + 1
        else:
            self._allowed = self._least

    def served(self, running: int) -> None:
        """Notes a success; *running* as for `refused`."""
        if running < self.number:
            return  # whether there is room for more was not tried
        beyond = self._allowed >= self._refused_at + 1
        self._allowed = min(self._most, self._allowed + (1.0 if beyond else self._growth / self._allowed))
