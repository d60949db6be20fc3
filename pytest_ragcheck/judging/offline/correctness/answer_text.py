"""Parses an answer once, for the search of expected answers in it."""

from __future__ import annotations

from collections.abc import Sequence
from collections.abc import Set as AbstractSet

from pytest_ragcheck.judging.offline.correctness.answer_polarity import AnswerPolarity
from pytest_ragcheck.judging.offline.correctness.expected_answer import (
    ExpectedAnswer,
    decades_and_centuries,
    numbers_about,
)
from pytest_ragcheck.judging.offline.lazy import lazy
from pytest_ragcheck.judging.offline.quantities.clock_times import PARTS_OF_A_DAY
from pytest_ragcheck.judging.offline.quantities.known_quantities import KnownQuantities
from pytest_ragcheck.judging.offline.quantities.quantity import DATED_OR_MEASURED
from pytest_ragcheck.judging.offline.quantities.quantity_reader import read_quantities
from pytest_ragcheck.judging.offline.words.terms import STOP_WORDS, TermDictionary, content_of, numbers_in

# After this many content words a mention is more often incidental: "LadBaby has had five, more than the Beatles".
_WORDS_OF_OPENING = 12
_MEASURED = DATED_OR_MEASURED | PARTS_OF_A_DAY


class AnswerText:
    """An answer to a question, whose terms and quantities are read when they are first needed."""

    def __init__(self, text: str, *, found: list[str], question: str, terms: TermDictionary) -> None:
        self.text = text
        self.question = question
        self.terms = terms
        self.spelt = f" {' '.join(found)} "
        self.in_order = terms.of_words(found)
        self.all = frozenset(self.in_order)

    @lazy
    def asked(self) -> frozenset[str]:
        return frozenset(self.terms.of(self.question))

    @lazy
    def polarity(self) -> AnswerPolarity:
        return AnswerPolarity(self.text, self.in_order, question=self.question, asked=self.asked, terms=self.terms)

    @lazy
    def own(self) -> frozenset[str]:
        return self.all - self.asked - STOP_WORDS

    @lazy
    def _opening(self) -> frozenset[str]:
        return frozenset(content_of(self.in_order)[:_WORDS_OF_OPENING])

    @lazy
    def own_numbers(self) -> list[str]:
        return numbers_in(self.own)

    @lazy
    def eras(self) -> Sequence[tuple[int, int]]:
        return tuple(decades_and_centuries(self.in_order))

    @lazy
    def about(self) -> AbstractSet[str]:
        return numbers_about(self.in_order)

    @lazy
    def content(self) -> str:
        return f" {' '.join(content_of(self.in_order))} "

    @lazy
    def quantities(self) -> KnownQuantities:
        return KnownQuantities([(self.in_order, read_quantities(self.in_order))])

    @lazy
    def is_measured(self) -> bool:
        return not _MEASURED.isdisjoint(self.all) or any(":" in number for number in self.own_numbers)

    @lazy
    def line(self) -> str:
        return f" {' '.join(self.in_order)} "

    def mentions_late(self, sought: ExpectedAnswer) -> bool:
        """True if a long answer has no term of *sought* in its opening."""
        is_long = len(self.in_order) > _WORDS_OF_OPENING
        return is_long and sought.distinct.isdisjoint(self._opening) and bool(sought.content)
