"""Compares the quantities of an answer with those of its material, and finds numbers that follow from others."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain, filterfalse, islice, pairwise, permutations

from pytest_ragcheck.judging.offline.details.list_items import n_announced
from pytest_ragcheck.judging.offline.grounding.read_context import ReadContext
from pytest_ragcheck.judging.offline.quantities.dates import DATES
from pytest_ragcheck.judging.offline.quantities.quantity import DATED_OR_MEASURED, NOON, UNITS, Quantity
from pytest_ragcheck.judging.offline.quantities.quantity_reader import read_quantities
from pytest_ragcheck.judging.offline.quantities.rates import periods_in
from pytest_ragcheck.judging.offline.words.normalized_text import words
from pytest_ragcheck.judging.offline.words.terms import TermDictionary, is_number, numbers_in, term_of
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

    @cached_property
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

    @cached_property
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

    @cached_property
    def _accepted(self) -> frozenset[str]:
        return frozenset(numbers_in(chain.from_iterable(map(self._terms.of, self._texts))))

    @cached_property
    def _given(self) -> Operands:
        texts = [self._asked, *(passage.terms for passage in self._passages)]
        return Operands(
            numbers_in(chain.from_iterable(texts)),
            chain(read_quantities(self._asked), *(passage.quantities for passage in self._passages)),
        )

    @cached_property
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
