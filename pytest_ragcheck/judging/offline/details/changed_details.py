"""Finds the details in which an answer differs from a text that it nearly copies: quantities, lists, single words."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from itertools import filterfalse, pairwise, permutations, product

from pytest_ragcheck.judging.offline.details.list_items import AND, ONLY, is_shortened, names_fewer
from pytest_ragcheck.judging.offline.details.roles import BEFORE_NOUNS, swapped_role
from pytest_ragcheck.judging.offline.quantities.dates import DAY_NUMBERS
from pytest_ragcheck.judging.offline.quantities.quantity import DATED_OR_MEASURED
from pytest_ragcheck.judging.offline.quantities.quantity_reader import read_quantities
from pytest_ragcheck.judging.offline.quantities.rates import BOUNDS
from pytest_ragcheck.judging.offline.words.rewording import OPPOSITES
from pytest_ragcheck.judging.offline.words.terms import (
    END,
    STOP_WORDS,
    WITHOUT_POLARITY,
    content_of,
    is_number,
    numbers_in,
    terms_of,
)

_LONGEST_REPLACED = 3  # content terms
_SAME_BEGINNING = 4  # characters of words that may be forms of one another
_OPPOSITES = {
    term: terms_of(other) - terms_of(own)
    for pair in OPPOSITES
    for own, other in permutations(pair)
    for term in terms_of(own)
}
_WITHOUT_PLACE = WITHOUT_POLARITY | BOUNDS
_ADDRESS = re.compile(r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+|(?<=://)[^\s<>()\[\]\"'`?#]*[\w/]")


@dataclass(slots=True, kw_only=True)
class ChangedDetail:
    """A detail in which an answer's sentence differs from the sentence of the contexts that it nearly copies."""

    terms: Sequence[str]
    """The terms in the answer."""

    is_list: bool = False
    """True if a list has an item more or fewer."""

    is_addition: bool = False
    """True if the answer says more than the sentence, and nothing else."""

    is_elaboration: bool = False
    """True if an addition continues the sentence, without a comma, "and", a condition or another clause."""

    is_swap: bool = False
    """True if two numbers have changed places."""

    def concerns(self, expected: AbstractSet[str]) -> bool:
        """True if the change makes *expected* an answer to something else, or another list."""
        if self.is_swap:
            return not expected.isdisjoint(self.terms)
        changes = not self.is_addition and expected.isdisjoint(self.terms)
        return changes and (not self.is_list or not AND.isdisjoint(expected))


def addresses_in(text: str) -> frozenset[str]:
    """The e-mail addresses and URLs of *text* in lower case, these without scheme, "www.", query and last slash."""
    found = _ADDRESS.findall(text.lower()) if "@" in text or "://" in text else ()
    return frozenset(each.removeprefix("www.").rstrip("/") for each in found)


def changed_detail(
    claim: Sequence[str], sentence: Sequence[str], is_elsewhere: Callable[[Sequence[str]], bool]
) -> ChangedDetail | None:
    """
    The detail in which *claim* differs from *sentence*, which it nearly copies; None if there is none.

    Terms that are *is_elsewhere*, in the contexts with words of the claim, replace nothing.
    """
    changed = _other_quantity(claim, sentence, is_elsewhere) or _opposite_word(claim, sentence)
    if changed:
        return ChangedDetail(terms=changed)
    if is_shortened(sentence, claim):
        return ChangedDetail(terms=content_of(claim)[-1:], is_list=True)
    if names_fewer(claim, sentence):
        return ChangedDetail(terms=[term for term in claim if term in ONLY], is_list=True)
    if numbers := swapped_numbers(claim, sentence):
        return ChangedDetail(terms=numbers, is_swap=True)
    run = swapped_role(claim, sentence) or _replaced(claim, sentence, is_elsewhere)
    return ChangedDetail(terms=run) if run else None


def _other_quantity(
    claim: Sequence[str], sentence: Sequence[str], is_elsewhere: Callable[[Sequence[str]], bool]
) -> Sequence[str]:
    # The terms of a quantity of *claim* in whose place *sentence* has another one; empty without one.
    if DATED_OR_MEASURED.isdisjoint(claim) or DATED_OR_MEASURED.isdisjoint(sentence):
        return ()
    numbers = numbers_in(claim)
    if numbers and frozenset(sentence).issuperset((*numbers, *DATED_OR_MEASURED.intersection(claim))):
        return ()
    own = [each for each in read_quantities(claim) if each.dimension]
    others = [each for each in read_quantities(sentence) if each.dimension]
    free = [each for each in others if not any(map(each.same_value, own))]
    for each in own:
        if any(map(each.comparable, free)) and not any(map(each.same_value, others)):
            run = claim[each.start : each.end]
            new = [term for term in run if term not in sentence]
            return () if new and is_elsewhere(new) else run
    return ()


def swapped_numbers(claim: Sequence[str], sentence: Sequence[str]) -> Sequence[str]:
    """The numbers of *claim*, if *sentence* has them in another order among the same words; else empty."""
    if len(numbers_in(sentence)) < 2:
        return ()
    common = frozenset(claim).intersection(sentence)
    own, there = ([term for term in terms if term in common] for terms in (claim, sentence))
    numbers = numbers_in(own)
    if len(numbers) < 2 or numbers == numbers_in(there) or sorted(numbers) != sorted(numbers_in(there)):
        return ()
    words = filterfalse(is_number, there)
    between = content_of(filterfalse(is_number, own[own.index(numbers[0]) : own.index(numbers[-1])]))
    beside = [term for pair in pairwise(content_of(claim)) if not common.isdisjoint(numbers_in(pair)) for term in pair]
    is_other = DATED_OR_MEASURED.issuperset(between) or not common.issuperset(beside)
    return () if is_other or not all(term in words for term in filterfalse(is_number, own)) else numbers


def _opposite_word(claim: Sequence[str], sentence: Sequence[str]) -> Sequence[str]:
    # The word of *claim* in whose place *sentence* has an opposite that *claim* lacks; else empty.
    if _OPPOSITES.keys().isdisjoint(claim):
        return ()
    own, there = frozenset(claim), frozenset(sentence)
    return [
        term
        for term in claim
        if term in _OPPOSITES
        and term not in there
        and not _OPPOSITES[term].isdisjoint(there)
        and _OPPOSITES[term].isdisjoint(own)
    ][:1]


def _replaced(
    claim: Sequence[str], sentence: Sequence[str], is_elsewhere: Callable[[Sequence[str]], bool]
) -> list[str]:
    # The content terms of *claim* that replace others of *sentence*; empty if there are none.
    if STOP_WORDS.issuperset(frozenset(claim).difference(sentence)):
        return []
    own, other = _content(claim), _content(sentence)
    common = {term for term, _ in own} & {term for term, _ in other}
    places: dict[str, list[int]] = {END: [-1, len(other)]}
    for place, (term, _) in enumerate(other):
        places.setdefault(term, []).append(place)
    for before, run, after in _foreign_runs(own, common):
        terms = [term for term, _ in run]
        for begin, stop in product(places[before], places[after]):
            instead = other[begin + 1 : stop] if stop - begin <= _LONGEST_REPLACED + 1 else []
            if instead and common.isdisjoint(term for term, _ in instead):
                is_noun = run[0][1] and instead[0][1]
                if _is_replacement(terms, [term for term, _ in instead], is_noun) and not is_elsewhere(terms):
                    return terms
    return []


def _foreign_runs(
    own: Sequence[tuple[str, bool]], common: AbstractSet[str]
) -> Iterator[tuple[str, Sequence[tuple[str, bool]], str]]:
    # Yield each short run of terms that are not *common*, between its neighbours; never all terms.
    start = 0
    while start < len(own):
        end = start
        while end < len(own) and own[end][0] not in common:
            end += 1
        before, after = own[start - 1][0] if start else END, own[end][0] if end < len(own) else END
        if 0 < end - start <= _LONGEST_REPLACED and (before != END or after != END):
            yield before, own[start:end], after
        start = end + 1


def _is_replacement(run: Sequence[str], instead: Sequence[str], are_nouns: bool) -> bool:
    pairs = product(run, instead)
    if any(
        own[:_SAME_BEGINNING] == other[:_SAME_BEGINNING] or own == str(DAY_NUMBERS.get(other)) for own, other in pairs
    ):
        return False
    return are_nouns or all(map(is_number, (run[0], instead[0])))


def _content(terms: Sequence[str]) -> list[tuple[str, bool]]:
    # The content terms, each with True if it follows an article or a preposition.
    return [(term, before in BEFORE_NOUNS) for before, term in pairwise(("", *terms)) if term not in _WITHOUT_PLACE]
