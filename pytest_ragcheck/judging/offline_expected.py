"""An expected answer, as the offline judge looks for it in an answer."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

from pytest_ragcheck.judging.offline_words import STOP_WORDS, UNITS
from pytest_ragcheck.judging.terms import is_number

if TYPE_CHECKING:
    from collections.abc import Set as AbstractSet

# Behind each constant is what it changes on EVOUNA-NQ, EVOUNA-TQ and NQ301.

# Weights of an expected answer's terms, beside 1 for a word. Stop words at 1: -0.002 of the area under the curve each.
# The other two change nothing there; they let "30" answer "how many days?", and stop "45 days" for "30 days".
_STOP_WORD, _ASKED, _NUMBER = 0.1, 0.2, 2.0

_LONGEST_SPELT = 80  # characters; of a long text nearly all groups of three are found anywhere


class Weights(dict[str, float]):
    """The weight of each term of an expected answer, given the terms that were *asked*; fills itself."""

    def __init__(self, asked: frozenset[str]) -> None:
        super().__init__()
        self._asked = asked

    def __missing__(self, term: str) -> float:
        weight = _STOP_WORD if term in STOP_WORDS else _NUMBER if is_number(term) else 1.0
        if weight >= 1 and term in self._asked:
            weight *= _ASKED
        self[term] = weight
        return weight


class Sought:
    """An expected answer, as it is looked for."""

    __slots__ = ("distinct", "has_number", "terms", "words")

    def __init__(self, *, words: list[str], terms: list[str]) -> None:
        self.words = words
        self.terms = terms
        self.distinct = frozenset(terms)
        self.has_number = bool(terms) and is_number(min(terms))  # numbers sort before all else

    def share_without(self, missing: AbstractSet[str], weights: Weights) -> float:
        """The share of the weight that is not *missing*; stop words weigh as much as others among themselves."""
        terms = dict.fromkeys(self.terms)
        if self.distinct <= STOP_WORDS:
            return (len(terms) - len(missing)) / len(terms)
        found = sum([weights[term] for term in terms if term not in missing])
        return found / sum(map(weights.__getitem__, terms))

    def stands_in(self, spelt: str) -> bool:
        """Does it stand in *spelt* word for word; not looked for with numbers, which may join with what is beside."""
        return not self.has_number and f" {' '.join(self.words)} " in spelt

    def order_in(self, content: str) -> float:
        """The share of its neighbours, stop words left out, that are neighbours in *content*, 0..1."""
        pairs = list(itertools.pairwise(without_stop_words(self.terms)))
        return sum([f" {a} {b} " in content for a, b in pairs]) / len(pairs) if pairs else 1.0

    def spelling_in(self, spelt: str, *, default: float) -> float:
        """The share of its groups of three characters that *spelt* has, 0..1; *default* where it is long."""
        own = f" {' '.join(self.words)} "
        if len(own) > _LONGEST_SPELT:
            return default
        groups = {own[place : place + 3] for place in range(len(own) - 2)}
        return sum(map(spelt.__contains__, groups)) / len(groups)


def units_after_numbers(in_order: list[str]) -> dict[str, set[str]]:
    """The units that stand right after each number of a text."""
    units: dict[str, set[str]] = {}
    for term, following in itertools.pairwise(in_order):
        if following in UNITS and is_number(term):
            units.setdefault(term, set()).add(following)
    return units


def without_stop_words(in_order: list[str]) -> list[str]:
    """What says something, in order."""
    return [term for term in in_order if term not in STOP_WORDS]
