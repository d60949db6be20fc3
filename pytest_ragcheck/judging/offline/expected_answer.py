"""An expected answer, parsed for the search in an answer."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

from pytest_ragcheck.judging.offline.stop_words import STOP_WORDS
from pytest_ragcheck.judging.offline.terms import is_number

if TYPE_CHECKING:
    from collections.abc import Sequence
    from collections.abc import Set as AbstractSet

# Weights of terms other than words, which weigh 1. Stop words at 1: -0.002 of the area under the curve on each set.
# The other two let "30" answer "how many days?", and reject "45 days" for "30 days".
_STOP_WORD, _ASKED, _NUMBER = 0.1, 0.2, 2.0

_LONGEST_SPELT = 80  # characters; of a long text nearly all groups of three are found anywhere


class TermWeights(dict[str, float]):
    """The weight of each term of an expected answer, given the terms of the question; computed on first use."""

    def __init__(self, asked: frozenset[str]) -> None:
        super().__init__()
        self._asked = asked

    def __missing__(self, term: str) -> float:
        weight = _STOP_WORD if term in STOP_WORDS else _NUMBER if is_number(term) else 1.0
        if weight >= 1 and term in self._asked:
            weight *= _ASKED
        self[term] = weight
        return weight


class ExpectedAnswer:
    """An expected answer, parsed for the search."""

    __slots__ = ("distinct", "has_number", "terms", "words")

    def __init__(self, *, words: list[str], terms: Sequence[str]) -> None:
        self.words = words
        self.terms = terms
        self.distinct = frozenset(terms)
        self.has_number = bool(terms) and is_number(min(terms))  # numbers sort before all else

    def share_without(self, missing: AbstractSet[str], weights: TermWeights) -> float:
        """The share of the weight that is not *missing*; if all terms are stop words, all weigh the same."""
        terms = dict.fromkeys(self.terms)
        if self.distinct <= STOP_WORDS:
            return (len(terms) - len(missing)) / len(terms)
        found = sum([weights[term] for term in terms if term not in missing])
        return found / sum(map(weights.__getitem__, terms))

    def stands_in(self, spelt: str) -> bool:
        """
        True if *spelt* contains the answer word for word; always False with numbers, which may join their
        neighbours.
        """
        return not self.has_number and f" {' '.join(self.words)} " in spelt

    def order_in(self, content: str) -> float:
        """The share of its neighbouring content terms that are neighbours in *content*, 0..1."""
        pairs = list(itertools.pairwise(without_stop_words(self.terms)))
        return sum([f" {a} {b} " in content for a, b in pairs]) / len(pairs) if pairs else 1.0

    def spelling_in(self, spelt: str, *, default: float) -> float:
        """The share of its groups of three characters that *spelt* contains, 0..1; *default* if it is long."""
        own = f" {' '.join(self.words)} "
        if len(own) > _LONGEST_SPELT:
            return default
        groups = {own[place : place + 3] for place in range(len(own) - 2)}
        return sum(map(spelt.__contains__, groups)) / len(groups)


def without_stop_words(in_order: Sequence[str]) -> list[str]:
    """The terms without stop words, in order."""
    return [term for term in in_order if term not in STOP_WORDS]
