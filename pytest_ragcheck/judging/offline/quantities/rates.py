"""Reads the rate of a quantity ("per week") and its bound ("at least")."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise

from pytest_ragcheck.judging.offline.quantities.quantity import BEFORE_NUMBER, UNITS
from pytest_ragcheck.judging.offline.words.polarity_words import NEGATIVE
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
