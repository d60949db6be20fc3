"""Parses expected answers, measures how much of one an answer contains, and compares figures in other forms."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from operator import add

from pytest_ragcheck.judging.offline.negation import says_yes
from pytest_ragcheck.judging.offline.quantities.quantity import MONTH_NUMBERS, UNITS
from pytest_ragcheck.judging.offline.words.normalized_text import clause_words, normalised
from pytest_ragcheck.judging.offline.words.terms import (
    ABOUT,
    CENTURY,
    LOWER_BOUNDS,
    STOP_WORDS,
    TO,
    UPPER_BOUNDS,
    WITHOUT_POLARITY,
    TermDictionary,
    content_of,
    is_number,
    term_of,
)

# Weights of terms other than words, which weigh 1. Stop words at 1: 0.000, -0.001, -0.002 of the area under the curve.
# The other two let "30" answer "how many days?", and reject "45 days" for "30 days".
_STOP_WORD, _ASKED, _NUMBER = 0.1, 0.2, 2.0

_PUNCTUATION = ".,;:!?\"'()[]“”‘’«»"
_MOST_KEPT, _LONGEST_KEPT = 1000, 1000  # characters
_LONGEST_SPELT = 80  # characters; nearly all pairs of a long text occur in any text
_MONTHS = frozenset(MONTH_NUMBERS)
_YEAR = re.compile(r"[12]\d{3}")
_DECADE = re.compile(r"[12]\d\d0")
_CENTURY_NUMBER = re.compile(r"\d{1,2}")
_BOUNDING = frozenset(UNITS).union(*LOWER_BOUNDS, *UPPER_BOUNDS)
_PLAIN_NUMBER = re.compile(r"\d{1,15}(?:\.\d{1,15})?")
# Smaller whole numbers are years or small counts, which are not rounded: 1946 is not 1900.
_LEAST_ROUNDED = 10_000
_LEAST_DIGITS_OF_ROUNDED = 2


class TermWeights(dict[str, float]):
    """The weight of each term of an expected answer to the question, computed on first use."""

    def __init__(self, asked: frozenset[str]) -> None:
        super().__init__()
        self._asked = asked

    def __missing__(self, term: str) -> float:
        weight = _STOP_WORD if term in WITHOUT_POLARITY else _NUMBER if is_number(term) else 1.0
        if weight >= 1 and term in self._asked:
            weight *= _ASKED
        self[term] = weight
        return weight


class ExpectedAnswer:
    """An expected answer with these terms; *spelt* has its words, each between spaces."""

    def __init__(self, *, spelt: str, terms: Sequence[str], says_yes: bool | None) -> None:
        self.spelt = spelt
        self.terms = terms
        self.says_yes = says_yes
        self.distinct = frozenset(terms)
        self.content = self.distinct - STOP_WORDS
        self.has_number = bool(terms) and is_number(min(terms))  # numbers sort before all else

    def share_without(self, missing: AbstractSet[str], weights: TermWeights) -> float:
        """The share of the weight that is not *missing*; if all terms are stop words, all weigh the same."""
        terms = dict.fromkeys(self.terms)
        if not self.content:
            return (len(terms) - len(missing)) / len(terms)
        found = sum([weights[term] for term in terms if term not in missing])
        return found / sum(map(weights.__getitem__, terms))

    def is_contained_in(self, spelt: str) -> bool:
        """
        True if *spelt* contains the answer word for word; always False with numbers, which may join their
        neighbours.
        """
        return not self.has_number and self.spelt in spelt

    def order_in(self, content: str) -> float:
        """The share of pairs of neighbouring content terms that are neighbours in *content*, 0..1."""
        pairs = list(pairwise(content_of(self.terms)))
        return sum([f" {a} {b} " in content for a, b in pairs]) / len(pairs) if pairs else 1.0

    def spelling_in(self, spelt: str, *, default: float) -> float:
        """The share of its pairs of characters that *spelt* contains, 0..1; *default* if it is long."""
        if len(self.spelt) > _LONGEST_SPELT:
            return default
        return sum(map(spelt.__contains__, self._pairs)) / len(self._pairs)

    @cached_property
    def _pairs(self) -> AbstractSet[str]:
        return frozenset(map(add, self.spelt, self.spelt[1:]))


class ExpectedAnswers(dict[str, ExpectedAnswer]):
    """Parsed expected answers by text, because many answers share their question."""

    def __init__(self, terms: TermDictionary) -> None:
        super().__init__()
        self._terms = terms

    def __missing__(self, text: str) -> ExpectedAnswer:
        found = clause_words(normalised(text))
        terms = self._terms.of_words(found)
        parsed = ExpectedAnswer(spelt=f" {' '.join(found)} ", terms=terms, says_yes=says_yes(text))
        if len(self) >= _MOST_KEPT:
            self.clear()
        if len(text) <= _LONGEST_KEPT:
            self[text] = parsed
        return parsed


@dataclass(slots=True, kw_only=True)  # not frozen, which halves the time to make one for each expected answer
class Recall:
    score: float
    """0..1; 0.7 separates right from wrong answers best, by people's labels."""

    expected: str
    """The expected answer, verbatim."""

    missing: AbstractSet[str] = frozenset()
    """The expected terms that the answer lacks; empty, with a score of 0, for an expected answer without words."""

    is_opposed: bool = False
    """True if the answer says the opposite: no for yes, "not Paris" for "Paris"."""

    has_other_figure: bool = False
    """True if the answer has another number or date instead."""

    replaces_item: bool = False
    """True if the answer lacks an item of the expected list, but has as many, or has one more."""

    is_absent: bool = False
    """True if the answer has other words in the place of all content words, or of one of a short phrase."""

    is_late: bool = False
    """True if the answer contains everything expected, but after much other text."""

    def missing_as_written(self, terms: TermDictionary) -> tuple[str, ...]:
        """
        The missing words as the expected answer writes them, without repeats; stop words only if no others are
        missing.
        """
        missing = self.missing - STOP_WORDS or self.missing
        found = dict.fromkeys(word.strip(_PUNCTUATION) for word in self.expected.split())
        named = (
            word
            for word in found
            if not missing.isdisjoint((term_of(word.lower()),) if word.isascii() and word.isalpha() else terms.of(word))
        )
        return tuple(named) or (self.expected.strip(),)


def is_figure(term: str) -> bool:
    """True for a number, and for a month, which is part of a date."""
    return is_number(term) or term in _MONTHS


def is_coarser_date(expected: AbstractSet[str], stated: AbstractSet[str]) -> bool:
    """
    True if the answer gives an expected date by its year, with or without its month: "2017" for "November 17, 2017".

    *stated* are the answer's terms without the question's. Another month or number among them makes it another date.
    """
    if not any(map(_YEAR.fullmatch, expected & stated)):
        return False
    parts = expected - STOP_WORDS
    is_one_date = all(map(is_figure, parts)) and sum(_YEAR.fullmatch(part) is not None for part in parts) == 1
    return is_one_date and set(filter(is_figure, stated)) <= expected


def lacks_figure(expected: AbstractSet[str], missing: AbstractSet[str], stated: AbstractSet[str]) -> bool:
    """
    True if the answer lacks an expected number, or has another month; "1788" for "18 January 1788" lacks none.

    *missing* and *stated* are without the question's terms.
    """
    lacking = set(filter(is_figure, missing))
    if not lacking:
        return False
    if lacking <= _MONTHS:
        return not _MONTHS.isdisjoint(stated - expected)
    has_some = any(map(is_number, expected - missing))
    has_other = any(is_number(term) and (term not in expected or term in missing) for term in stated)
    return has_other or not has_some


def numbers_about(terms: Sequence[str]) -> set[str]:
    """The numbers that a text calls approximate: 30000 in "about 30,000", but not 3 in "about us: 3 rooms"."""
    return {number for before, number in pairwise(terms) if before in ABOUT and is_number(number)}


def rounded_numbers(missing: AbstractSet[str], stated: Collection[str], *, about: AbstractSet[str]) -> set[str]:
    """
    The missing numbers that equal a number of the answer after rounding.

    *about* are the numbers that either text calls approximate; an answer may give such an expected number exactly.
    """
    return {
        number
        for number in filter(is_number, missing)
        for each in stated
        if each != number  # it is there, with another unit
        and (
            (not about.isdisjoint((number, each)) and _is_rounded(number, to=each))
            or (number in about and _is_rounded(each, to=number))
        )
    }


def _is_rounded(number: str, *, to: str) -> bool:
    # True if *to* is *number* rounded to two digits or more: 2.4 million for 2.45 million.
    if not (_PLAIN_NUMBER.fullmatch(number) and _PLAIN_NUMBER.fullmatch(to)):
        return False
    if "." not in number and float(number) < _LEAST_ROUNDED:
        return False
    whole, _, decimals = to.partition(".")
    digits = (whole + decimals).strip("0")
    last = 10.0 ** -len(decimals) if decimals else 10.0 ** (len(whole) - len(whole.rstrip("0")))
    return len(digits) >= _LEAST_DIGITS_OF_ROUNDED and abs(float(number) - float(to)) <= last / 2


def are_compatible(expected: Sequence[str], numbers: Collection[str], eras: Iterable[tuple[int, int]]) -> bool:
    """True if both figures can be true: "10 to 12 years" and 11, or 1757 and one of *eras*, the 18th century."""
    if not _BOUNDING.isdisjoint(expected):
        values = [float(number) for number in numbers if _PLAIN_NUMBER.fullmatch(number)]
        if values and any(all(low <= each <= high for each in values) for low, high in _bounds(expected)):
            return True
    return any(first <= int(term) <= last for first, last in eras for term in expected if _YEAR.fullmatch(term))


def _bounds(terms: Sequence[str]) -> Iterator[tuple[float, float]]:
    # The bounds that a text states: "more than 80", "up to 5", "10 to 12 years".
    for place, term in enumerate(terms):
        if not _PLAIN_NUMBER.fullmatch(term):
            continue
        before = {tuple(terms[max(0, place - length) : place]) for length in (1, 2)}
        if not before.isdisjoint(LOWER_BOUNDS):
            yield float(term), float("inf")
        elif not before.isdisjoint(UPPER_BOUNDS):
            yield 0.0, float(term)
        end, unit, *_ = *(after for after in terms[place + 1 : place + 4] if after not in TO), "", ""
        if unit in UNITS and _PLAIN_NUMBER.fullmatch(end):
            yield float(term), float(end)


def decades_and_centuries(terms: Sequence[str]) -> Iterator[tuple[int, int]]:
    """The first and last year of each decade and century in a text: "1920s", "18th century"."""
    for place, term in enumerate(terms):
        if not is_number(term):
            continue
        following = terms[place + 1 : place + 3]
        if following[:1] == ["s"] and _DECADE.fullmatch(term):
            yield int(term), int(term) + 9
        elif CENTURY in following and _CENTURY_NUMBER.fullmatch(term):
            yield 100 * int(term) - 100, 100 * int(term)
