"""Compares the items of an expected list with those of an answer, and finds lists that an answer changed."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet
from itertools import combinations, compress, count, dropwhile, filterfalse, takewhile

from pytest_ragcheck.judging.offline.details.roles import BEFORE_NOUNS
from pytest_ragcheck.judging.offline.quantities.quantity import DATED_OR_MEASURED
from pytest_ragcheck.judging.offline.words.normalized_text import listed, words
from pytest_ragcheck.judging.offline.words.rewording import NOT_DUTCH
from pytest_ragcheck.judging.offline.words.terms import (
    END,
    STOP_WORDS,
    TermDictionary,
    first_content,
    is_number,
    numbers_in,
    terms_of,
)
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


_REACH_OF_A_LIST, _LONGEST_RUN = 12, 5  # terms
AND = terms_of("and und sowie et y e i ed en и также plus nonche asi bem evenals")
ONLY = terms_of(WORDS["only"])
_BEFORE_ITEMS = AND | BEFORE_NOUNS


def added_item(claim: Sequence[str], known: AbstractSet[str]) -> Sequence[str]:
    """The last content term of *claim*, if it is new and follows a known term and "and"; else empty."""
    item = first_content(reversed(claim))
    if not item or item in known or is_number(item):
        return ()
    last = len(claim) - 1 - claim[::-1].index(item)
    if not (claim[last - 1] in _BEFORE_ITEMS or is_number(claim[last - 1])):
        return ()
    at = last - 1
    while at > 0 and claim[at] not in AND and (claim[at] in STOP_WORDS or is_number(claim[at])):
        at -= 1
    before = first_content(reversed(claim[:at]))
    return [item] if claim[at] in AND and before in known else ()


def is_shortened(short: Sequence[str], long: Sequence[str]) -> bool:
    """True if *short* ends a list with "and" and an item that is not the last one in *long*: a, b for a, b, c."""
    if AND.isdisjoint(long) or AND.isdisjoint(short):
        return False
    own = frozenset(short)
    for place, term in enumerate(short):
        if term not in AND or not 0 < place < len(short) - 1:
            continue
        before = first_content(reversed(short[:place]))
        after = first_content(short[place + 1 :])
        if not (before and after):
            continue
        for at, other in enumerate(long):
            if other != before or after not in (following := long[at + 1 : at + 1 + _REACH_OF_A_LIST]):
                continue
            until = following.index(after)
            if any(each in AND or each not in STOP_WORDS for each in following[:until]):
                continue
            rest = following[until + 1 :]
            conjunction = next((index for index, each in enumerate(rest) if each in AND), None)
            if conjunction is None or END in rest[:conjunction]:
                continue
            item = _first_run(rest[conjunction + 1 : conjunction + 1 + _LONGEST_RUN])
            if item and item[0] != END and own.isdisjoint(item):
                return True
    return False


def _first_run(terms: Sequence[str]) -> Sequence[str]:
    # The content terms that follow one another, the first of *terms*.
    from_first = dropwhile(STOP_WORDS.__contains__, terms)
    return list(takewhile(lambda term: term not in STOP_WORDS, from_first))


def joined_items(terms: Sequence[str], known: AbstractSet[str]) -> Iterator[tuple[str, str]]:
    """The content terms before and after each "and", if terms beside it are *known*."""
    for place in compress(count(), map(AND.__contains__, terms)):
        if known.isdisjoint(terms[max(0, place - 3) : place]) or known.isdisjoint(terms[place + 1 : place + 4]):
            continue
        before = first_content(reversed(terms[max(0, place - 3) : place]))
        after = first_content(terms[place + 1 : place + 4])
        if before and after:
            yield before, after


def names_fewer(claim: Sequence[str], sentence: Sequence[str]) -> bool:
    """True if *claim* says "only a", or "only a and b", for "a, b and c"."""
    first = next(compress(count(1), map(ONLY.__contains__, claim)), 0)
    if not first or not ONLY.isdisjoint(sentence):
        return False
    own, reach = frozenset(claim), claim[first : first + _REACH_OF_A_LIST]
    joint = next(compress(count(), map(AND.__contains__, reach)), 0)
    named = reach[: joint + 3]
    content = ["", *(term for term in sentence if term not in STOP_WORDS or term in AND), ""]
    for at in compress(count(), map(AND.__contains__, content)):
        earlier, before, after = content[at - 2], content[at - 1], content[at + 1]
        ends = (before, after) if before in own or after in own else (earlier, before)
        is_list = not any(map(is_number, ends)) and DATED_OR_MEASURED.isdisjoint(ends)
        if is_list and any(one in named and other and other not in own for one, other in (ends, ends[::-1])):
            return True
    return False
