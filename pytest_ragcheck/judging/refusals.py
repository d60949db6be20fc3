"""Does an answer decline to answer."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_ragcheck.judging.offline_refusals import (
    ELISION,
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
            or _elides(folded)
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


def _elides(folded: str) -> bool:
    """Is a word like "n'est" in it; "don't" and "John's" are none."""
    return "n'" in folded and ELISION.search(folded) is not None


def _patterns(opening: str, words: frozenset[str]) -> Iterator[re.Pattern[str]]:
    """The patterns that may find something in the beginning of a normalised text of these words."""
    for triggers, pattern in ENGLISH:
        if not triggers.isdisjoint(words):
            yield pattern
    if not LATIN_TRIGGERS.isdisjoint(words) or _elides(opening):
        yield LATIN
    if not opening.isascii():
        yield OTHER_SCRIPTS


class Statements(dict[str, Statement]):
    """
    What was read of one answer and its sentences, so that none is read twice.

    Args:
        answer: The answer.
    """

    def __init__(self, answer: str) -> None:
        super().__init__()
        self.sentences = tuple(sentences(answer))
        """Verbatim, in order."""

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
    if statements is None or len(answer) > _CHARACTERS_READ:
        statements = Statements(answer[:_CHARACTERS_READ])
    if answer in statements and not statements[answer].may_decline:
        return not statements.sentences
    opening = statements.sentences[:_SENTENCES_READ]
    return not opening or any(statements[sentence].declines for sentence in opening)
