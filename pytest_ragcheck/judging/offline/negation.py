"""Recognises yes, no, and the words that a negation denies."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from pytest_ragcheck.judging.offline.stop_words import LINKS, NEGATIONS, NO, YES

if TYPE_CHECKING:
    from collections.abc import Sequence
    from collections.abc import Set as AbstractSet

    from pytest_ragcheck.judging.offline.terms import TermDictionary

_FIRST_WORD = re.compile(r"\W{0,20}([^\W\d_]+)\s?(?:[.,:;!。，、！]|$)")


def negates(word: str) -> bool:
    """True for a word that negates what follows it: "not", "never", "isn't"."""
    return word in NEGATIONS or word.endswith("n't")


def says_yes(text: str) -> bool | None:
    """True for a text that begins with "Yes," or similar, False for "No,", else None ("No one knows")."""
    first = _FIRST_WORD.match(text)
    if first is None:
        return None
    word = first[1].casefold()
    return True if word in YES else False if word in NO else None


def all_are_denied(words: Sequence[str], found: AbstractSet[str], terms: TermDictionary) -> bool:
    """
    True if a negation precedes every mention of *found*, with only `LINKS` between; False without a mention.

    Args:
        words: The answer's words, in order.
        found: The terms to search for.
        terms: The dictionary of terms.
    """
    is_denied, mentions = False, 0
    for word in words:
        if negates(word):
            is_denied = True
        elif terms[word] in found:
            if not is_denied:
                return False
            mentions += 1
        elif word not in LINKS:
            is_denied = False
    return mentions > 0
