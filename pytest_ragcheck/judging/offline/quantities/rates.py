"""Reads the rate of a quantity ("per week") and its bound ("at least")."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise

from pytest_ragcheck.judging.offline.quantities.dates import BETWEEN_DATE, OF
from pytest_ragcheck.judging.offline.quantities.quantity import (
    AND,
    ARTICLES,
    BEFORE_NUMBER,
    DENOMINATORS,
    HALVES,
    QUARTERS,
    UNITS,
    Quantity,
    is_small,
    term_at,
    unit_at,
)
from pytest_ragcheck.judging.offline.words.rewording import NEGATIVE
from pytest_ragcheck.judging.offline.words.terms import END, by_term, is_number, term_of, terms_of
from pytest_ragcheck.judging.offline.words.word_lists import LOWER_BOUNDS, PER, PERIODS_BY_WORD, UPPER_BOUNDS, WORDS

PERIODS = by_term(PERIODS_BY_WORD)
BEFORE_PERIODS = frozenset(map(term_of, PER))
_LOWER, _UPPER = frozenset(map(term_of, LOWER_BOUNDS)), frozenset(map(term_of, UPPER_BOUNDS))
BOUNDS = _LOWER | _UPPER
"""Terms of bounds: "at least", "up to"."""

REACH_OF_A_RATE = 4
_IN = frozenset(("in", "within", "dans", "entro", "binnen"))  # "three times in an hour"
_RATE_SIGNS = frozenset(("h", "min", "s", "second", "minute", "hour"))
_NAMES_OF_PERIODS = {
    UNITS[term_of(word)]: word for word in ("second", "minute", "hour", "day", "week", "month", "quarter", "year")
}
LASTING = frozenset(_NAMES_OF_PERIODS.values())
"""The units of rates that are periods."""

_NAMES_OF_PERIODS |= {UNITS[term_of(word)]: word for word in ("kilogram", "liter", "meter", "kilometer", "gram")}
# Words that make "less" a lower bound: "al menos", "pelo menos", "au moins".
_SUPERLATIVE = terms_of("al lo pelo ao au du")
# "not more than 5" is an upper bound; "no máximo 5" has no negation.
_COMPARATIVES = terms_of(WORDS["comparatives of numbers"])
OR = terms_of("or oder ou o of или")
_AFTERTHOUGHTS = terms_of(WORDS["afterthoughts"])


def periods_in(terms: Iterable[str]) -> set[str]:
    """The periods that *terms* mention: "month" for "mes" and "mensual"."""
    return {period for term in terms if (period := PERIODS.get(term) or period_of(term))}


def rate_after(terms: Sequence[str], end: int, *, is_count: bool) -> tuple[str, int]:
    """The unit of a rate within a few terms after *end*, and the place after it; empty without one."""
    if end < len(terms) and len(terms[end]) <= 3 and terms[end] in _RATE_SIGNS:  # km/h
        return period_of(terms[end]), end + 1
    for at in range(end, min(end + REACH_OF_A_RATE, len(terms))):
        term = terms[at]
        if term == END or is_number(term):
            break
        if term in PERIODS:
            return PERIODS[term], at + 1
        if term in BEFORE_PERIODS and at + 1 < len(terms) and (period := period_of(terms[at + 1])):
            return period, at + 2
        if term in _IN and at + 2 < len(terms) and is_count and (period := period_of(terms[at + 2])):
            return period, at + 3
    return "", end


def period_of(term: str) -> str:
    """The period or other unit of a rate that *term* names; empty if it names none."""
    return _NAMES_OF_PERIODS.get(UNITS.get(term, ("", 0.0)), "")


def bound_of(terms: Sequence[str], start: int, end: int) -> int:
    """1 for a lower bound, -1 for an upper bound, 0 without one."""
    at = start - 1
    while at >= 0 and at >= start - 2 and terms[at] in BEFORE_NUMBER:
        at -= 1
    if at >= 0 and (bound := (terms[at] in _LOWER) - (terms[at] in _UPPER)):
        is_denied = terms[at] in _COMPARATIVES and not NEGATIVE.isdisjoint(terms[max(0, at - 2) : at])
        is_superlative = terms[at] in _COMPARATIVES and at > 0 and terms[at - 1] in _SUPERLATIVE
        return -bound if is_denied or is_superlative else bound
    for before, term in pairwise(terms[end - 1 : end + 3]):
        if term == END or is_number(term):
            break
        if term in _AFTERTHOUGHTS or (term in _COMPARATIVES and before in OR):  # "5 or more"
            return (term in _LOWER) - (term in _UPPER)
    return 0


_BEFORE_PERIOD = BETWEEN_DATE | ARTICLES
_ORDINALS = frozenset(("3", "5", "10"))  # English "third", "fifth" and "tenth"
_AMONG = terms_of("in sur su von из op")
_OUT_OF = frozenset({("out", "of"), ("de", "cada"), ("em", "cada"), ("op", "de")})
_BEFORE_SHARES = _AMONG.union(DENOMINATORS, _ORDINALS, ("out", "de", "em"))
_PART, _LASTS = term_of("parte"), frozenset(("time", "months"))
# Dimensions that an article may count: "a year" for "12 months".
COUNTED_BY_ARTICLE = frozenset(("time", "months", "times", "volume", "mass", "length", "area", "spoon", "teaspoon"))
_QUARTERED = frozenset(("time", "volume", "mass"))


def end_of_half(terms: Sequence[str], place: int) -> int:
    """The place after "and a half", which begins at *place*; 0 without it."""
    if term_at(terms, place) in AND:
        at = place + 2 if term_at(terms, place + 1) in ARTICLES else place + 1
        if term_at(terms, at) in HALVES:
            return at + 1
    return 0


def quarters_at(terms: Sequence[str], place: int, count: float = 1) -> Quantity | None:
    """*count* quarters of an hour or a year, with the word for quarter at *place*: "a quarter of an hour"."""
    at = place + 1
    while at < len(terms) and at < place + 3 and terms[at] in _BEFORE_PERIOD:
        at += 1
    dimension, factor = unit_at(terms, at)
    if not dimension and 0 < count < 4 and term_at(terms, place + 1) in OF:
        return Quantity(start=place, end=place + 1, value=25 * count, dimension="percent", is_certain=False)
    if at == place + 1 and dimension not in _QUARTERED:  # of a year only in "a quarter of a year"
        return None
    if dimension not in COUNTED_BY_ARTICLE:
        return None
    return Quantity(start=place, end=at + 1, value=count * factor / 4, dimension=dimension)


def share_at(terms: Sequence[str], place: int, count: float) -> Quantity | None:
    """The share of *count* parts at *place*: "two thirds", "one fifth of", "one in five", "a third of"."""
    first, second, third = (*terms[place + 1 : place + 4], END, END, END)[:3]
    if first not in _BEFORE_SHARES and terms[place] not in _ORDINALS:
        return None
    start, end = place, place + 2
    is_part = first not in UNITS and (count > 1 or second in OF)  # no "Viertelstunde"
    parts = DENOMINATORS.get(first, 0) if is_part else 0
    if count == 1 and first in _ORDINALS and second in OF:
        parts = int(first)
    elif first in _AMONG and is_small(second):
        parts, end = int(second), place + 3
    elif (first, second) in _OUT_OF and is_small(third):
        parts, end = int(third), place + 4
    elif terms[place] in _ORDINALS and term_at(terms, place - 1) in ARTICLES and first in OF:
        parts, count, start, end = int(terms[place]), 1, place - 1, place + 1
    return _share(count, parts, start, end) if 0 < count < parts and unit_at(terms, end)[0] not in _LASTS else None


def fraction_at(terms: Sequence[str], place: int) -> Quantity | None:
    """One part of an amount with the word for it at *place*: "ein Drittel der Stimmen"."""
    if terms[place] in QUARTERS and (quarter := quarters_at(terms, place)) is not None:
        return quarter
    following = [term for term in terms[place + 1 : place + 3] if term != _PART]  # una quinta parte del precio
    is_share = term_at(terms, place - 1) in ARTICLES and bool(following) and following[0] in OF
    return _share(1, DENOMINATORS[terms[place]], place - 1, place + 1) if is_share else None


def _share(count: float, parts: int, start: int, end: int) -> Quantity:
    return Quantity(start=start, end=end, value=100 * count / parts, dimension="percent", is_certain=count > 1)


def half_at(terms: Sequence[str], place: int) -> Quantity | None:
    """Half a unit ("half an hour"), a unit and a half without a number ("an hour and a half"), or "half of"."""
    for at in (place + 1, place + 2):
        dimension, factor = ("", 1.0) if terms[at : at + 1] == ["an"] else unit_at(terms, at)
        if dimension not in ("", "clock"):
            return Quantity(start=place, end=at + 1, value=factor / 2, dimension=dimension)
    for at in (place - 2, place - 3):
        if at >= 0 and terms[at + 1] in AND and (at == 0 or not is_number(terms[at - 1])):
            dimension, factor = unit_at(terms, at)
            if dimension:
                return Quantity(start=at, end=place + 1, value=1.5 * factor, dimension=dimension)
    if terms[place] == "half" and term_at(terms, place + 1) in ("of", "the", "pric"):
        return Quantity(start=place, end=place + 1, value=50, dimension="percent", is_certain=False)
    return None
