"""Finds the numbers of an answer that follow from other numbers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import chain, pairwise

from pytest_ragcheck.judging.offline.details.list_items import n_announced
from pytest_ragcheck.judging.offline.grounding.read_context import ReadContext
from pytest_ragcheck.judging.offline.lazy import lazy
from pytest_ragcheck.judging.offline.quantities.computed_quantities import Operands
from pytest_ragcheck.judging.offline.quantities.dates import DATES
from pytest_ragcheck.judging.offline.quantities.known_quantities import UnknownQuantity
from pytest_ragcheck.judging.offline.quantities.quantity import DATED_OR_MEASURED, UNITS, Quantity
from pytest_ragcheck.judging.offline.quantities.quantity_reader import read_quantities
from pytest_ragcheck.judging.offline.words.terms import TermDictionary, numbers_in

_TIMES = frozenset(unit for unit, (dimension, _) in UNITS.items() if dimension in ("time", "months"))


class Computation:
    def __init__(
        self,
        answer: str,
        asked: Sequence[str],
        passages: Sequence[ReadContext],
        accepted: Sequence[str],
        terms: TermDictionary,
    ) -> None:
        self._answer = answer
        self._asked, self._passages, self._texts, self._terms = asked, passages, accepted, terms

    @lazy
    def _accepted(self) -> frozenset[str]:
        return frozenset(numbers_in(chain.from_iterable(map(self._terms.of, self._texts))))

    @lazy
    def _given(self) -> Operands:
        texts = [self._asked, *(passage.terms for passage in self._passages)]
        return Operands(
            numbers_in(chain.from_iterable(texts)),
            chain(read_quantities(self._asked), *(passage.quantities for passage in self._passages)),
        )

    @lazy
    def _shares(self) -> list[Quantity]:
        # The shares in words of the contexts: "half of that fee".
        quantities = chain.from_iterable(passage.quantities for passage in self._passages)
        return [each for each in quantities if each.dimension == "percent" and not each.is_certain]

    def computed(
        self,
        sentence: str,
        claim: Sequence[str],
        answer: Sequence[Sequence[str]],
        unknown: Sequence[UnknownQuantity],
        has_number: Callable[[str], bool],
    ) -> set[str]:
        """
        The numbers of *claim*, the terms of *sentence*, that follow from two known numbers or times of *answer*.

        Those of an accepted answer may follow from two numbers of the contexts or the question. Those of *unknown*
        quantities may be known, with another unit.
        """
        in_doubt = {number for each in unknown for number in numbers_in(each.terms)}
        numbers = list(dict.fromkeys(numbers_in(claim)))
        shown = [
            each
            for each in dict.fromkeys(numbers_in(chain.from_iterable(answer)))
            if each != "1" and has_number(each) and not (each in in_doubt and each in numbers)
        ]
        times = [
            (each, numbers_in(terms[each.start : each.end])) for terms in answer for each in read_quantities(terms)
        ]
        known_times = [each for each, its in times if in_doubt.isdisjoint(its) and all(map(has_number, its))]
        known_times += self._shares
        sought = [number for number in numbers if number in in_doubt or not has_number(number)]
        counted = str(n_announced(sentence, self._answer))
        found = {counted} if counted in sought and counted != "1" and self._may_count(sentence, counted) else set()
        found |= self._computed(sought, Operands(shown, known_times), has_number)
        if found and len(found) < len(sought):  # 25 % is 0.25, and 0.25 of 80 is 20
            found |= self._computed(sought, Operands([*shown, *found], known_times), has_number)
        known = Operands((), known_times)
        for each, its in times:
            if not found.issuperset(its) and not set(its).isdisjoint(numbers):
                is_accepted = not self._accepted.isdisjoint(its)
                if known.give_time(each) or (is_accepted and self._given.give_time(each)):
                    found.update(its)
        return found

    def _may_count(self, sentence: str, number: str) -> bool:
        # True if *number* may count a list, as in "3 museums:" but not in "2 euros:" or "at 2:".
        head = sentence.replace("：", ":").rpartition(":")[0] or sentence
        nouns = {noun for at, noun in pairwise(self._terms.of(head)) if at == number}
        of_contexts = (noun for passage in self._passages for _, noun in passage.counted)
        if not nouns.isdisjoint(_TIMES):
            return sum(map(DATES.__contains__, self._terms.of(self._answer))) >= int(number)
        return bool(nouns) and nouns.isdisjoint(of_contexts) and DATED_OR_MEASURED.isdisjoint(nouns)

    def _computed(self, sought: Sequence[str], shown: Operands, has_number: Callable[[str], bool]) -> set[str]:
        found: set[str] = set()
        for number in sought:
            is_accepted = number in self._accepted
            is_shown = (is_accepted or len(number) > 1) and shown.give(number)  # "3" may only count
            follows = is_accepted and not has_number(number) and (number == "0" or self._given.give(number))
            if is_shown or follows:
                found.add(number)
        return found
