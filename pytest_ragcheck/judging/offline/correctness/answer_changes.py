"""Finds what an answer has in place of a part of an expected answer."""

from __future__ import annotations

from collections.abc import Sequence
from collections.abc import Set as AbstractSet

from pytest_ragcheck.judging.offline.correctness.answer_text import AnswerText
from pytest_ragcheck.judging.offline.correctness.expected_answer import ExpectedAnswer
from pytest_ragcheck.judging.offline.correctness.list_items import expected_items
from pytest_ragcheck.judging.offline.details.changed_details import changed_detail, swapped_numbers
from pytest_ragcheck.judging.offline.details.changed_lists import is_shortened
from pytest_ragcheck.judging.offline.details.roles import may_swap_nouns, read_clauses, swapped_noun, swapped_role
from pytest_ragcheck.judging.offline.quantities.quantity import DATED_OR_MEASURED
from pytest_ragcheck.judging.offline.quantities.rates import BOUNDS
from pytest_ragcheck.judging.offline.words.terms import is_number, numbers_in

_LEAST_OF_A_COPY = 3
_LEAST_OF_A_CLAUSE, _NEAR_COPY = 5, 0.75
_MOST_TERMS_OF_A_PHRASE = 3
_LEAST_OF_A_WORD = 4  # letters of a part of a compound


def replaces_words(answer: AnswerText, sought: ExpectedAnswer, expected: str) -> bool:
    """True if the answer lacks all expected content terms, or one of a name or another short phrase."""
    content = sought.content - answer.asked
    missing = content - answer.all
    if not missing or answer.polarity.says_yes is not None:
        return False
    is_phrase = len(content) <= _MOST_TERMS_OF_A_PHRASE
    return missing == content or (is_phrase and not expected_items(expected, answer.question, answer.terms))


def changes_detail(answer: AnswerText, sought: ExpectedAnswer, expected: str) -> bool:
    """True if the answer ends the expected list too early, or has another word in the same place."""
    if is_shortened(answer.in_order, sought.terms):
        return True
    is_near_copy = _NEAR_COPY * len(sought.distinct) <= len(sought.distinct & answer.all)
    if is_near_copy and (
        swapped_role(answer.in_order, sought.terms)
        or swapped_numbers(answer.in_order, sought.terms)
        or _swaps_nouns(answer, sought, expected)
    ):
        return True
    content = sought.content - DATED_OR_MEASURED - BOUNDS
    plain = content.difference(numbers_in(content))
    n_common = len(plain & answer.all)
    if len(content) < _LEAST_OF_A_COPY or sought.distinct <= answer.all or not 2 * n_common >= len(plain) > 0:
        return False
    change = changed_detail(answer.in_order, sought.terms, lambda _: False)
    return change is not None and not any(map(is_number, change.terms))


def _swaps_nouns(answer: AnswerText, sought: ExpectedAnswer, expected: str) -> bool:
    if len(sought.terms) < _LEAST_OF_A_CLAUSE or sought.is_contained_in(answer.spelt):
        return False
    clauses = read_clauses(expected)
    return may_swap_nouns(clauses) and swapped_noun(read_clauses(answer.text), clauses) is not None


def leaves_out_item(answer: AnswerText, items: Sequence[frozenset[str]], lacking: AbstractSet[str]) -> bool:
    return any(terms <= answer.all for terms in items) and any(
        set(numbers_in(terms)) == terms <= lacking
        or (
            answer.all.isdisjoint(terms)
            and not numbers_in(terms)
            and DATED_OR_MEASURED.isdisjoint(terms)
            and not any(
                part in term
                for term in terms
                for part in answer.own
                if len(part) >= _LEAST_OF_A_WORD and part.isascii()
            )
        )
        for terms in items
    )
