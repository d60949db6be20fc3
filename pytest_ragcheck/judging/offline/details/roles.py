"""Reads who does what to whom in a sentence, and finds swapped parties."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, compress, count, pairwise, permutations, product

from pytest_ragcheck.judging.offline.quantities.dates import DATES
from pytest_ragcheck.judging.offline.quantities.quantity import DATED_OR_MEASURED
from pytest_ragcheck.judging.offline.words.normalized_text import words
from pytest_ragcheck.judging.offline.words.rewording import NOT
from pytest_ragcheck.judging.offline.words.stems import cyrillic_case
from pytest_ragcheck.judging.offline.words.terms import (
    END,
    STOP_WORDS,
    by_term,
    content_of,
    first_content,
    is_number,
    term_of,
    terms_of,
)
from pytest_ragcheck.judging.offline.words.word_lists import ROLES_BY_WORD, WORDS

# Words directly before a noun. A noun that replaces another one has such a word before it, too.
BEFORE_NOUNS = terms_of(WORDS["before nouns"]) - {NOT}  # the Portuguese "no"
_ROLES = by_term(ROLES_BY_WORD)
_BY = frozenset(term for term, role in _ROLES.items() if role == "by")
_LONGEST_AGENT = 6  # terms
_WITHOUT_ROLE = DATES | DATED_OR_MEASURED | {END}


def swapped_role(claim: Sequence[str], sentence: Sequence[str]) -> Sequence[str]:
    """The noun of *claim* after "to", "by", "from" or "than", if *sentence* has another one there; or empty."""
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
    # Each content term after a preposition of `_ROLES`, and its role.
    is_english = "the" in terms  # where "a" is an article
    for place, term in enumerate(terms):
        if term in _ROLES and not (is_english and term == "a"):
            noun = first_content(terms[place + 1 : place + 3])
            is_infinitive = term == "to" and terms[place + 1 : place + 2] == [noun]
            is_after_preposition = term == "dem" and place > 0 and terms[place - 1] in BEFORE_NOUNS
            if noun and not (is_infinitive or is_after_preposition or noun in _WITHOUT_ROLE or is_number(noun)):
                # "Cheaper than a" is compared with "cheaper than b", not with "dearer than b".
                yield noun, _ROLES[term] + terms[place - 1] * (_ROLES[term] == "than")


# The beginning of another clause: a mark, "and", "while", a relative pronoun.
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


def read_clauses(sentence: str) -> list[dict[str, str]]:
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
            term = term_of(word)
            if term not in STOP_WORDS and not is_number(term) and len(word) >= _LEAST_OF_A_NOUN:
                is_noun = word.isascii() and before != "" and term_of(before) in BEFORE_NOUNS
                clause[term] = _NOUN if is_noun else cyrillic_case(word, _CASES)
        if clause:
            clauses.append(clause)
    return clauses


def may_swap_nouns(clauses: Sequence[Mapping[str, str]]) -> bool:
    """True with a noun in each of two clauses, or a Russian subject."""
    kinds = [frozenset(each.values()) for each in clauses]
    return sum(_NOUN in each for each in kinds) > 1 or any("nominative" in each for each in kinds)


def swapped_noun(own: Sequence[Mapping[str, str]], other: Sequence[Mapping[str, str]]) -> str | None:
    """
    A noun of the clauses *own* that is swapped with another one in *other*; None if there is none.

    "The tenant signs and the landlord pays" for "the landlord signs and the tenant pays"; in Russian two cases too.
    """
    if not (may_swap_nouns(own) and may_swap_nouns(other)):
        return None
    # For each clause of one sentence, the clauses of the other that share a noun with it.
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
    """Each content term before a "by", and the content terms after it, which name the agent."""
    for place in () if _BY.isdisjoint(terms) else compress(count(), map(_BY.__contains__, terms)):
        before = first_content(reversed(terms[max(0, place - 2) : place]))
        after = content_of(terms[place + 1 : place + 2 + _LONGEST_AGENT])
        if before and after:
            yield before, after
