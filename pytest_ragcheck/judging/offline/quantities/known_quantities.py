from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from itertools import chain, filterfalse

from pytest_ragcheck.judging.offline.lazy import lazy
from pytest_ragcheck.judging.offline.quantities.quantity import NOON, Quantity
from pytest_ragcheck.judging.offline.quantities.quantity_reader import read_quantities
from pytest_ragcheck.judging.offline.quantities.rates import periods_in
from pytest_ragcheck.judging.offline.words.normalized_text import words
from pytest_ragcheck.judging.offline.words.terms import is_number, numbers_in, term_of
from pytest_ragcheck.judging.offline.words.word_lists import MONTHS_BY_WORD, UNITS_BY_WORD

_MOST_KNOWN = 2000
_MOST_COMPARED = 400_000  # pairs of an answer, for each takes a microsecond


class KnownQuantities:
    def __init__(self, texts: Iterable[tuple[Sequence[str], Sequence[Quantity]]]) -> None:
        self._known: dict[tuple[object, ...], tuple[Quantity, Sequence[str]]] = {}
        self._by_spelling: dict[tuple[str, ...], list[Quantity]] = {}
        self._texts = list(texts)
        self._compared = 0
        for terms, quantities in self._texts:
            has_24_hours = any(each.is_digital and each.value > NOON for each in quantities)
            for each in quantities:
                each.is_certain = each.is_certain or (each.is_digital and has_24_hours)
                if len(self._known) < _MOST_KNOWN:
                    key = (each.dimension, each.value, each.per, each.bound, each.noun, each.recurs)
                    spelt = terms[each.start : each.end]
                    if self._known.setdefault(key, (each, spelt))[0] is each:
                        self._by_spelling.setdefault(tuple(spelt), []).append(each)

    @lazy
    def _periods(self) -> set[str]:
        return periods_in(chain.from_iterable(terms for terms, _ in self._texts))

    def compare(self, terms: Sequence[str]) -> ComparedQuantities:
        """*terms* with their known quantities in the known spelling, and the quantities that are not known."""
        rewritten: list[str] = []
        compared = ComparedQuantities(terms=rewritten)
        end = 0
        for each in read_quantities(terms):
            own = terms[each.start : each.end]
            rewritten += terms[end : each.start]
            end = each.end
            is_known_rate = not each.per or each.per in self._periods
            if is_known_rate and any(not known.contradicts(each) for known in self._by_spelling.get(tuple(own), ())):
                compared.n_known += each.has_unit_or_bound
                rewritten += own
                continue
            self._compared += len(self._known)
            if self._compared > _MOST_COMPARED:
                rewritten += own
                continue
            same = [(known, spelt) for known, spelt in self._known.values() if known.same_value(each)]
            agreeing = next((spelt for known, spelt in same if not known.contradicts(each)), None)
            if agreeing is not None and is_known_rate:
                compared.n_known += each.has_unit_or_bound
                rewritten += agreeing
                continue
            rewritten += own
            is_interval = each.recurs == 2 and any(known.recurs for known, _ in self._known.values())
            if not (each.is_certain or each.dimension == "clock" or is_interval):
                continue
            other = same or [(known, spelt) for known, spelt in self._known.values() if known.comparable(each)]
            if other or each.dimension:
                spellings = [spelt for _, spelt in other]
                alike = (spelt for spelt in spellings if _without_numbers(spelt) == _without_numbers(own))
                instead = next(alike, spellings[0]) if spellings else None
                compared.unknown.append(UnknownQuantity(terms=own, instead=instead, is_other_rate=bool(same)))
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

    def accept(self, numbers: AbstractSet[str]) -> None:
        unknown = [each for each in self.unknown if numbers.isdisjoint(each.terms)]
        self.n_known += len(self.unknown) - len(unknown)
        self.unknown = unknown


@dataclass(slots=True, kw_only=True)
class UnknownQuantity:
    terms: Sequence[str]

    instead: Sequence[str] | None
    """The terms of a known quantity that measures the same; None without one."""

    is_other_rate: bool
    """True if the amount is known, but with another rate or bound: per week and not per day."""

    def names(self, sentence: str) -> tuple[str, str | None]:
        """The quantity, with nouns as in *sentence*, and the known one instead; numbers alone if the rest is equal."""
        word_of = {term_of(word): word for word in words(sentence)} | _WORD_OF
        if self.instead is None:
            return _spelt(self.terms, word_of), None
        own, other = numbers_in(self.terms), numbers_in(self.instead)
        if own and other and own != other and _without_numbers(self.terms) == _without_numbers(self.instead):
            return " ".join(own), " ".join(other)
        return _spelt(self.terms, word_of), _spelt(self.instead, _WORD_OF)


def _without_numbers(terms: Sequence[str]) -> list[str]:
    return list(filterfalse(is_number, terms))


def _spelt(terms: Sequence[str], word_of: Mapping[str, str]) -> str:
    return re.sub(r"(\S+) subzero", r"-\1", " ".join(word_of.get(term, term) for term in terms))


_WORD_OF: dict[str, str] = {}
for _word in (*UNITS_BY_WORD, *MONTHS_BY_WORD):
    # The second word of a term is mostly its plural, as is one with a further "s".
    if _WORD_OF.get(term_of(_word)) in (None, term_of(_word), _word[:-1]):
        _WORD_OF[term_of(_word)] = _word
