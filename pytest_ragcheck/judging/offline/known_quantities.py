"""Compares the quantities of an answer with those of its contexts, or of an expected answer."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from pytest_ragcheck.judging.offline.measure_words import MONTHS_BY_WORD, UNITS_BY_WORD
from pytest_ragcheck.judging.offline.quantities import read_quantities
from pytest_ragcheck.judging.offline.terms import TermDictionary, is_number, numbers_in

if TYPE_CHECKING:
    from pytest_ragcheck.judging.offline.quantities import Quantity

_TERMS = TermDictionary()
_MOST_KNOWN = 2000


class KnownQuantities:
    """
    The quantities of the contexts and the question, with which those of an answer are compared.

    Args:
        texts: The terms and the quantities of each text.
    """

    def __init__(self, texts: Iterable[tuple[Sequence[str], Sequence[Quantity]]]) -> None:
        self._known: dict[tuple[str, float, str, int, str], tuple[Quantity, Sequence[str]]] = {}
        for terms, quantities in texts:
            for each in quantities:
                if len(self._known) < _MOST_KNOWN:
                    key = (each.dimension, each.value, each.per, each.bound, each.noun)
                    self._known.setdefault(key, (each, terms[each.start : each.end]))

    def compare(self, terms: Sequence[str]) -> ComparedQuantities:
        """*terms* with their known quantities in the known spelling, and the quantities that are not known."""
        rewritten: list[str] = []
        compared = ComparedQuantities(terms=rewritten)
        end = 0
        for each in read_quantities(terms):
            own = terms[each.start : each.end]
            same = [(known, spelt) for known, spelt in self._known.values() if known.same_value(each)]
            agreeing = [spelt for known, spelt in same if not known.contradicts(each)]
            rewritten += terms[end : each.start]
            end = each.end
            if agreeing:
                compared.n_known += bool(each.dimension)
                rewritten += own if own in agreeing else agreeing[0]
                continue
            rewritten += own
            if not (each.is_certain or each.dimension == "clock"):
                continue
            other = same or [(known, spelt) for known, spelt in self._known.values() if known.comparable(each)]
            if other or each.dimension:
                compared.unknown.append(UnknownQuantity(terms=own, instead=other[0][1] if other else None))
        rewritten += terms[end:]
        return compared


@dataclass(slots=True, kw_only=True)
class ComparedQuantities:
    """The terms of a sentence after comparison with the known quantities."""

    terms: Sequence[str]
    """The terms, each known quantity in the known spelling."""

    n_known: int = 0
    """How many quantities with a unit, dates and times are known."""

    unknown: list[UnknownQuantity] = field(default_factory=list)
    """The quantities that are not known."""


@dataclass(slots=True, kw_only=True)
class UnknownQuantity:
    """A quantity of an answer that is not known."""

    terms: Sequence[str]

    instead: Sequence[str] | None
    """The terms of a known quantity that measures the same; None without one."""

    def names(self) -> tuple[str, str | None]:
        """The quantity and the one instead; only their numbers if their other terms are equal."""
        if self.instead is None:
            return _spelt(self.terms), None
        own, other = numbers_in(self.terms), numbers_in(self.instead)
        rests = [[term for term in terms if not is_number(term)] for terms in (self.terms, self.instead)]
        if own and other and rests[0] == rests[1] and own != other:
            return " ".join(own), " ".join(other)
        return _spelt(self.terms), _spelt(self.instead)


def _spelt(terms: Sequence[str]) -> str:
    return " ".join(_WORD_OF.get(term, term) for term in terms)


_WORD_OF: dict[str, str] = {}
for _word in (*UNITS_BY_WORD, *MONTHS_BY_WORD):
    # The second word of a term is mostly its plural.
    if _WORD_OF.get(_TERMS[_word]) in (None, _TERMS[_word]):
        _WORD_OF[_TERMS[_word]] = _word
