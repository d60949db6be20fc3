"""Recognises answers that decline to answer."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_ragcheck.judging.offline.normalized_text import folded_words, normalised, sentences
from pytest_ragcheck.judging.offline.refusal_patterns import (
    ELISION,
    ENGLISH,
    LATIN,
    LATIN_TRIGGERS,
    OTHER_LETTERS,
    OTHER_SCRIPTS,
    TRIGGERS,
)

if TYPE_CHECKING:
    import re
    from collections.abc import Iterator

# In later sentences "not mentioned" mostly qualifies an answer that was given.
_SENTENCES_READ = 2
# Enough for all known refusals; bounds the work on an answer that is one long sentence.
_CHARACTERS_READ = 2000
_SENTENCE_READ = 400


class Sentence:
    """
    A sentence, or a whole answer, normalised and split into words.

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
        """False if no word of a refusal is in the sentence."""
        folded = self.folded
        return (
            not TRIGGERS.isdisjoint(self.words)
            or _elides(folded)
            or (not folded.isascii() and OTHER_LETTERS.search(folded) is not None)
        )

    @property
    def declines(self) -> bool:
        """True if the sentence says that something is unknown or not in the sources; computed once."""
        if self._declines is None:
            opening = self.folded[:_SENTENCE_READ]
            self._declines = self.may_decline and any(
                pattern.search(opening) for pattern in _patterns(opening, frozenset(self.words))
            )
        return self._declines

    def beside_declining(self) -> str:
        """The normalised sentence without the words of the refusal."""
        opening = self.folded[:_SENTENCE_READ]
        for pattern in _patterns(opening, frozenset(self.words)):
            opening = pattern.sub(" ", opening)
        return opening + self.folded[_SENTENCE_READ:]


def _elides(folded: str) -> bool:
    """True if a word like "n'est" is in the text; "don't" and "John's" do not count."""
    return "n'" in folded and ELISION.search(folded) is not None


def _patterns(opening: str, words: frozenset[str]) -> Iterator[re.Pattern[str]]:
    """The patterns that can match the beginning of a normalised text with these words."""
    for triggers, pattern in ENGLISH:
        if not triggers.isdisjoint(words):
            yield pattern
    if not LATIN_TRIGGERS.isdisjoint(words) or _elides(opening):
        yield LATIN
    if not opening.isascii():
        yield OTHER_SCRIPTS


class SentenceCache(dict[str, Sentence]):
    """
    The parsed sentences of one answer, so that each is parsed once.

    Args:
        answer: The answer.
        read: The text that is parsed, as long as the answer: the answer with blanks for its citation markers.
    """

    def __init__(self, answer: str, read: str | None = None) -> None:
        super().__init__()
        self.sentences: tuple[str, ...]
        """Verbatim, in order."""
        if read is None or read == answer:
            self.sentences = tuple(sentences(answer))
            return
        end = 0
        verbatim: list[str] = []
        for sentence in sentences(read):
            start = read.index(sentence, end)
            end = start + len(sentence)
            verbatim.append(answer[start:end])
            self[verbatim[-1]] = Sentence(sentence)
        self.sentences = tuple(verbatim)

    def __missing__(self, sentence: str) -> Sentence:
        parsed = self[sentence] = Sentence(sentence)
        return parsed


def is_refusal(answer: str, cache: SentenceCache | None = None) -> bool:
    """
    True if *answer* declines: it is blank, asks back, or says that it or its sources do not know.

    Only the first two sentences count. An answer that declines and then gives an answer is a refusal too.

    Args:
        answer: The answer.
        cache: The sentences of the answer that were read before; new ones are added.
    """
    if cache is None or len(answer) > _CHARACTERS_READ:
        cache = SentenceCache(answer[:_CHARACTERS_READ])
    if answer in cache and not cache[answer].may_decline:
        return not cache.sentences
    opening = cache.sentences[:_SENTENCES_READ]
    return not opening or any(cache[sentence].declines for sentence in opening)
