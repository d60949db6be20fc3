"""Compares the claims of an answer with the contexts."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from itertools import chain, pairwise

from pytest_ragcheck.judging.offline.details.changed_details import ChangedDetail, addresses_in, changed_detail
from pytest_ragcheck.judging.offline.details.list_items import added_item, joined_items
from pytest_ragcheck.judging.offline.details.roles import agents, may_swap_nouns, read_clauses, swapped_noun
from pytest_ragcheck.judging.offline.grounding.contradictions import Contradictions
from pytest_ragcheck.judging.offline.grounding.read_context import ContextIndex, ReadContext
from pytest_ragcheck.judging.offline.quantities.dates import DATES, foreign_date
from pytest_ragcheck.judging.offline.quantities.quantity import ARTICLES
from pytest_ragcheck.judging.offline.words.number_spellings import other_reading
from pytest_ragcheck.judging.offline.words.terms import content_of, is_number, numbers_in, terms_of
from pytest_ragcheck.judging.offline.words.word_lists import WORDS

_COPY, _LEAST_OF_A_COPY = 0.65, 3  # share of a sentence's words, and words
_LEAST_OF_A_PART = 5  # letters of a word that is a part of another one
_LEAST_GERMAN = 2
_GERMAN = terms_of(WORDS["German"])


class Evidence:
    def __init__(self, passages: Sequence[ReadContext], *, wanted: frozenset[str], asked: frozenset[str]) -> None:
        self.texts = [passage.text for passage in passages]
        self._wanted = wanted
        self._asked = asked
        self._passages = passages
        self.index = ContextIndex(passages, wanted=wanted, asked=asked)
        self.contradictions = Contradictions(self.index)
        self.numbers = set(numbers_in(asked)).union(*(passage.numbers for passage in passages))
        self.computed: set[str] = set()
        """Those that only follow from other numbers."""
        self.known = self.index.known
        """The wanted terms in the contexts, numbers in either reading, and the question's terms."""
        self.known.update(filter(self.has_number, numbers_in(wanted)))

    def has_part(self, term: str) -> bool:
        """True if a word of the contexts contains *term*, as "Ausweisinhaber" contains "Inhaber"."""
        return len(term) >= _LEAST_OF_A_PART and any(term in text for text in self._folded)

    @cached_property
    def _folded(self) -> list[str]:
        return [text.casefold() for text in self.texts]

    def has_number(self, number: str) -> bool:
        """True if the contexts or the question have *number*, in either reading of its dots and commas."""
        return number in self.numbers or other_reading(number) in self.numbers

    def add_computed(self, numbers: Iterable[str]) -> None:
        for known in (self.computed, self.numbers, self.known):
            known.update(numbers)

    def lacks_address(self, sentence: str) -> bool:
        """True if *sentence* has an e-mail address that the contexts lack, and these have others."""
        own = _mail_addresses(sentence)
        return bool(own and self._addresses) and not own <= self._addresses

    @cached_property
    def _addresses(self) -> set[str]:
        return set[str]().union(*map(_mail_addresses, self._folded))

    def is_german(self, claim: Iterable[str]) -> bool:
        """True if *claim* and the question have two German words; German capitalises all nouns."""
        return len(_GERMAN.intersection(chain(claim, self._asked))) >= _LEAST_GERMAN

    def has_single(self, claim: Sequence[str]) -> bool:
        """True if the contexts have an article in place of a 1 in *claim*: "a puff", "1 puff"."""
        return any(term == "1" and after in self._after_articles for term, after in pairwise(claim))

    @cached_property
    def _after_articles(self) -> set[str]:
        pairs = chain.from_iterable(pairwise(passage.terms) for passage in self._passages)
        return {after for article, after in pairs if article in ARTICLES}

    def contradicted_number(self, claim: Sequence[str]) -> tuple[str, str] | None:
        """A number of *claim*, and the one that the nearest sentences have between the same neighbours; or None."""
        numbers = numbers_in(claim)
        content = frozenset(content_of(claim))
        words, bits_of = content.difference(numbers), self.index.bits_of
        nearest = self.index.nearest(bits_of(words), len(words), claim=bits_of(content))
        if not nearest:
            return None
        have = set(chain.from_iterable(nearest))
        absent = {number for number in numbers if have.isdisjoint((number, other_reading(number)))}
        if not absent and len(numbers) > 1:
            absent, nearest = _number_of_another(content, numbers, nearest)
        if not absent:
            return None
        frames = {(before, after): term for before, term, after in _in_frames(claim) if term in absent}
        own = frozenset(claim)
        for before, term, after in chain.from_iterable(map(_in_frames, nearest)):
            if (before, after) in frames and is_number(term) and term not in own:
                return frames[before, after], term
        return None

    def changed_detail(
        self, claim: Sequence[str], content: Sequence[str], bits: int, *, near_copy: bool
    ) -> ChangedDetail | None:
        """
        The detail in which a sentence with the terms *claim* differs from the contexts; None if there is none.

        A *near_copy* has most of its *content* terms, with the *bits*, in one window of the contexts.
        """
        if not DATES.isdisjoint(claim) and (date := foreign_date(claim, self._calendar)):
            return ChangedDetail(terms=[date])
        if (item := added_item(claim, self.known)) and item[0] in self._wanted:
            return ChangedDetail(terms=item, is_list=True)
        if terms := self._other_agent(claim, bits):
            return ChangedDetail(terms=terms)
        if not near_copy:
            return None
        change = None
        plain = frozenset(content)
        own = plain - self._asked
        nearest = self._near_copies(bits)
        if not nearest and len(own) >= _LEAST_OF_A_COPY:
            nearest = self._near_copies(self.index.bits_of(own), claim=bits)
        for sentence in nearest:
            change = changed_detail(claim, sentence, lambda run: self._has_run_elsewhere(run, plain))
            if change is None:
                return None
        return change

    def _near_copies(self, sought: int, *, claim: int = 0) -> list[list[str]]:
        return self.index.nearest(sought, sought.bit_count(), claim=claim, share=_COPY, apart=0.0)

    def swapped_noun(self, text: str) -> ChangedDetail | None:
        """The noun of the sentence *text* that is swapped with another one in the contexts; None without one."""
        clauses = read_clauses(text)
        if not may_swap_nouns(clauses):
            return None
        own = frozenset[str]().union(*clauses)
        if not self._near_copies(self.index.bits_of(own)):
            return None
        for passage in self._passages:
            if len(own & passage.distinct) < _COPY * len(own):  # reading the clauses takes time
                continue
            for sentence in passage.clauses:
                known = sum(len(own & clause.keys()) for clause in sentence)
                if known >= _COPY * len(own) and (noun := swapped_noun(clauses, sentence)):
                    return ChangedDetail(terms=[noun])
        return None

    def _other_agent(self, claim: Sequence[str], bits: int) -> Sequence[str]:
        # The agent of *claim* ("paid by the tenant"), if the contexts name only others; else empty.
        for action, agent in agents(claim):
            if agent[0] in self.known and not self._asked.issuperset(agent):
                known = [
                    others
                    for sentence in self._near_copies(bits & ~self.index.bits_of(agent), claim=bits)
                    for other_action, others in agents(sentence)
                    if other_action == action
                ]
                if known and not any(map(set(agent).intersection, known)):
                    return agent
        return ()

    @cached_property
    def _calendar(self) -> frozenset[str]:
        return DATES & self._asked.union(*(passage.distinct for passage in self._passages))

    def joins_two(self, plain: frozenset[str]) -> bool:
        """True if the contexts join two of *plain* by "and": two items of a list."""
        return any(first in plain and second in plain for first, second in self._joined)

    @cached_property
    def _joined(self) -> set[tuple[str, str]]:
        return {pair for passage in self._passages for pair in joined_items(passage.terms, self._wanted)}

    def _has_run_elsewhere(self, run: Sequence[str], plain: frozenset[str]) -> bool:
        # True if the question has a term of *run*, or a sentence of the contexts has one with another of *plain*.
        if not self._asked.isdisjoint(run):
            return True
        sentences, _ = self.index.sentences
        others, bits = self.index.bits_of(plain.difference(run)), self.index.bits
        return any(bits.get(term, 0) & each and others & each for term in run for each in sentences)


def is_verbatim(sentence: str, contexts: Sequence[str]) -> bool:
    """True if one of *contexts* has *sentence*, not as the end of a word: 需要 is no part of 不需要."""
    for context in contexts:
        start = context.find(sentence)
        if start == 0 or (start > 0 and not context[start - 1].isalnum()):
            return True
        if start > 0 and re.search(rf"(?<![^\W_]){re.escape(sentence)}", context):
            return True
    return False


def _number_of_another(
    content: frozenset[str], numbers: Sequence[str], nearest: list[list[str]]
) -> tuple[set[str], list[list[str]]]:
    # The number that is all of *content* a sentence lacks, and the sentence, unless one has all *numbers*: a claim with
    # numbers of two lines of a table.
    if not any(map(set(numbers).issubset, nearest)):
        for number in reversed(numbers):
            for sentence in nearest:
                if content.difference(sentence) == {number} and other_reading(number) not in sentence:
                    return {number}, [sentence]
    return set(), []


def _mail_addresses(text: str) -> set[str]:
    return {each for each in addresses_in(text) if "@" in each and ":" not in each}


def _in_frames(terms: Sequence[str]) -> Iterator[tuple[str, str, str]]:
    content = content_of(terms)
    return zip(("", *content), content, (*content[1:], ""), strict=False)
