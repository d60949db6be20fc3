"""Reads what the negations of a text deny, and whether it answers with yes or no."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from itertools import chain

from pytest_ragcheck.judging.offline.words.normalized_text import listed
from pytest_ragcheck.judging.offline.words.rewording import (
    BUT,
    DIRECTIONS,
    EXCEPT,
    IF,
    MERELY,
    MORE,
    NOT,
    ONLY,
    OPEN,
    SIGNED,
    WITHOUT,
)
from pytest_ragcheck.judging.offline.words.terms import PERMISSIONS
from pytest_ragcheck.judging.offline.words.word_lists import WORDS

_PRONOUNS = listed(WORDS["pronouns"])
_OR = listed("or oder ou o of или")
_AND = listed("and und et y e i ed en и")
_THAN = listed("than als que de di do dan a чем")
_UNTIL = listed(WORDS["until"])
_FROM_THEN = frozenset((BUT, IF)) | listed(WORDS["from then on"])
_ENDS = frozenset(("¶", BUT, EXCEPT, IF))
_SPLITS = _ENDS | _AND
_LEAST_OF_A_CLAUSE = 2  # content terms
REACH = 4
"""Most content terms that one negation denies."""
_UNPLAIN = SIGNED | {IF}

# Lower-case words at the beginning of an answer.
_YES = listed(WORDS["yes"])
_FIRST_WORD = re.compile(
    r"\W{0,20}((?:unfortunately|sadly|leider|noch|nog|helaas|malheureusement|lamentablemente|todav[ií]a|a[uú]n|"
    r"infelizmente|ainda|purtroppo|к сожалению|увы|пока),? )?"
    rf"(?:of |bien |por )?({'|'.join(_YES.union(WORDS['no'].split()))})"
    r"(?: yet| at all)?[*_]{0,2}\s?(?:[.,:;!。，、！(–—\n]|- |$)"
)
_LONGEST_OPENING = 100  # characters


def says_yes(text: str) -> bool | None:
    """True for a text that begins with "Yes," or similar, False for "No," or "Not yet:", else None ("No one knows")."""
    first = _yes_or_no(text)
    return None if first is None else first[2] in _YES


def _yes_or_no(text: str) -> re.Match[str] | None:
    return _FIRST_WORD.match(text[:_LONGEST_OPENING].casefold())


def without_yes_or_no(text: str, terms: Sequence[str]) -> Sequence[str]:
    """The terms of *text* without a first one that answers by itself: "No, it is closed", but not "No, except dogs"."""
    first = _yes_or_no(text)
    if first is None or (first[2] not in _YES and EXCEPT in terms[1:2]):
        return terms
    return terms[1 + len((first[1] or "").split()) :]  # "Unfortunately, no"


def are_equivalent_denials(one: Sequence[str], other: Sequence[str]) -> bool:
    """
    True if the texts say the same by different negations.

    The pairs are "not until" and "when" or "only after", "not except" and "only", "not without" and "not unless".
    """
    return any(
        are_same(*pair)
        for are_same in (_says_not_until, _says_not_except, _says_not_without)
        for pair in ((one, other), (other, one))
    )


def _says_not_except(denying: Sequence[str], affirming: Sequence[str]) -> bool:
    return NOT in denying and EXCEPT in denying and NOT not in affirming and not MERELY.isdisjoint(affirming)


def _says_not_without(one: Sequence[str], other: Sequence[str]) -> bool:
    return NOT in one and WITHOUT in one and NOT in other and IF in other


def _says_not_until(denying: Sequence[str], affirming: Sequence[str]) -> bool:
    return (
        NOT in denying
        and not _UNTIL.isdisjoint(denying)
        and NOT not in affirming
        and _UNTIL.isdisjoint(affirming)
        and not _FROM_THEN.isdisjoint(affirming)
    )


@dataclass(slots=True)  # not frozen: filled term by term
class Polarity:
    """The content terms that a text affirms and those that it denies; a term can be among both."""

    affirmed: set[str] = field(default_factory=set)
    denied: set[str] = field(default_factory=set)
    denials: dict[str, list[str]] = field(default_factory=dict)
    """The terms that each negation denies, in order, by the term next to the negation."""

    @property
    def is_negative(self) -> bool:
        """True if a negation denies something; words of direction and conditions do not count."""
        return any(" " not in focus and focus[0] != "?" for focus in self.denials)

    @property
    def foci(self) -> frozenset[str]:
        return frozenset(map(_term_of, self.denials))

    def opposes(self, other: Polarity, *, about: AbstractSet[str]) -> bool:
        """
        True if one text only denies what the other one affirms, with one of *about* next to the negation.

        "Not open on Mondays, but open on Sundays" denies "open" and affirms it.
        """
        return self._denies(other, about) or other._denies(self, about)

    def _denies(self, other: Polarity, about: AbstractSet[str]) -> bool:
        return any(
            focus in other.affirmed - self.affirmed and other.denied.isdisjoint(denied) and _term_of(focus) in about
            for focus, denied in self.denials.items()
        )


def _term_of(focus: str) -> str:
    # The term without the marks of conditions and directions.
    return focus.rpartition(" ")[2].lstrip("?")


def polarity(terms: Sequence[str], silent: AbstractSet[str]) -> Polarity:
    """
    The polarity of the terms of a text, without the *silent* ones.

    A negation denies the next content terms of its clause, or else the last ones. "Before" with the next content term
    is an opposite of "after".
    """
    if _UNPLAIN.isdisjoint(terms):
        return Polarity(affirmed=set(terms).difference(silent))
    reading = _Reading()
    for place, term in enumerate(terms):
        if term in _ENDS:
            reading.end_clause(term)
        elif term in _AND:
            reading.negates = reading.negates and not reading.reached
        elif term in (NOT, WITHOUT):
            if not _is_bound(terms, place):
                reading.negate(is_without=term == WITHOUT)
                after = terms[place + 1 : place + 3]
                if NOT not in after and not PERMISSIONS.isdisjoint(after):
                    reading.deny_subject()
        elif term in DIRECTIONS:
            reading.turn(term)
        elif term not in silent:
            reading.add(term)
    reading.end_clause(BUT)
    return reading.found


class _Reading:
    def __init__(self) -> None:
        self.found = Polarity()
        self.negates = False
        """True if the next content terms are denied."""
        self._begin(is_condition=False)

    def _begin(self, *, is_condition: bool) -> None:
        self.clause: list[str] = []
        """The content terms that no negation has reached, but a later one may."""
        self.has_negation = False
        self.reached = 0
        """The number of content terms after the negation."""
        self.reach = REACH
        self.focus = self.subject = ""
        self.direction: tuple[str, bool] | None = None
        self.is_sheltered = False
        """True after a word such as "after": no later negation reaches these terms."""
        self.is_condition = is_condition

    def end_clause(self, term: str) -> None:
        # End the clause at *term*, which begins the next one.
        if self.negates and not self.reached and not self.subject:
            if self.clause:
                self._deny(self.clause[-1], self.clause[-REACH:])
                del self.clause[-REACH:]
            elif self.has_negation:
                self._deny(NOT, (NOT,))  # "It isn't allowed."
        self.found.affirmed.update(self.clause)
        self.negates = term == EXCEPT and not self.has_negation
        self._begin(is_condition=term == IF)
        self.reach = 1 if term == EXCEPT else REACH

    def _deny(self, focus: str, denied: Iterable[str]) -> None:
        self.found.denied.update(denied)
        self.found.denials.setdefault(focus, []).extend(denied)

    def negate(self, *, is_without: bool) -> None:
        # Read a negation; "not unsupported" and "not possible without" deny nothing, but "without ... and without" do.
        found = self.found
        cancels = self.has_negation and ((is_without and self.reach == REACH) or (self.negates and not self.reached))
        if cancels and is_without:
            self.clause += chain.from_iterable(found.denials.values())
            found.denied.clear()
            found.denials.clear()
        self.negates = not cancels
        self.has_negation = True
        self.reached = 0
        self.reach = 1 if is_without else REACH

    def deny_subject(self) -> None:
        # Deny what is not allowed or required, too: "camping" in "camping is not allowed on the beach".
        if self.negates and self.clause:
            self.subject = self.clause[-1]
            self._deny(self.subject, self.clause[-REACH:])
            del self.clause[-REACH:]

    def turn(self, word: str) -> None:
        self.negates = self.negates and not self.reached
        self.found.affirmed.update(self.clause)
        self.clause = []
        self.is_sheltered = True
        self.direction = DIRECTIONS[word]

    def add(self, term: str) -> None:
        # Read a content term; the terms of a condition are compared with those of another condition only.
        found = self.found
        if self.is_condition:
            term = f"?{term}"
        if self.direction is not None:
            base, is_opposite = self.direction
            directed = f"{base} {term}"
            if is_opposite:
                self._deny(directed, (directed,))
            else:
                found.affirmed.add(directed)
            self.direction = None
        if self.negates and self.reached < self.reach:
            if not self.reached:
                self.focus = term
                if self.subject:  # one denial with two foci
                    found.denials[term] = found.denials[self.subject]
            self._deny(self.focus, (term,))
            self.reached += 1
        elif self.is_sheltered:
            found.affirmed.add(term)
        else:
            self.clause.append(term)


def split_clauses(terms: Sequence[str], silent: AbstractSet[str]) -> list[Sequence[str]]:
    """The clauses of a sentence, each with at least two content terms if the sentence has two."""
    if _SPLITS.isdisjoint(terms):
        return [terms]
    clauses: list[Sequence[str]] = []
    start = n_content = 0
    n_left = sum([term not in silent for term in terms])
    for place, term in enumerate(terms):
        if term in _SPLITS and n_content >= _LEAST_OF_A_CLAUSE and n_left >= _LEAST_OF_A_CLAUSE:
            clauses.append(terms[start:place])
            start, n_content = place, 0
        elif term not in silent:
            n_content += 1
            n_left -= 1
    return [*clauses, terms[start:]]


def _is_bound(terms: Sequence[str], place: int) -> bool:
    # True if the negation at *place* denies nothing: "not more than 30", "not only", "with or without", "without it".
    # "Closed" is the negation of "open", but the two are not opposites with a time: "closes at 6", "open until 6".
    if (
        terms[place + 1 : place + 2]
        and terms[place + 1] in OPEN
        and any(term < ":" for term in terms[max(0, place - 5) : place + 6])
    ):
        return True
    if terms[place] == WITHOUT and (
        terms[max(0, place - 1)] in _OR or not _PRONOUNS.isdisjoint(terms[place + 1 : place + 2])
    ):
        return True
    nearby = terms[place + 1 : place + 3]
    if not ONLY.isdisjoint(nearby):
        return True
    for at, term in enumerate(nearby, place + 1):
        if term in MORE:
            following = terms[at + 1 : at + 2]
            return bool(following) and (following[0] in _THAN or following[0] < ":")
    return False
