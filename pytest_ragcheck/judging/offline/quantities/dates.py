"""Reads the dates of a text: a day beside its month, an ordinal number, and the ends of months."""

from __future__ import annotations

from collections.abc import Sequence
from collections.abc import Set as AbstractSet

from pytest_ragcheck.judging.offline.quantities.quantity import MONTH_NUMBERS, Quantity, is_small, term_at, unit_at
from pytest_ragcheck.judging.offline.words.rewording import NOT
from pytest_ragcheck.judging.offline.words.terms import by_term, is_number, term_of, terms_of
from pytest_ragcheck.judging.offline.words.word_lists import DAYS_BY_WORD, MONTHS_BY_WORD, WEEKDAYS_BY_WORD, WORDS

_DATES = {
    **{term_of(word): -number for word, number in WEEKDAYS_BY_WORD.items()},
    **{term_of(word): number for word, number in MONTHS_BY_WORD.items()},
}
DATES = frozenset(_DATES)
CALENDAR = DATES - terms_of("may march mars mai mar marco mei sept dec jan")
"""Terms of weekdays and of months that mean nothing else."""
_BEFORE_MONTHS = terms_of(WORDS["before months"])
DAY_NUMBERS = by_term(DAYS_BY_WORD)
# Words between a day and its month, a number and its unit.
BETWEEN_DATE = terms_of("of the de di del st nd rd th er o a ten")
OF = terms_of(WORDS["of"])
TO = terms_of(WORDS["between dates"])
DAYS_OF_A_MONTH, MOST_MONTHS = frozenset(range(1, 32)), 12
_LONGEST_DAYS = 8  # terms of a list of days
BEGINNINGS = terms_of(WORDS["beginnings"])
ENDINGS = terms_of(WORDS["ends"])
_SHORT_MONTHS = frozenset((4, 6, 9, 11))


def ordinal_at(terms: Sequence[str], place: int) -> Quantity | None:
    """The date with the ordinal number at *place*, or the "first year"."""
    day = DAY_NUMBERS[terms[place]]
    if day == 1 and (first := _first_unit(terms, place)):
        return first
    at = next((at for at in range(place + 1, len(terms)) if terms[at] not in BETWEEN_DATE), len(terms))
    is_day = term_at(terms, at) in MONTH_NUMBERS
    return _date(MONTH_NUMBERS[terms[at]], day, place, at + 1) if is_day else None


def _first_unit(terms: Sequence[str], place: int) -> Quantity | None:
    # The unit after the "first" at *place*: "the first year" is the first 12 months.
    dimension, factor = unit_at(terms, place + 1)
    if dimension not in ("time", "months"):
        return None
    return Quantity(
        start=place, end=place + 2, value=factor, dimension=dimension, is_certain=False, factor=factor, recurs=1
    )


def end_of_a_month(terms: Sequence[str], place: int) -> Quantity | None:
    """The first or the last day of the month after the "beginning" or "end" at *place*."""
    at = place + 2 if term_at(terms, place + 1) in OF else place + 1
    if term_at(terms, at) not in MONTH_NUMBERS:
        return None
    month = MONTH_NUMBERS[terms[at]]
    day = 1 if terms[place] in BEGINNINGS else 28 if month == 2 else 30 if month in _SHORT_MONTHS else 31
    found = _date(month, day, place, at + 1)
    found.is_certain = False
    return found


def date_at(terms: Sequence[str], place: int) -> Quantity | None:
    """The date with its day at *place*, beside a month."""
    if not is_small(terms[place]) or int(terms[place]) not in DAYS_OF_A_MONTH:
        return None
    at = _after_days(terms, place)
    end = min(at + 3, len(terms))
    while at < end and terms[at] in BETWEEN_DATE:
        at += 1
    if term_at(terms, at) in MONTH_NUMBERS:
        is_range = any(map(is_number, terms[place + 1 : at]))
        return _date(MONTH_NUMBERS[terms[at]], int(terms[place]), place, place + 1 if is_range else at + 1)
    for back in (1, 2, 3):  # October 18 to 20
        if place >= back and terms[place - back] in MONTH_NUMBERS:
            return _date(MONTH_NUMBERS[terms[place - back]], int(terms[place]), place - (back == 1), place + 1)
        if place < back or not (terms[place - back] in TO or is_number(terms[place - back])):
            return None
    return None


def _after_days(terms: Sequence[str], place: int) -> int:
    # The place after the days that follow the one at *place*: "18 to 20 October", "24, 25 and 31 December".
    at = place + 1
    while at < min(len(terms), place + _LONGEST_DAYS):
        following = at + (terms[at] in TO)
        if following == len(terms) or not is_small(terms[following]):
            break
        at = following + 1
    return at


def _date(month: int, day: int, start: int, end: int) -> Quantity:
    return Quantity(start=start, end=end, value=100 * month + day, dimension="date")


def foreign_date(claim: Sequence[str], known: AbstractSet[str]) -> str | None:
    """The first weekday or month of *claim* that is not among *known*, in any language; None without one."""
    there = {_DATES[term] for term in known}
    for earlier, before, term in zip(("", "", *claim), ("", *claim), claim, strict=False):
        is_date = term in CALENDAR or (term in DATES and before in _BEFORE_MONTHS)
        if is_date and _DATES[term] not in there and NOT not in (earlier, before):
            return term
    return None
