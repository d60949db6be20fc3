"""Parses an answer once, for the search of expected answers in it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from functools import cached_property

from pytest_ragcheck.judging.offline.correctness.expected_answer import (
    ExpectedAnswer,
    Recall,
    decades_and_centuries,
    numbers_about,
)
from pytest_ragcheck.judging.offline.grounding.known_quantities import KnownQuantities
from pytest_ragcheck.judging.offline.negation import (
    REACH,
    Polarity,
    are_equivalent_denials,
    polarity,
    says_yes,
    without_yes_or_no,
)
from pytest_ragcheck.judging.offline.quantities.clock_times import PARTS_OF_A_DAY
from pytest_ragcheck.judging.offline.quantities.quantity import DATED_OR_MEASURED
from pytest_ragcheck.judging.offline.quantities.quantity_reader import read_quantities
from pytest_ragcheck.judging.offline.words.normalized_text import normalised
from pytest_ragcheck.judging.offline.words.rewording import BUT, MORE, NEGATIVE, NOT, SIGNED, WITHOUT
from pytest_ragcheck.judging.offline.words.sentences import sentences
from pytest_ragcheck.judging.offline.words.terms import (
    ANSWERING,
    FRAMING,
    NO,
    PERMISSIONS,
    STOP_WORDS,
    WITHOUT_POLARITY,
    TermDictionary,
    content_of,
    numbers_in,
)
from pytest_ragcheck.judging.offline.words.word_lists import WORDS

_INFERRED_AGREEMENT = 0.8
_LEAST_OF_A_PART = 5  # letters
_PRONOUN_CLAUSE = re.compile(rf"\W*(?:{'|'.join(WORDS['subjects'].split())})\b[^,;:.!?]*")
_LONGER = MORE | {"longer"}  # "no longer free"
_OPENING = 1000  # characters searched for the first sentence
# After this many content words a mention is more often incidental: "LadBaby has had five, more than the Beatles".
_WORDS_OF_OPENING = 12
_MEASURED = DATED_OR_MEASURED | PARTS_OF_A_DAY


class AnswerText:
    """An answer to a question, whose terms, quantities and negations are read when they are first needed."""

    def __init__(self, text: str, *, found: list[str], question: str, terms: TermDictionary) -> None:
        self.text = text
        self.question = question
        self.terms = terms
        self.spelt = f" {' '.join(found)} "
        self.in_order = terms.of_words(found)
        self.all = frozenset(self.in_order)

    @cached_property
    def asked(self) -> frozenset[str]:
        return frozenset(self.terms.of(self.question))

    @cached_property
    def own(self) -> frozenset[str]:
        return self.all - self.asked - STOP_WORDS

    @cached_property
    def own_numbers(self) -> list[str]:
        return numbers_in(self.own)

    @cached_property
    def eras(self) -> Sequence[tuple[int, int]]:
        return tuple(decades_and_centuries(self.in_order))

    @cached_property
    def about(self) -> AbstractSet[str]:
        return numbers_about(self.in_order)

    @cached_property
    def content(self) -> str:
        return f" {' '.join(content_of(self.in_order))} "

    @cached_property
    def quantities(self) -> KnownQuantities:
        return KnownQuantities([(self.in_order, read_quantities(self.in_order))])

    @cached_property
    def is_measured(self) -> bool:
        return not _MEASURED.isdisjoint(self.all) or any(":" in number for number in self.own_numbers)

    @cached_property
    def line(self) -> str:
        return f" {' '.join(self.in_order)} "

    def mentions_late(self, sought: ExpectedAnswer) -> bool:
        """True if a long answer has no term of *sought* in its opening."""
        is_long = len(self.in_order) > _WORDS_OF_OPENING and bool(sought.content)
        return is_long and sought.distinct.isdisjoint(content_of(self.in_order)[:_WORDS_OF_OPENING])

    @cached_property
    def says_yes(self) -> bool | None:
        """True for yes, False for no; None if the answer does not begin with either."""
        return says_yes(self.text)

    def agreement(self, expected: str, *, yes: bool, is_none: bool = False) -> Recall:
        """The recall of a bare yes or no, stated outright or inferred; any denial agrees with "none"."""
        said, certainty = self.says_yes, 1.0
        if said is None:
            about = frozenset() if is_none else self.asked.union(self.terms.of(expected)) - ANSWERING
            said, certainty = self._inferred(about - FRAMING or about), _INFERRED_AGREEMENT
        score = certainty if said is yes else 1 - certainty
        missing = frozenset(() if score == 1.0 else self.terms.of(expected))
        return Recall(score=score, expected=expected, missing=missing, is_opposed=said is (not yes))

    def _inferred(self, about: AbstractSet[str]) -> bool | None:
        # True for yes and False for no, by the negations of the first sentence; None if the answer has no term of
        # *about*, and does not open as in "They do, on Sundays." or "That's not supported."
        opening = next((each for each in sentences(self.text[:_OPENING]) if not each.endswith(("?", "？"))), "")
        clause = _PRONOUN_CLAUSE.match(normalised(opening))
        terms = frozenset(self.terms.of(clause[0] if clause else opening))
        own = terms - ANSWERING
        if not terms:
            return None
        if not own and terms.isdisjoint(PERMISSIONS):
            return NO.isdisjoint(terms)
        is_negative = self._is_negative(opening)
        is_short_denial = is_negative and clause is not None and len(own) == 1
        permits = not PERMISSIONS.isdisjoint(terms) and not PERMISSIONS.isdisjoint(self.asked)
        if own and about and not (is_short_denial or permits or self._is_about(about)):
            return None
        return is_negative is self._is_negative(self.question)

    def _is_about(self, about: AbstractSet[str]) -> bool:
        # True if the answer has a term of *about*, perhaps within another word: "parking" in "carparking".
        if not about.isdisjoint(self.all):
            return True
        spelt = normalised(self.text[:_OPENING])
        return any(len(term) >= _LEAST_OF_A_PART and term in spelt for term in about)

    def opposes(self, expected: str, sought: ExpectedAnswer) -> bool:
        """True if the answer denies what the expected answer affirms, or affirms what it denies."""
        if (denies := self._denies_question(expected, sought)) is not None:
            return denies
        common = (sought.content & self.all) - self.asked
        # A negation that the question has too denies nothing in the answer.
        most_denied = REACH * sum(map(NEGATIVE.__contains__, self.in_order))
        may_deny = 0 < len(common) <= most_denied and NEGATIVE.isdisjoint(self.asked)
        if not may_deny and SIGNED.isdisjoint(sought.distinct):  # most answers need no search for denials
            return False
        if are_equivalent_denials(self.in_order, sought.terms):
            return False
        own, wanted = self._polarity, self._polarity_of(expected)
        if wanted.denials:
            if sought.terms[-1] == NOT and own.is_negative:
                return False  # "Children must not" leaves out what the answer denies
            return own.denied.isdisjoint(wanted.denied) and not own.affirmed.isdisjoint(wanted.denials)
        return may_deny and common <= own.denied - own.affirmed - wanted.denied

    def _denies_question(self, expected: str, sought: ExpectedAnswer) -> bool | None:
        # True if the expected answer only repeats the question, and the sentences with most of its words deny one:
        # "It does not cover theft" for "Does it cover theft?" None if the expected answer says more, or denies.
        content = sought.content.intersection(without_yes_or_no(expected, sought.terms))
        if not content or content - self.asked or not NEGATIVE.isdisjoint(self.asked):
            return None
        is_yes = NEGATIVE.isdisjoint(sought.distinct) if sought.says_yes is None else sought.says_yes
        if self.says_yes is not None:
            return self.says_yes is not is_yes
        if not is_yes:
            return None
        read = [self.terms.with_ends(each) for each in sentences(self.text)]
        numbers = [len(content.intersection(terms)) for terms in read]
        most = max(numbers)
        return all(_denies(terms, content) for terms, number in zip(read, numbers, strict=True) if number == most)

    def _is_negative(self, text: str) -> bool:
        # True if *text* denies something; a "without" that the question has too does not count.
        terms = self.terms.with_ends(text)
        if WITHOUT in self.asked:
            terms = [term for term in terms if term != WITHOUT]
        return polarity(without_yes_or_no(text, terms), WITHOUT_POLARITY).is_negative

    @cached_property
    def _polarity(self) -> Polarity:
        return self._polarity_of(self.text)

    def _polarity_of(self, text: str) -> Polarity:
        return polarity(without_yes_or_no(text, self.terms.with_ends(text)), WITHOUT_POLARITY)


def _denies(sentence: Sequence[str], asked: frozenset[str]) -> bool:
    own = polarity(sentence, WITHOUT_POLARITY)
    if BUT in sentence:
        rest = polarity(sentence[sentence.index(BUT) + 1 :], WITHOUT_POLARITY)
        if not asked.isdisjoint(rest.affirmed - own.denied):
            return False  # "not in May, but in June"
    # The last focus of a denial is next to its negation; another one is the subject.
    denials = {id(denied): denied[denied.index(focus) :] for focus, denied in own.denials.items() if focus in denied}
    foci = {next((term for term in denied if term not in _LONGER), "") for denied in denials.values()}
    return not asked.isdisjoint(foci - own.affirmed)
