"""Finds the details in which an answer differs from a text that it nearly copies: quantities, lists, single words."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from itertools import chain, compress, count, pairwise, permutations, product

from pytest_ragcheck.judging.offline.quantities.quantity import DATED_OR_MEASURED
from pytest_ragcheck.judging.offline.quantities.quantity_reader import read_quantities
from pytest_ragcheck.judging.offline.quantities.rates import BOUNDS
from pytest_ragcheck.judging.offline.words.measure_words import MONTHS_BY_WORD, WEEKDAYS_BY_WORD
from pytest_ragcheck.judging.offline.words.normalized_text import words
from pytest_ragcheck.judging.offline.words.polarity_words import NOT, OPPOSITES
from pytest_ragcheck.judging.offline.words.terms import (
    END,
    STOP_WORDS,
    WITHOUT_POLARITY,
    TermDictionary,
    cyrillic_case,
    is_number,
    numbers_in,
    term_of,
    terms_of,
)
from pytest_ragcheck.judging.offline.words.word_lists import WORDS

_LONGEST_REPLACED = 3  # content terms
_REACH_OF_A_LIST, _LONGEST_ITEM = 12, 5  # terms
_SAME_BEGINNING = 4  # characters of words that may be forms of one another

_AND = terms_of("and und sowie et y e i ed en и также plus nonche asi bem evenals")
_OPPOSITES = {
    term: terms_of(other) - terms_of(own)
    for pair in OPPOSITES
    for own, other in permutations(pair)
    for term in terms_of(own)
}
_ONLY = terms_of(WORDS["only"])
# Words directly before a noun. A noun that replaces another one has such a word before it, too.
_BEFORE_NOUNS = terms_of(WORDS["before nouns"]) - {NOT}  # the Portuguese "no"
_BEFORE_ITEMS = _AND | _BEFORE_NOUNS
_ROLES = {
    term: role
    for role, words in (
        ("to", "to an al alla allo ai agli a au aux aan ao aos dem к"),
        ("by", "by von vom par por pelo pela dal dalla dai da door"),
        ("from", "from aus из"),
        ("in", "into ins в во"),
    )
    for term in terms_of(words)
}
_BY = frozenset(term for term, role in _ROLES.items() if role == "by")
_LONGEST_AGENT = 6  # terms
_DATES = {
    **{term_of(word): -number for word, number in WEEKDAYS_BY_WORD.items()},
    **{term_of(word): number for word, number in MONTHS_BY_WORD.items()},
}
DATES = frozenset(_DATES)
CALENDAR = DATES - terms_of("may march mars mai mar marco mei sept dec jan")
"""Terms of weekdays and of months that mean nothing else."""
_WITHOUT_PLACE = WITHOUT_POLARITY | BOUNDS
_WITHOUT_ROLE = DATES | DATED_OR_MEASURED | {END}
_BEFORE_MONTHS = terms_of("in since until till im seit bis en depuis jusqu'en em desde ate da fino с до")


def foreign_date(claim: Sequence[str], known: AbstractSet[str]) -> str | None:
    """The first weekday or month of *claim* that is not among *known*, in any language; None without one."""
    there = {_DATES[term] for term in known}
    for earlier, before, term in zip(("", "", *claim), ("", *claim), claim, strict=False):
        is_date = term in CALENDAR or (term in DATES and before in _BEFORE_MONTHS)
        if is_date and _DATES[term] not in there and NOT not in (earlier, before):
            return term
    return None


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
    """True if an addition goes on with the sentence, without a comma, "and", a condition or another clause."""

    def concerns(self, expected: AbstractSet[str]) -> bool:
        """True if the change makes *expected* an answer to something else, or another list."""
        changes = not self.is_addition and expected.isdisjoint(self.terms)
        return changes and (not self.is_list or not _AND.isdisjoint(expected))


def changed_detail(
    claim: Sequence[str], sentence: Sequence[str], is_elsewhere: Callable[[Sequence[str]], bool]
) -> ChangedDetail | None:
    """
    The detail in which *claim* differs from *sentence*; None if there is none.

    Args:
        claim: The terms of a sentence that nearly copies *sentence*.
        sentence: The terms of a sentence of the contexts.
        is_elsewhere: True for terms that the contexts have elsewhere with words of the claim; those replace nothing.
    """
    changed = other_quantity(claim, sentence, is_elsewhere) or opposite_word(claim, sentence)
    if changed:
        return ChangedDetail(terms=changed)
    if is_shortened(sentence, claim):
        return ChangedDetail(terms=[term for term in claim if term not in STOP_WORDS][-1:], is_list=True)
    if names_one_of_two(claim, sentence):
        return ChangedDetail(terms=[term for term in claim if term in _ONLY], is_list=True)
    run = exchanged_role(claim, sentence) or replaced(claim, sentence, is_elsewhere)
    return ChangedDetail(terms=run) if run else None


def exchanged_role(claim: Sequence[str], sentence: Sequence[str]) -> Sequence[str]:
    """The noun of *claim* after "to", "by" or "from", if *sentence* has another one there; or empty."""
    if _ROLES.keys().isdisjoint(sentence) or not (other := dict(_with_roles(sentence))):
        return ()
    own = dict(_with_roles(claim))
    for noun, role in own.items():
        if noun in sentence and other.get(noun) != role:
            for instead, its_role in other.items():
                if its_role == role and instead in claim and own.get(instead) != role:
                    return [noun]
    return ()


def _with_roles(terms: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Each content term after a preposition of `_ROLES`, with or without an article, and that role."""
    is_english = "the" in terms  # where "a" is an article
    for place, term in enumerate(terms):
        if term in _ROLES and not (is_english and term == "a"):
            noun = next((each for each in terms[place + 1 : place + 3] if each not in STOP_WORDS), None)
            is_infinitive = term == "to" and terms[place + 1 : place + 2] == [noun]
            is_after_preposition = term == "dem" and place > 0 and terms[place - 1] in _BEFORE_NOUNS
            if noun is not None and not (
                is_infinitive or is_after_preposition or noun in _WITHOUT_ROLE or is_number(noun)
            ):
                yield noun, _ROLES[term]


# What begins another clause: a mark, "and", "while", a relative pronoun.
_CLAUSES = re.compile(
    # The lookahead, which skips most words, saves half the time.
    r"[,;:()–—]|\b(?=[acemqtuwyакти])(?:and|while|whereas|who|which|und|während|wohingegen|et|tandis que|qui|y|"
    r"mientras|que|quien|mentre|che|enquanto|e|en|terwijl|и|а|тогда как|котор\w+)\b",
    re.IGNORECASE,
)
# The case of a Russian noun by its ending, with "й" as "и".
_CASES = {
    **dict.fromkeys(("", "ь", "а", "я", "и"), "nominative"),
    **dict.fromkeys(("у", "ю", "е"), "dative"),
    **dict.fromkeys(("ом", "ем"), "instrumental"),
}
_NOUN = "noun"
_LEAST_OF_A_NOUN = 4  # letters
_CLAUSES_COMPARED = 6


def read_clauses(sentence: str, terms: TermDictionary) -> list[dict[str, str]]:
    """The content terms of the first clauses, with "noun" after an article, the case in Russian, or nothing."""
    clauses: list[dict[str, str]] = []
    start = 0
    ends = ((mark.start(), mark.end()) for mark in _CLAUSES.finditer(sentence))
    for end, after in chain(ends, [(len(sentence), 0)]):
        if len(clauses) == _CLAUSES_COMPARED:
            break
        found = words(sentence[start:end])
        start = after
        clause: dict[str, str] = {}
        for before, word in pairwise(("", *found)):
            term = terms[word]
            if term not in STOP_WORDS and not is_number(term) and len(word) >= _LEAST_OF_A_NOUN:
                is_noun = word.isascii() and before != "" and terms[before] in _BEFORE_NOUNS
                clause[term] = _NOUN if is_noun else cyrillic_case(word, _CASES)
        if clause:
            clauses.append(clause)
    return clauses


def may_exchange(clauses: Sequence[Mapping[str, str]]) -> bool:
    """True if *clauses* have nouns that may have changed places: two clauses with one, or a Russian subject."""
    kinds = [frozenset(each.values()) for each in clauses]
    return sum(_NOUN in each for each in kinds) > 1 or any("nominative" in each for each in kinds)


def exchanged_partners(own: Sequence[Mapping[str, str]], other: Sequence[Mapping[str, str]]) -> str | None:
    """
    A noun of *own* that has changed places with another one; None if there is none.

    "The tenant signs and the landlord pays" for "the landlord signs and the tenant pays"; in Russian also the
    nominative and the dative of two nouns.

    Args:
        own: The clauses of a sentence of the answer, from `read_clauses`.
        other: Those of a sentence of the contexts.
    """
    if not (may_exchange(own) and may_exchange(other)):
        return None
    # For each clause of the one sentence, those of the other one that share a noun with it.
    shared = [[(at, its) for at, its in enumerate(other) if _nouns(mine, its)] for mine in own]
    for (first, to_second), (second, to_first) in permutations(zip(own, shared, strict=True), 2):
        for (at, its_first), (to, its_second) in product(to_first, to_second):
            came = _nouns(first, its_second) - its_first.keys() - second.keys()
            if (
                at < to
                and came
                and _nouns(second, its_first) - its_second.keys() - first.keys()
                and first.keys() & its_first.keys() - its_second.keys() - second.keys()
                and second.keys() & its_second.keys() - its_first.keys() - first.keys()
            ):
                return min(came)
    cases, its_cases = _kinds(own), _kinds(other)
    for subject, case in cases.items():
        was = its_cases.get(subject, "")
        if case == "nominative" and was in ("dative", "instrumental"):
            for instead, its_case in its_cases.items():
                if its_case == "nominative" and cases.get(instead) == was:
                    return subject
    return None


def _kinds(clauses: Iterable[Mapping[str, str]]) -> dict[str, str]:
    return {term: kind for clause in clauses for term, kind in clause.items()}


def _nouns(own: Mapping[str, str], other: Mapping[str, str]) -> set[str]:
    return {term for term, kind in own.items() if kind == _NOUN and other.get(term) == _NOUN}


def agents(terms: Sequence[str]) -> Iterator[tuple[str, Sequence[str]]]:
    """Each content term before a "by", and the content terms after it: who did it."""
    if _BY.isdisjoint(terms):
        return
    for place, term in enumerate(terms):
        if _ROLES.get(term) == "by":
            before = next((each for each in reversed(terms[max(0, place - 2) : place]) if each not in STOP_WORDS), None)
            after = [each for each in terms[place + 1 : place + 2 + _LONGEST_AGENT] if each not in STOP_WORDS]
            if before is not None and after:
                yield before, after


def other_quantity(
    claim: Sequence[str], sentence: Sequence[str], is_elsewhere: Callable[[Sequence[str]], bool]
) -> Sequence[str]:
    """The terms of a quantity of *claim* in whose place *sentence* has another one; empty without one."""
    if DATED_OR_MEASURED.isdisjoint(claim) or DATED_OR_MEASURED.isdisjoint(sentence):
        return ()
    numbers = numbers_in(claim)
    if numbers and frozenset(sentence).issuperset((*numbers, *DATED_OR_MEASURED.intersection(claim))):
        return ()
    own = [each for each in read_quantities(claim) if each.dimension]
    others = [each for each in read_quantities(sentence) if each.dimension]
    free = [each for each in others if not any(each.same_value(mine) for mine in own)]
    for each in own:
        if any(each.comparable(other) for other in free) and not any(each.same_value(other) for other in others):
            run = claim[each.start : each.end]
            new = [term for term in run if term not in sentence]
            return () if new and is_elsewhere(new) else run
    return ()


def added_item(claim: Sequence[str], known: AbstractSet[str]) -> Sequence[str]:
    """The new word of *claim* after a known one and "and", which nothing follows but known words; empty without one."""
    last = next((place for place in range(len(claim) - 1, 0, -1) if claim[place] not in STOP_WORDS), 0)
    if (
        claim[last] in known
        or is_number(claim[last])
        or not (claim[last - 1] in _BEFORE_ITEMS or is_number(claim[last - 1]))
    ):
        return ()
    at = last - 1
    while at > 0 and claim[at] not in _AND and (claim[at] in STOP_WORDS or is_number(claim[at])):
        at -= 1
    before = next((each for each in reversed(claim[:at]) if each not in STOP_WORDS), None)
    return [claim[last]] if claim[at] in _AND and before in known else ()


def opposite_word(claim: Sequence[str], sentence: Sequence[str]) -> Sequence[str]:
    """The word of *claim* that *sentence* lacks, if it has an opposite of it that *claim* lacks; else empty."""
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


def is_shortened(short: Sequence[str], long: Sequence[str]) -> bool:
    """True if *short* closes a list with "and" before an item that is not the last one in *long*: a, b for a, b, c."""
    if _AND.isdisjoint(long) or _AND.isdisjoint(short):
        return False
    own = frozenset(short)
    for place, term in enumerate(short):
        if term not in _AND or not 0 < place < len(short) - 1:
            continue
        before = next((each for each in reversed(short[:place]) if each not in STOP_WORDS), None)
        after = next((each for each in short[place + 1 :] if each not in STOP_WORDS), None)
        if before is None or after is None:
            continue
        for at in _places(long, before):
            following = long[at + 1 : at + 1 + _REACH_OF_A_LIST]
            until = _place_of(following, after)
            if until is None or any(each in _AND or each not in STOP_WORDS for each in following[:until]):
                continue
            rest = following[until + 1 :]
            conjunction = next((index for index, each in enumerate(rest) if each in _AND), None)
            if conjunction is None or END in rest[:conjunction]:
                continue
            item = [each for each in rest[conjunction + 1 : conjunction + 1 + _LONGEST_ITEM] if each not in STOP_WORDS]
            if item and item[0] != END and own.isdisjoint(item):
                return True
    return False


def joined_items(terms: Sequence[str], known: AbstractSet[str]) -> Iterator[tuple[str, str]]:
    """The content terms before and after each "and", if terms beside it are *known*."""
    for place in compress(count(), map(_AND.__contains__, terms)):
        if known.isdisjoint(terms[max(0, place - 3) : place]) or known.isdisjoint(terms[place + 1 : place + 4]):
            continue
        before = next((each for each in reversed(terms[max(0, place - 3) : place]) if each not in STOP_WORDS), "")
        after = next((each for each in terms[place + 1 : place + 4] if each not in STOP_WORDS), "")
        if before and after:
            yield before, after


def names_one_of_two(claim: Sequence[str], sentence: Sequence[str]) -> bool:
    """True if *claim* says "only a" for "a and b"."""
    if _ONLY.isdisjoint(claim) or not _ONLY.isdisjoint(sentence):
        return False
    own = frozenset(claim)
    named = {each for place, term in enumerate(claim) if term in _ONLY for each in claim[place + 1 : place + 4]}
    content = [term for term in sentence if term not in STOP_WORDS or term in _AND]
    return any(
        middle in _AND and ((before in named and after not in own) or (after in named and before not in own))
        for before, middle, after in zip(content, content[1:], content[2:], strict=False)
    )


def replaced(claim: Sequence[str], sentence: Sequence[str], is_elsewhere: Callable[[Sequence[str]], bool]) -> list[str]:
    """
    The content terms of *claim* that stand in the place of others in *sentence*; empty if there are none.

    Args:
        claim: The terms of a sentence that nearly copies *sentence*.
        sentence: The terms of a sentence of the contexts.
        is_elsewhere: True for terms that the contexts have elsewhere with words of the claim; those replace nothing.
    """
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
    """The short runs of terms that are not *common*, between the terms before and after them; not the whole."""
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
    if any(own[:_SAME_BEGINNING] == other[:_SAME_BEGINNING] for own in run for other in instead):
        return False
    return are_nouns or all(map(is_number, (run[0], instead[0])))


def _content(terms: Sequence[str]) -> list[tuple[str, bool]]:
    """The content terms, each with whether an article or a preposition is before it."""
    return [(term, before in _BEFORE_NOUNS) for before, term in pairwise(("", *terms)) if term not in _WITHOUT_PLACE]


def _places(terms: Sequence[str], term: str) -> list[int]:
    return [place for place, each in enumerate(terms) if each == term]


def _place_of(terms: Sequence[str], term: str) -> int | None:
    return terms.index(term) if term in terms else None
