from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import chain, islice, pairwise, permutations

from pytest_ragcheck.judging.offline.details.list_items import n_announced
from pytest_ragcheck.judging.offline.grounding.read_context import ReadContext
from pytest_ragcheck.judging.offline.lazy import lazy
from pytest_ragcheck.judging.offline.quantities.dates import DATES
from pytest_ragcheck.judging.offline.quantities.known_quantities import UnknownQuantity
from pytest_ragcheck.judging.offline.quantities.quantity import DATED_OR_MEASURED, NOON, UNITS, Quantity
from pytest_ragcheck.judging.offline.quantities.quantity_reader import read_quantities
from pytest_ragcheck.judging.offline.words.terms import TermDictionary, numbers_in

_MOST = 60
_HUNDRED, _DECIMALS = 100.0, 6
_SECONDS_OF_A_MINUTE, _MINUTES_OF_A_DAY = 60.0, 2 * NOON


class Operands:
    """
    Numbers and times from which others may follow.

    Args:
        numbers: The numbers, as `canonical_number` writes them; only the first 60 different ones count.
        quantities: Clock times, durations and shares in words, with the same limit.
    """

    def __init__(self, numbers: Iterable[str], quantities: Iterable[Quantity]) -> None:
        given = islice(dict.fromkeys((each.dimension, each.value, each.is_certain) for each in quantities), _MOST)
        times = list(given)
        self._values = [value for each in islice(dict.fromkeys(numbers), _MOST) if (value := _value(each)) is not None]
        self._values += [value for dimension, value, is_certain in times if dimension == "percent" and not is_certain]
        self._clocks = [value for dimension, value, _ in times if dimension == "clock"]
        self._minutes = [value / _SECONDS_OF_A_MINUTE for dimension, value, _ in times if dimension == "time"]

    @lazy
    def _results(self) -> frozenset[float]:
        # The results of one operation on two of the numbers, and each number divided by 100, as for a percentage.
        one_step = (
            (
                one + other,
                one - other,
                one * other,
                one * other / _HUNDRED,
                one / _HUNDRED,
                one / other if other else one,
            )
            for one, other in permutations(self._values, 2)
        )
        return frozenset(round(result, _DECIMALS) for results in one_step for result in results)

    def give(self, number: str) -> bool:
        """True if two numbers give *number*: 20 and 32 give 52, 25 (percent) and 80 give 20."""
        wanted = _value(number)
        return wanted is not None and round(wanted, _DECIMALS) in self._results

    def give_time(self, sought: Quantity) -> bool:
        """True for 19:15 after 20:00 and 45 minutes, and for 9 hours 45 minutes after 21:50 and 7:35."""
        if sought.dimension == "clock":
            return any(
                (clock + sign * minutes - sought.value) % _MINUTES_OF_A_DAY == 0
                for clock in self._clocks
                for minutes in self._minutes
                for sign in (1, -1)
            )
        wanted = sought.value / _SECONDS_OF_A_MINUTE
        return sought.dimension == "time" and any(
            (later - earlier - wanted) % _MINUTES_OF_A_DAY == 0 for earlier, later in permutations(self._clocks, 2)
        )


def _value(number: str) -> float | None:
    try:
        return float(number)
    except ValueError:  # a clock time, or a version such as 1.2.3
        return None


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
