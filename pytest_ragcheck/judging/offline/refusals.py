"""Recognises answers that decline to answer."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from pytest_ragcheck.judging.offline.normalized_text import folded_words, normalised, sentences
from pytest_ragcheck.judging.offline.refusal_patterns import (
    BY_TRIGGERS,
    ELISION,
    OPENING,
    OTHER_LETTERS,
    OTHER_SCRIPTS,
    TRIGGERS,
    UNSTATED,
)

if TYPE_CHECKING:
    import re

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
        return not TRIGGERS.isdisjoint(self._triggers) or (
            not self.folded.isascii() and OTHER_LETTERS.search(self.folded) is not None
        )

    @property
    def declines(self) -> bool:
        """
        True if the sentence states that something is unknown or not in the sources; computed once.

        A quote, a condition or a report of another's words states nothing.
        """
        if self._declines is None:
            opening = self.folded[:_SENTENCE_READ]
            # Few sentences match at all, and only these need the slow search for what they do not state.
            self._declines = self.may_decline and self._matches(opening) and self._matches(UNSTATED.sub(" ", opening))
        return self._declines

    @property
    def opens(self) -> bool:
        """True if the sentence claims nothing but opens an answer: "I'm sorry.", "The text is about boats."."""
        return OPENING.match(self.folded) is not None or self.folded.rstrip().endswith("?")

    def beside_declining(self) -> str:
        """The normalised sentence without the words of the refusal."""
        opening = self.folded[:_SENTENCE_READ]
        for pattern in self._patterns(opening):
            opening = pattern.sub(" ", opening)
        return opening + self.folded[_SENTENCE_READ:]

    def _matches(self, opening: str) -> bool:
        return any(pattern.search(opening) for pattern in self._patterns(opening))

    @property
    def _triggers(self) -> list[str]:
        """The words, and `n'` if one begins with it; "don't" and "John's" do not."""
        return [*self.words, "n'"] if "n'" in self.folded and ELISION.search(self.folded) else self.words

    def _patterns(self, opening: str) -> Iterator[re.Pattern[str]]:
        """The patterns that can match the beginning of the sentence."""
        words = self._triggers
        for triggers, pattern in BY_TRIGGERS:
            if not triggers.isdisjoint(words):
                yield pattern
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

    The first sentence counts, and the second one if the first claims nothing. An answer that declines and then gives an
    answer is a refusal too.

    Args:
        answer: The answer.
        cache: The sentences of the answer that were read before; new ones are added.
    """
    if cache is None or len(answer) > _CHARACTERS_READ:
        cache = SentenceCache(answer[:_CHARACTERS_READ])
    if answer in cache and not cache[answer].may_decline:
        return not cache.sentences
    if not cache.sentences:
        return True
    first, second = cache[cache.sentences[0]], cache.sentences[1:2]
    return first.declines or (bool(second) and cache[second[0]].declines and first.opens)
