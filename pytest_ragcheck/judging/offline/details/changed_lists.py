"""Finds lists that an answer has shortened or lengthened: "a and b" for "a, b and c"."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet
from itertools import compress, count, dropwhile, takewhile

from pytest_ragcheck.judging.offline.details.roles import BEFORE_NOUNS
from pytest_ragcheck.judging.offline.quantities.quantity import DATED_OR_MEASURED
from pytest_ragcheck.judging.offline.words.terms import END, STOP_WORDS, first_content, is_number, terms_of
from pytest_ragcheck.judging.offline.words.word_lists import WORDS

_REACH_OF_A_LIST, _LONGEST_ITEM = 12, 5  # terms
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
            item = _first_run(rest[conjunction + 1 : conjunction + 1 + _LONGEST_ITEM])
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
