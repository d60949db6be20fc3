"""Parses the contexts, each of them once."""

from __future__ import annotations

from bisect import bisect_right
from itertools import compress, count, pairwise
from typing import TYPE_CHECKING

from pytest_ragcheck.judging.offline.changed_details import read_clauses
from pytest_ragcheck.judging.offline.negation import polarity
from pytest_ragcheck.judging.offline.quantities.quantity_reader import read_quantities
from pytest_ragcheck.judging.offline.words.normalized_text import sentences
from pytest_ragcheck.judging.offline.words.polarity_words import SIGNED
from pytest_ragcheck.judging.offline.words.terms import END, WITHOUT_POLARITY, TermDictionary, numbers_in

if TYPE_CHECKING:
    from pytest_ragcheck.judging.offline.quantities.quantity import Quantity

# A parsed context takes some ten bytes a character.
_MOST_CHARACTERS_KEPT = 1_000_000
_CHARACTERS_OF_A_PASSAGE = 100  # the fixed cost of a context


class ReadContext:
    """A context, parsed once for all answers that are compared with it."""

    __slots__ = (
        "_clauses",
        "_counted",
        "_dictionary",
        "_foci",
        "_quantities",
        "_sentence_ends",
        "_signed",
        "_text",
        "distinct",
        "numbers",
        "terms",
    )

    def __init__(self, text: str, terms: TermDictionary) -> None:
        self.terms = terms.with_ends(text)
        """In order, with `END` at the end of each sentence."""

        self.distinct = frozenset(self.terms)
        self.numbers = numbers_in(self.distinct)
        self._quantities: list[Quantity] | None = None
        self._sentence_ends: list[int] | None = None
        self._signed: list[tuple[int, int]] | None = None
        self._foci: dict[int, frozenset[str]] = {}
        self._counted: frozenset[tuple[str, str]] | None = None
        self._text, self._dictionary = text, terms
        self._clauses: list[list[dict[str, str]]] | None = None

    @property
    def sentence_ends(self) -> list[int]:
        """Places after each sentence; 0 is the first one."""
        if self._sentence_ends is None:
            is_end = map(END.__eq__, self.terms)
            self._sentence_ends = [0, *compress(count(1), is_end), len(self.terms)]
        return self._sentence_ends

    @property
    def signed(self) -> list[tuple[int, int]]:
        """Where each sentence with a negation or another word of polarity begins, and the place after it."""
        if self._signed is None:
            ends = self.sentence_ends if not SIGNED.isdisjoint(self.distinct) else []
            places = list(compress(count(), map(SIGNED.__contains__, self.terms))) if ends else []
            after = dict.fromkeys(bisect_right(ends, place) for place in places)
            self._signed = [(ends[each - 1], ends[each]) for each in after]
        return self._signed

    def foci_at(self, start: int, end: int) -> frozenset[str]:
        """The terms beside a negation or another word of polarity, in the sentence between the places."""
        if start not in self._foci:
            self._foci[start] = polarity(self.terms[start:end], WITHOUT_POLARITY).foci
        return self._foci[start]

    @property
    def counted(self) -> frozenset[tuple[str, str]]:
        """Each number with the term after it."""
        if self._counted is None:
            self._counted = frozenset(compress(pairwise(self.terms), map(":".__gt__, self.terms)))
        return self._counted

    @property
    def clauses(self) -> list[list[dict[str, str]]]:
        """The clauses of each sentence."""
        if self._clauses is None:
            self._clauses = list(map(self.clauses_of, sentences(self._text)))
        return self._clauses

    def clauses_of(self, sentence: str) -> list[dict[str, str]]:
        """The clauses of *sentence*, from `read_clauses`."""
        return read_clauses(sentence, self._dictionary)

    @property
    def quantities(self) -> list[Quantity]:
        """The quantities, dates and times of the context."""
        if self._quantities is None:
            self._quantities = read_quantities(self.terms)
        return self._quantities


class ContextCache(dict[str, ReadContext]):
    """Parsed contexts by text, because many questions share their contexts."""

    def __init__(self, terms: TermDictionary) -> None:
        super().__init__()
        self._terms = terms
        self._characters = 0

    def __missing__(self, text: str) -> ReadContext:
        characters = len(text) + _CHARACTERS_OF_A_PASSAGE
        self._characters += characters
        if self._characters > _MOST_CHARACTERS_KEPT:
            self.clear()
            self._characters = characters
        passage = self[text] = ReadContext(text, self._terms)
        return passage
