"""Does an answer decline to answer."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING

from pytest_ragcheck.judging.offline_refusals import (
    ENGLISH,
    LATIN,
    LATIN_TRIGGERS,
    OTHER_LETTERS,
    OTHER_SCRIPTS,
    TRIGGERS,
)
from pytest_ragcheck.judging.text import folded_words, normalised, sentences

if TYPE_CHECKING:
    import re
    from collections.abc import Iterator

# Over the first two sentences: in the third and later ones "not mentioned" mostly qualifies an answer that was given.
_SENTENCES_READ = 2
# Enough for every refusal seen; it bounds the work on an answer that is one endless sentence.
_CHARACTERS_READ = 2000
_SENTENCE_READ = 400


class Statement:
    """
    A sentence, or a whole answer, as it was read: normalised, and its words.

    Args:
        text: The sentence.
    """

    __slots__ = ("_declines", "folded", "words")

    def __init__(self, text: str) -> None:
        self.folded = normalised(text)
        self.words = folded_words(self.folded)
        self._declines: bool | None = None

    @property
    def may_decline(self) -> bool:
        """False where nothing is in it without which no sentence declines."""
        folded = self.folded
        return (
            not TRIGGERS.isdisjoint(self.words)
            or "n'" in folded
            or (not folded.isascii() and OTHER_LETTERS.search(folded) is not None)
        )

    @property
    def declines(self) -> bool:
        """Does it say that something is not known or not in the sources; looked for once."""
        if self._declines is None:
            opening = self.folded[:_SENTENCE_READ]
            self._declines = self.may_decline and any(
                pattern.search(opening) for pattern in _patterns(opening, frozenset(self.words))
            )
        return self._declines

    def beside_declining(self) -> str:
        """What is said, normalised, without the words by which it declines."""
        opening = self.folded[:_SENTENCE_READ]
        for pattern in _patterns(opening, frozenset(self.words)):
            opening = pattern.sub(" ", opening)
        return opening + self.folded[_SENTENCE_READ:]


def _patterns(opening: str, words: frozenset[str]) -> Iterator[re.Pattern[str]]:
    """The patterns that may find something in the beginning of a normalised text of these words."""
    for triggers, pattern in ENGLISH:
        if not triggers.isdisjoint(words):
            yield pattern
    if not LATIN_TRIGGERS.isdisjoint(words) or "n'" in opening:
        yield LATIN
    if not opening.isascii():
        yield OTHER_SCRIPTS


class Statements(dict[str, Statement]):
    """What was read of one answer and its sentences, so that none is read twice."""

    def __missing__(self, sentence: str) -> Statement:
        statement = self[sentence] = Statement(sentence)
        return statement


def is_refusal(answer: str, statements: Statements | None = None) -> bool:
    """
    Does *answer* decline to answer: says that it does not know, that the sources are silent, asks back, or is blank.

    Read are the first two sentences. An answer that declines and then gives something all the same is a refusal.

    Args:
        answer: The answer.
        statements: What was read of the answer already, and where what is read now is kept.
    """
    read = Statements() if statements is None else statements
    opening = answer[:_CHARACTERS_READ]
    if opening in read and not read[opening].may_decline:
        return not any(sentences(opening))
    first = list(islice(sentences(opening), _SENTENCES_READ))
    return not first or any(read[sentence].declines for sentence in first)
