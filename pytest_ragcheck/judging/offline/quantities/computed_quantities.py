"""Recognises results of two numbers or times: a sum, a product, a percentage, a time before another one."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice, permutations

from pytest_ragcheck.judging.offline.lazy import lazy
from pytest_ragcheck.judging.offline.quantities.quantity import NOON, Quantity

_MOST = 60
_HUNDRED, _DECIMALS = 100.0, 6
_SECONDS_OF_A_MINUTE, _MINUTES_OF_A_DAY = 60.0, 2 * NOON


class Operands:
    """
    Numbers and times from which others may follow.

    Args:
        numbers: The numbers, as `canonical_number` writes them; only the first 60 different ones count.
        quantities: Clock times, durations and shares in words, with the same limit.
    """

    def __init__(self, numbers: Iterable[str], quantities: Iterable[Quantity]) -> None:
        given = islice(dict.fromkeys((each.dimension, each.value, each.is_certain) for each in quantities), _MOST)
        times = list(given)
        self._values = [value for each in islice(dict.fromkeys(numbers), _MOST) if (value := _value(each)) is not None]
        self._values += [value for dimension, value, is_certain in times if dimension == "percent" and not is_certain]
        self._clocks = [value for dimension, value, _ in times if dimension == "clock"]
        self._minutes = [value / _SECONDS_OF_A_MINUTE for dimension, value, _ in times if dimension == "time"]

    @lazy
    def _results(self) -> frozenset[float]:
        # The results of one operation on two of the numbers, and each number divided by 100, as for a percentage.
        one_step = (
            (
                one + other,
                one - other,
                one * other,
                one * other / _HUNDRED,
                one / _HUNDRED,
                one / other if other else one,
            )
            for one, other in permutations(self._values, 2)
        )
        return frozenset(round(result, _DECIMALS) for results in one_step for result in results)

    def give(self, number: str) -> bool:
        """True if two numbers give *number*: 20 and 32 give 52, 25 (percent) and 80 give 20."""
        wanted = _value(number)
        return wanted is not None and round(wanted, _DECIMALS) in self._results

    def give_time(self, sought: Quantity) -> bool:
        """True for 19:15 after 20:00 and 45 minutes, and for 9 hours 45 minutes after 21:50 and 7:35."""
        if sought.dimension == "clock":
            return any(
                (clock + sign * minutes - sought.value) % _MINUTES_OF_A_DAY == 0
                for clock in self._clocks
                for minutes in self._minutes
                for sign in (1, -1)
            )
        wanted = sought.value / _SECONDS_OF_A_MINUTE
        return sought.dimension == "time" and any(
            (later - earlier - wanted) % _MINUTES_OF_A_DAY == 0 for earlier, later in permutations(self._clocks, 2)
        )


def _value(number: str) -> float | None:
    try:
        return float(number)
    except ValueError:  # a clock time, or a version such as 1.2.3
        return None
