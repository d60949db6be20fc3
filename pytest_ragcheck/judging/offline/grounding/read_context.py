"""Parses each context once."""

from __future__ import annotations

from itertools import compress, pairwise

from pytest_ragcheck.judging.offline.details.roles import read_clauses
from pytest_ragcheck.judging.offline.lazy import lazy
from pytest_ragcheck.judging.offline.negation import polarity
from pytest_ragcheck.judging.offline.quantities.dates import DAY_NUMBERS
from pytest_ragcheck.judging.offline.quantities.quantity import Quantity
from pytest_ragcheck.judging.offline.quantities.quantity_reader import read_quantities
from pytest_ragcheck.judging.offline.words.html_tags import links_in, without_tags
from pytest_ragcheck.judging.offline.words.polarity_words import SIGNED
from pytest_ragcheck.judging.offline.words.sentences import sentences
from pytest_ragcheck.judging.offline.words.terms import END, WITHOUT_POLARITY, TermDictionary, numbers_in, term_of
from pytest_ragcheck.judging.offline.words.word_lists import SHORT_WEEKDAYS

_LONGEST_SENTENCE = 200  # terms that are compared with a claim: a bound for texts without sentences
# A parsed context takes some ten bytes a character.
_MOST_CHARACTERS_KEPT = 1_000_000
_CHARACTERS_OF_A_PASSAGE = 100  # the fixed cost of a context


class ContextSentence:
    def __init__(self, terms: list[str]) -> None:
        self.is_long = len(terms) > _LONGEST_SENTENCE
        if terms[-1:] == [END]:
            del terms[-1]
        self.terms = terms

    @lazy
    def is_signed(self) -> bool:
        """True if it has a negation or another word of polarity."""
        return not SIGNED.isdisjoint(self.terms)

    @lazy
    def foci(self) -> frozenset[str]:
        return polarity(self.terms, WITHOUT_POLARITY).foci


class ReadContext:
    """A context, parsed once for all answers that are compared with it."""

    def __init__(self, text: str, terms: TermDictionary) -> None:
        self.text = "\n".join((without_tags(text), *links_in(text)))
        """Without HTML tags, with the addresses of its links at the end."""

        self.terms = terms.with_ends(self.text)
        """In order, with `END` at the end of each sentence."""

        self.distinct = frozenset(self.terms)
        if weekdays := self.distinct.intersection(SHORT_WEEKDAYS):  # that the text abbreviates
            self.distinct = self.distinct.union(term_of(SHORT_WEEKDAYS[each]) for each in weekdays)
        self.numbers = numbers_in(self.distinct)
        self.numbers += (str(DAY_NUMBERS[each]) for each in self.distinct.intersection(DAY_NUMBERS))

    @lazy
    def sentence_ends(self) -> list[int]:
        """Places after each sentence; 0 is the first one."""
        return [0, *[end for end, term in enumerate(self.terms, 1) if term == END], len(self.terms)]

    @lazy
    def sentences(self) -> list[ContextSentence]:
        return [ContextSentence(self.terms[start:end]) for start, end in pairwise(self.sentence_ends)]

    @lazy
    def counted(self) -> frozenset[tuple[str, str]]:
        """Each number with the term after it."""
        return frozenset(compress(pairwise(self.terms), [term < ":" for term in self.terms]))

    @lazy
    def clauses(self) -> list[list[dict[str, str]]]:
        return list(map(read_clauses, sentences(self.text)))

    @lazy
    def quantities(self) -> list[Quantity]:
        return read_quantities(self.terms)


class ContextCache(dict[str, ReadContext]):
    """Parsed contexts by text, because many questions share their contexts."""

    def __init__(self, terms: TermDictionary) -> None:
        super().__init__()
        self.terms = terms
        self._characters = 0

    def __missing__(self, text: str) -> ReadContext:
        characters = len(text) + _CHARACTERS_OF_A_PASSAGE
        self._characters += characters
        if self._characters > _MOST_CHARACTERS_KEPT:
            self.clear()
            self._characters = characters
        passage = self[text] = ReadContext(text, self.terms)
        return passage
