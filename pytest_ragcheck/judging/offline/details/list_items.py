"""Compares the items of an expected list with those of an answer."""

from __future__ import annotations

import re
from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from itertools import combinations, filterfalse

from pytest_ragcheck.judging.offline.quantities.quantity import DATED_OR_MEASURED
from pytest_ragcheck.judging.offline.words.normalized_text import listed, words
from pytest_ragcheck.judging.offline.words.rewording import NOT_DUTCH
from pytest_ragcheck.judging.offline.words.terms import STOP_WORDS, TermDictionary, numbers_in
from pytest_ragcheck.judging.offline.words.word_lists import WORDS

_LEAST_OF_A_LIST = 3  # items
_LONGEST_ITEM = 3  # content terms
_LEAST_OF_A_WORD = 4  # letters of a part of a compound
_SEPARATOR = re.compile(r", |(?:(?<!\s)|(?<=, ))\s+(?:and|or|und|oder|et|ou|y|e|ed|и|или)\s+", re.IGNORECASE)
# "En" is "and" in Dutch, and "in" elsewhere.
_DUTCH_SEPARATOR = re.compile(r", |(?:(?<!\s)|(?<=, ))\s+(?:en|of)\s+", re.IGNORECASE)
_DUTCH = listed(WORDS["Dutch lists"])
_COMMAS = frozenset((", ", "、"))
# Only after Han and Katakana, because a comma after Hiragana ends a clause. "和" is also a part of words, so it counts
# only in the last part.
_HAN_SEPARATOR = re.compile("(?<=[\u30a0-\u30ff\u4e00-\u9fff])(?:、|(?:以及|[和与及])(?=[\u4e00-\u9fff]+[。 ]*$))")
_BULLET = re.compile(r"^[ \t]*(?:(?:[-*•]|\d{1,2}[.)])[ \t]+|・)(.*\S)", re.MULTILINE)


def expected_items(expected: str, question: str, terms: TermDictionary) -> list[frozenset[str]]:
    """
    The content terms of each item of an expected list; empty for no list.

    Terms of several items and of the question are left out if others remain.
    """
    parts = _parts(expected)
    if len(parts) == 1 + expected.count(", ") + expected.count("、") < _LEAST_OF_A_LIST:  # without "and"
        return []
    asked = frozenset(words(question))
    items = [
        content
        for part in parts
        if (content := frozenset(terms.of_words(list(filterfalse(asked.__contains__, words(part))))) - STOP_WORDS)
    ]
    shared = {term for one, other in combinations(items, 2) for term in one & other}
    return [content - shared or content for content in items]


def entries_of(answer: str) -> list[str]:
    """The entries of the answer's Markdown lists; without one, the parts between commas and "and"."""
    return _BULLET.findall(answer) or _parts(answer)


def n_announced(sentence: str, answer: str) -> int:
    """The number of entries that *sentence* announces: those after its colon, or else those of the answer's lists."""
    after = sentence.replace("：", ":").rpartition(":")
    return len(entries_of(after[2]) if after[1] and after[2].strip() else _BULLET.findall(answer))


def adds_to(items: Sequence[frozenset[str]], answer: str, asked: AbstractSet[str], terms: TermDictionary) -> bool:
    """True if *answer* has a further short item: among all *items*, after them, or anywhere in a Markdown list."""
    entries = [frozenset(terms.of(entry)) - STOP_WORDS for entry in entries_of(answer)]
    places = [next((at for at, entry in enumerate(entries) if item <= entry), -1) for item in items]
    if -1 in places or len(set(places)) < len(items):
        return False
    if _BULLET.search(answer):
        among = entries
    else:
        first, last = min(places), max(places)
        joints = _separator_of(answer).findall(answer)
        # In "a, b and c" the list continues after "b".
        continues = not _COMMAS.isdisjoint(joints[last : last + 1]) or not _COMMAS.issuperset(joints[first:last])
        among = entries[first : last + (1 if continues else 2)]
    return any(0 < len(entry - asked) <= _LONGEST_ITEM and not any(item <= entry for item in items) for entry in among)


def _parts(text: str) -> list[str]:
    return _separator_of(text).split(text)


def _separator_of(text: str) -> re.Pattern[str]:
    if "、" in text:
        return _HAN_SEPARATOR
    found = text.lower().split()
    is_dutch = "en" in found and NOT_DUTCH.isdisjoint(found)
    is_dutch |= "of" in found and "the" not in found and not _DUTCH.isdisjoint(found)
    return _DUTCH_SEPARATOR if is_dutch else _SEPARATOR


def leaves_out_item(
    items: Sequence[frozenset[str]], lacking: AbstractSet[str], *, in_answer: AbstractSet[str], own: AbstractSet[str]
) -> bool:
    """True if the answer has an item and lacks another; its *own* terms may be parts of a compound in an item."""
    return any(terms <= in_answer for terms in items) and any(
        set(numbers_in(terms)) == terms <= lacking
        or (
            in_answer.isdisjoint(terms)
            and not numbers_in(terms)
            and DATED_OR_MEASURED.isdisjoint(terms)
            and not any(
                part in term for term in terms for part in own if len(part) >= _LEAST_OF_A_WORD and part.isascii()
            )
        )
        for terms in items
    )
