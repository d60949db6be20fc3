"""Compares quantities, dates and clock times in base units."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from math import isclose

from pytest_ragcheck.judging.offline.words.terms import by_term, is_number, terms_of
from pytest_ragcheck.judging.offline.words.word_lists import (
    FIXED_BY_WORD,
    MONEY,
    MONTHS_BY_WORD,
    PARTS_BY_WORD,
    UNITS_BY_WORD,
    WORDS,
)

UNITS = by_term(UNITS_BY_WORD)
MONTH_NUMBERS = by_term(MONTHS_BY_WORD)
_FIXED = by_term(FIXED_BY_WORD)
HOUR, DAY, NOON = 3600.0, 86400.0, 720
"""Seconds of an hour and a day, and minutes until noon."""

_HOURS_OF_A_DAY = 24
_TIMES = frozenset(("time", "months", "workdays"))
_CALENDAR_SECONDS = 2629800.0  # a month
_MAY_BE = {"money": MONEY, "¥": ("yen", "yuan")}
_NEAR_A_DEGREE, _NEAR_A_SHARE = 0.6, 0.5
_NEAR_A_MEASURE, _GRAMS_OF_A_POUND = 0.02, 453.592
_near = partial(isclose, rel_tol=_NEAR_A_MEASURE)  # measures of two systems: 10 miles (16 km)
_close = partial(isclose, rel_tol=1e-6)
_MEASURES = frozenset(("length", "mass", "volume", "area"))  # with units of two systems
_NEAR_A_MONTH = 0.02  # 30 days, 365 days and 52 weeks are as long as calendar units


HALVES = terms_of(WORDS["halves"])
QUARTERS = terms_of(WORDS["quarters"])
DATED_OR_MEASURED = frozenset((*UNITS, *MONTH_NUMBERS, *_FIXED, *HALVES, *QUARTERS, "p", "pm", "am"))
"""Terms that make a number a quantity, a date or a clock time."""

DENOMINATORS = by_term(PARTS_BY_WORD)
ARTICLES = terms_of("a an one un une una um uma ein eine einen einem einer een uno")
AND = terms_of("and y e et en und с")
# Words between a bound and its number.
BEFORE_NUMBER = terms_of(WORDS["before numbers"])
_DIGITS_OF_A_DAY = 2


@dataclass(slots=True, kw_only=True)  # not frozen, which halves the time to make one for each number of a text
class Quantity:
    """A number with its unit, a date or a clock time."""

    start: int
    """Place of its first term."""

    end: int
    """Place after its last term."""

    value: float
    """In the base unit of the dimension; for a date 100 times the month plus the day, for a clock time minutes."""

    dimension: str = ""
    """A dimension of `UNITS`, or `date`; empty for a bare number."""

    per: str = ""
    """The period or other unit of a rate; empty without one."""

    bound: int = 0
    """1 for "at least", -1 for "at most"."""

    is_certain: bool = True
    """False for a clock time that may be before or after noon."""

    is_digital: bool = False
    """True for a clock time in digits without "am" or "pm"; a 24-hour time if another one in the text is."""

    noun: str = ""
    """The content term after a bare number."""

    recurs: int = 0
    """2 for an interval between occasions ("weekly"), 1 for one that may be a duration ("every 6 hours"), else 0."""

    factor: float = 1.0
    """Its unit in base units."""

    other_value: float | None = None
    """The value if the dot separates thousands; None if it cannot."""

    def same_value(self, other: Quantity) -> bool:
        """True if both are the same amount, date or time; a bare number may match any unit."""
        if "date" in (self.dimension, other.dimension):
            return _same_date(self, other)
        if "clock" in (self.dimension, other.dimension):
            return _same_time(self, other)
        # A monthly fee is not a fee after 30 days.
        return {self.recurs, other.recurs} != {0, 2} and self._same_amount(other)

    def _same_amount(self, other: Quantity) -> bool:
        mine, its = self.dimension, other.dimension
        if {mine, its} == {"percent", ""} and any(0 < each.value < 1 for each in (self, other)):  # three quarters, 0.75
            return _close(*(each.value * (1 if each.dimension else 100) for each in (self, other)))
        if mine == its or not (mine and its):
            return self._same_number(other) or _is_fortnight(self, other)
        if {mine, its} == {"time", "months"}:
            return isclose(self.seconds, other.seconds, rel_tol=_NEAR_A_MONTH)
        if {mine, its} == {"degree", "fahrenheit"}:
            return abs(self.celsius - other.celsius) < max(_NEAR_A_DEGREE, _NEAR_A_MEASURE * self.celsius)
        if {mine, its} == {"pound", "mass"}:
            return _near(
                *(each.value * (_GRAMS_OF_A_POUND if each.dimension == "pound" else 1) for each in (self, other))
            )
        return (mine in _MAY_BE.get(its, ()) or its in _MAY_BE.get(mine, ())) and _close(self.value, other.value)

    def _same_number(self, other: Quantity) -> bool:
        # True if the amounts are equal, perhaps in the other reading; "ten" may be ten years, "ten rooms" not.
        are_certain = self.is_certain and other.is_certain
        is_time = not _TIMES.isdisjoint((self.dimension, other.dimension))
        if self.dimension == other.dimension or (are_certain and self.factor == other.factor and not is_time):
            mine, its = self.value, other.value
        elif are_certain and not (self.noun or other.noun):
            mine, its = self.value / self.factor, other.value / other.factor
        else:
            return False
        is_share = self.dimension == "percent" and (not are_certain or 100 * mine % 1 or 100 * its % 1)
        if is_share and abs(mine - its) < _NEAR_A_SHARE:  # 33 % is a third
            return True
        if self.dimension in _MEASURES and _is_metric(self.factor) is not _is_metric(other.factor):
            return _near(mine, its)
        return _close(mine, its) or (
            self.factor == other.factor and (self.value == other.other_value or self.other_value == other.value)
        )

    def comparable(self, other: Quantity) -> bool:
        """True if both measure the same: two times, two dates, two counts of the same noun."""
        if not self.dimension and not other.dimension:
            return bool(self.noun) and self.noun == other.noun
        pair = {self.dimension, other.dimension}
        return len(pair) == 1 or pair in ({"time", "months"}, {"time", "workdays"}, {"degree", "fahrenheit"})

    def contradicts(self, other: Quantity) -> bool:
        """True if the rates differ, or the bounds are opposite."""
        return (bool(self.per) and bool(other.per) and self.per != other.per) or self.bound * other.bound < 0

    @property
    def has_unit_or_bound(self) -> bool:
        return bool(self.dimension) or self.bound != 0

    @property
    def celsius(self) -> float:
        return self.value if self.dimension == "degree" else (self.value - 32) / 1.8

    @property
    def seconds(self) -> float:
        return self.value * _CALENDAR_SECONDS if self.dimension == "months" else self.value


def _is_fortnight(one: Quantity, other: Quantity) -> bool:
    # True for "quinze jours" and two weeks.
    return {one.value, other.value} == {14 * DAY, 15 * DAY} and 7 * DAY in (one.factor, other.factor)


def _is_metric(factor: float) -> bool:
    return f"{factor:e}".startswith("1.000000e")


def _same_date(one: Quantity, other: Quantity) -> bool:
    if one.dimension == other.dimension:
        swapped = other.value % 100 * 100 + other.value // 100
        return one.value == other.value or (one.value == swapped and not (one.is_certain and other.is_certain))
    bare, date = (other, one) if other.dimension != "date" else (one, other)
    month, day = divmod(date.value, 100)
    if bare.dimension == "clock":  # "9-18", which may be hours
        return not date.is_certain and not {month, day}.isdisjoint((bare.value / 60, bare.value / 60 - 12))
    written = bare.value  # 31.03 in German or Italian
    return not bare.dimension and (_close(written, day + month / 100) or _close(written, day + month / 10))


def _same_time(one: Quantity, other: Quantity) -> bool:
    is_certain = all(
        (each.is_certain and each.dimension == "clock") or any(at > NOON for at in _minutes_of(each))
        for each in (one, other)
    )
    is_counted = bool(one.noun or other.noun)  # "14 guests" is not two o'clock
    day = 2 * NOON if is_certain or is_counted else NOON
    return any(abs(mine - its) % day < 0.01 for mine in _minutes_of(one) for its in _minutes_of(other))


def _minutes_of(each: Quantity) -> Sequence[float]:
    # The possible times of day of *each*, in minutes: 18 is 18:00, and 22.3 hours are 22:30 or 22:18.
    if each.dimension == "clock":
        return (each.value,)
    if each.dimension not in ("", "time"):
        return ()
    hours = each.value / HOUR if each.dimension else each.value
    if not 0 <= hours <= _HOURS_OF_A_DAY:
        return ()
    whole = int(hours)
    return (60 * hours, 60 * whole + round(100 * (hours - whole)))


def has_quantity(terms: Sequence[str]) -> bool:
    """True if *terms* may contain a quantity, a date, a clock time or a small count; bare large numbers are none."""
    return not DATED_OR_MEASURED.isdisjoint(terms) or (
        is_number(min(terms)) and any(term < ":" and (len(term) == 1 or ":" in term or "." in term) for term in terms)
    )


def term_at(terms: Sequence[str], place: int) -> str:
    """The term at *place*; empty beyond both ends."""
    return terms[place] if 0 <= place < len(terms) else ""


def unit_at(terms: Sequence[str], place: int) -> tuple[str, float]:
    """The dimension and factor of the unit at *place*; an empty dimension without one."""
    return UNITS.get(term_at(terms, place), ("", 1.0))


def is_small(term: str) -> bool:
    """True for a number of one or two digits."""
    return term.isdigit() and len(term) <= _DIGITS_OF_A_DAY
