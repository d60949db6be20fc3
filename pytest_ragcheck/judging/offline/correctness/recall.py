"""Holds how much of an expected answer an answer contains."""

from __future__ import annotations

from collections.abc import Set as AbstractSet
from dataclasses import dataclass

from pytest_ragcheck.judging.offline.words.terms import STOP_WORDS, TermDictionary

_PUNCTUATION = ".,;:!?\"'()[]“”‘’«»"


@dataclass(slots=True, kw_only=True)  # not frozen: made for each expected answer, in half the time
class Recall:
    """How much of one expected answer an answer contains."""

    score: float
    """0..1; 0.7 separates right from wrong answers best, by people's labels."""

    expected: str
    """The expected answer, verbatim."""

    missing: AbstractSet[str] = frozenset()
    """The expected terms that the answer lacks; empty, with a score of 0, for an expected answer without words."""

    is_opposed: bool = False
    """True if the answer says the opposite: no for yes, "not Paris" for "Paris"."""

    has_other_figure: bool = False
    """True if the answer has another number or date instead."""

    replaces_item: bool = False
    """True if the answer lacks an item of the expected list, but has as many, or has one more."""

    is_absent: bool = False
    """True if the answer has other words in the place of all content words, or of one of a short phrase."""

    is_late: bool = False
    """True if the answer contains everything expected, but after much else."""

    def missing_as_written(self, terms: TermDictionary) -> tuple[str, ...]:
        """
        The missing words as the expected answer has them, without repeats; stop words only if no others are
        missing.
        """
        telling = self.missing - STOP_WORDS or self.missing
        found = dict.fromkeys(word.strip(_PUNCTUATION) for word in self.expected.split())
        named = (
            word
            for word in found
            if not telling.isdisjoint((terms[word.lower()],) if word.isascii() and word.isalpha() else terms.of(word))
        )
        return tuple(named) or (self.expected.strip(),)
