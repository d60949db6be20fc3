"""Recognises a number that one step of arithmetic gives: a sum, a difference, a product, a quotient or a percentage."""

from __future__ import annotations

from itertools import permutations
from math import isclose
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_MOST_OPERANDS = 60
_HUNDRED = 100.0
_MINUTES_OF_AN_HOUR, _MINUTES_OF_A_DAY = 60, 1440


def is_computed(number: str, operands: Iterable[str]) -> bool:
    """
    True if two of *operands* give *number*: 20 and 32 give 52, 25 (percent) and 80 give 20, 20:00 and 45 give 19:15.

    Args:
        number: The number or clock time, as `canonical_number` writes it.
        operands: Numbers and clock times; those after the first 60 different ones are left out.
    """
    given = list(dict.fromkeys(operands))[:_MOST_OPERANDS]
    clocks = [minutes for each in given if (minutes := _minutes(each)) is not None]
    values = [value for each in given if (value := _value(each)) is not None]
    if ":" in number:
        sought = _minutes(number)
        return sought is not None and any(
            (clock + step - sought) % _MINUTES_OF_A_DAY == 0
            for clock in clocks
            for value in values
            for step in (value, -value, _MINUTES_OF_AN_HOUR * value, -_MINUTES_OF_AN_HOUR * value)
        )
    wanted = _value(number)
    if wanted is None:
        return False
    results = (result for one, other in permutations(values, 2) for result in _results(one, other))
    return any(isclose(wanted, result, rel_tol=1e-9) for result in results) or any(
        wanted in (later - earlier, (later - earlier) / _MINUTES_OF_AN_HOUR)
        for later, earlier in permutations(clocks, 2)
    )


def _results(one: float, other: float) -> Iterator[float]:
    """The results of the operations, and *one* as a decimal, if it is a percentage."""
    yield one + other
    yield one - other
    yield one * other
    yield one * other / _HUNDRED
    yield one / _HUNDRED
    if other:
        yield one / other


def _value(number: str) -> float | None:
    try:
        return float(number)
    except ValueError:  # a clock time, or a version such as 1.2.3
        return None


def _minutes(clock: str) -> float | None:
    """The minutes since midnight of a clock time in digits; None for other numbers."""
    hour, colon, minute = clock.partition(":")
    return 60 * int(hour) + int(minute) if colon and hour.isdigit() and minute.isdigit() else None
