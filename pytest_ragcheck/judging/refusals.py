"""Does an answer decline to answer."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING

from pytest_ragcheck.judging.offline_refusals import (
    ELSEWHERE,
    ELSEWHERE_TRIGGERS,
    ENGLISH,
    ENGLISH_TRIGGERS,
)
from pytest_ragcheck.judging.text import folded_words, normalised, sentences

if TYPE_CHECKING:
    from collections.abc import Collection

# Over the first two sentences: in the third and later ones "not mentioned" mostly qualifies an answer that was given.
_SENTENCES_READ = 2
# Enough for every refusal seen; it bounds the work on an answer that is one endless sentence.
_CHARACTERS_READ = 2000
_SENTENCE_READ = 400


def is_refusal(answer: str) -> bool:
    """
    Does *answer* decline to answer: says that it does not know, that the sources are silent, asks back, or is blank.

    Read are the first two sentences. An answer that declines and then gives something all the same is a refusal.
    """
    opening = [normalised(sentence) for sentence in islice(sentences(answer[:_CHARACTERS_READ]), _SENTENCES_READ)]
    return not opening or any(declines(sentence, folded_words(sentence)) for sentence in opening)


def declines(folded: str, words: Collection[str]) -> bool:
    """
    Does a sentence say that something is not known or not in the sources.

    Args:
        folded: The sentence, normalised.
        words: Its words.
    """
    opening = folded[:_SENTENCE_READ]
    if not ENGLISH_TRIGGERS.isdisjoint(words):
        present = frozenset(words)
        for triggers, pattern in ENGLISH:
            if not triggers.isdisjoint(present) and pattern.search(opening):
                return True
    if folded.isascii() and ELSEWHERE_TRIGGERS.isdisjoint(words) and "n'" not in folded:
        return False
    return ELSEWHERE.search(opening) is not None


def beside_declining(folded: str) -> str:
    """A normalised sentence without the words by which it declines."""
    opening = folded[:_SENTENCE_READ]
    for pattern in (*(pattern for _, pattern in ENGLISH), ELSEWHERE):
        opening = pattern.sub(" ", opening)
    return opening + folded[_SENTENCE_READ:]
