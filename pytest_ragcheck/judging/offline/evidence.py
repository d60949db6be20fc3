"""Searches the contexts for the terms of an answer's sentences."""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from functools import cached_property, reduce
from itertools import chain, compress, count, filterfalse, islice, pairwise, repeat
from operator import ge, lshift, or_
from typing import TYPE_CHECKING

from pytest_ragcheck.judging.offline.changed_details import (
    DATES,
    ChangedDetail,
    added_item,
    agents,
    changed_detail,
    exchanged_partners,
    foreign_date,
    joined_items,
    may_exchange,
)
from pytest_ragcheck.judging.offline.negation import Polarity, is_said_otherwise, polarity, split_clauses
from pytest_ragcheck.judging.offline.quantities.quantity import ARTICLES
from pytest_ragcheck.judging.offline.words.number_spellings import other_reading
from pytest_ragcheck.judging.offline.words.polarity_words import BUT, IF, NOT, SIGNED
from pytest_ragcheck.judging.offline.words.terms import (
    END,
    STOP_WORDS,
    WITHOUT_POLARITY,
    is_number,
    numbers_in,
    terms_of,
)
from pytest_ragcheck.judging.offline.words.word_lists import WORDS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from pytest_ragcheck.judging.offline.read_context import ReadContext


# Length of a piece in terms; three neighbouring pieces are a window. Sentences as pieces cost more and are no better:
# RAGTruth 0.787 against 0.790, MT-RAG 0.974 against 0.975, WiCE 0.834 against 0.832.
_PIECE = 25
# Largest distance in terms between two neighbours of the answer in the contexts; 4 and 8 differ by at most 0.003.
_PAIR_REACH = 6
# Above this number of pieces (6,000 terms) only pieces with a term of the claim are tried, the rarest terms first,
# and `_SEEDS` at either end for each term: a bound for contexts of megabytes.
_MOST_PIECES = 256
_SEEDS = 32
# Share of a claim's words in a context sentence that can contradict it; sentences this close to the best count too.
_NEAR_COPY, _AS_NEAR = 0.85, 0.15
_COPY, _LEAST_OF_A_COPY = 0.65, 3
# Sentences compared with a claim at most, and their longest in terms: bounds for texts without sentences.
_MOST_NEAREST, _LONGEST_SENTENCE = 8, 200
_LEAST_OF_A_PART = 5  # letters of a word that is a part of another one
_MOST_REPEATED = 100  # sentences that a claim may repeat: a bound for long texts
_LEAST_REPEATED = 2  # content terms of a context sentence that a part of a claim repeats
_LONGEST_APPOSITION = 4  # terms
_LEAST_GERMAN = 2
_GERMAN = terms_of(WORDS["German"])
_WITHOUT_CONTENT = STOP_WORDS | SIGNED | {IF, BUT}


class Evidence:
    """
    The parts of the contexts that contain an answer's terms.

    Terms that are not *wanted* are not kept, which bounds the memory; an answer may repeat those of the question.
    """

    def __init__(
        self, passages: Iterable[ReadContext], *, texts: Sequence[str], wanted: frozenset[str], asked: frozenset[str]
    ) -> None:
        self._texts = texts
        self._wanted = wanted
        self._asked = asked
        self._passages = list(passages)
        self.known = set(asked)
        """The wanted terms in the contexts, numbers in either reading, and the question's terms."""
        # Sets of wanted terms are integers with one bit a term, which intersect several times as fast as sets.
        self._bits = dict(zip(wanted, map(lshift, repeat(1), count()), strict=False))
        self._windows: list[int] = []
        """The wanted terms of each piece and its neighbours. An empty piece follows the last one of each context."""
        self._pairs: set[tuple[str, str]] = set()
        self._foci: dict[int, int] = {}
        self._found: list[tuple[ReadContext, list[int], list[int]]] = []
        """Of each context the places and the bits of the wanted terms."""
        self.numbers = set(numbers_in(asked))
        """The numbers of the contexts and the question."""
        self.computed: set[str] = set()
        """The numbers that only follow from these."""
        for passage in self._passages:
            self._read(passage)
        self.known.update(filter(self.has_number, numbers_in(wanted)))

    def _read(self, passage: ReadContext) -> None:
        wanted = self._wanted
        self.known |= wanted & passage.distinct
        self.numbers.update(passage.numbers)
        bits = list(map(self._bits.get, passage.terms))
        spots = list(compress(count(), bits))
        found = list(compress(passage.terms, bits))
        reached = [spot - _PAIR_REACH for spot in spots]
        for step in (1, 2, 3):
            near = map(ge, spots, reached[step:])
            self._pairs.update(compress(zip(found, found[step:], strict=False), near))
        found_bits = list(filter(None, bits))
        self._found.append((passage, spots, found_bits))
        # No window and no sentence spans two contexts.
        held = [0] * (_n_pieces(bits) + 1)
        for spot, each in zip(spots, found_bits, strict=True):
            held[spot // _PIECE] |= each
        self._windows += [
            before | here | after for before, here, after in zip((0, *held), held, (*held[1:], 0), strict=False)
        ]

    def has_part(self, term: str) -> bool:
        """True if a word of the contexts has *term* in it, as "Ausweisinhaber" has "Inhaber"."""
        return len(term) >= _LEAST_OF_A_PART and any(term in text for text in self._folded)

    @cached_property
    def _folded(self) -> list[str]:
        return [text.casefold() for text in self._texts]

    def has_verbatim(self, sentence: str) -> bool:
        """True if a context has *sentence* as it is."""
        return any(sentence in text for text in self._texts)

    def n_near(self, pairs: Iterable[tuple[str, str]]) -> int:
        """The number of pairs whose terms are near each other in the contexts, in either order."""
        near = self._pairs
        sought = list(pairs)
        turned = [(second, first) for first, second in filterfalse(near.__contains__, sought)]
        return len(sought) - len(list(filterfalse(near.__contains__, turned)))

    def is_rearranged(self, content: Sequence[str]) -> bool:
        """True if two neighbours of *content* do not follow each other in the contexts."""
        return not self._pairs.issuperset(pairwise(content))

    def has_number(self, number: str) -> bool:
        """True if the contexts or the question have *number*, in either reading of its dots and commas."""
        return number in self.numbers or other_reading(number) in self.numbers

    def add_computed(self, numbers: Iterable[str]) -> None:
        """Make *numbers*, which follow from others, known ones."""
        for known in (self.computed, self.numbers, self.known):
            known.update(numbers)

    def is_german(self, claim: Iterable[str]) -> bool:
        """True if *claim* and the question have two German words; German capitalises all nouns."""
        return len(_GERMAN.intersection(chain(claim, self._asked))) >= _LEAST_GERMAN

    def has_single(self, claim: Sequence[str]) -> bool:
        """True if the contexts have an article before the word that has 1 before it in *claim*: "a puff", "1 puff"."""
        counted = {after for term, after in pairwise(claim) if term == "1"}
        return any(
            before in ARTICLES and after in counted
            for passage in self._passages
            for before, after in pairwise(passage.terms)
        )

    def best_window(self, terms: Sequence[str], sought: int) -> int:
        """The largest number of *terms*, which have the bits *sought*, in one window of the contexts."""
        windows = self._windows
        tried = windows if len(windows) <= _MOST_PIECES else map(windows.__getitem__, self._middles(terms))
        return max(map(int.bit_count, map(sought.__and__, tried)), default=0)

    def contradicted_number(self, claim: Sequence[str]) -> tuple[str, str] | None:
        """
        A number of *claim* and the number that contradicts it in the contexts; None without a contradiction.

        The contexts contradict a number if the sentences nearest to *claim* lack it, but have another number
        between the same two neighbours.
        """
        nearest = self._nearest(frozenset(term for term in claim if not is_number(term) and term not in STOP_WORDS))
        if not nearest:
            return None
        have = set(chain.from_iterable(nearest))
        frames = {
            (before, after): term
            for before, term, after in _in_frames(claim)
            if is_number(term) and have.isdisjoint((term, other_reading(term)))
        }
        if not frames:
            return None
        own = frozenset(claim)
        for before, term, after in chain.from_iterable(map(_in_frames, nearest)):
            if (before, after) in frames and is_number(term) and term not in own:
                return frames[before, after], term
        return None

    def changed_detail(self, claim: Sequence[str], content: Sequence[str], *, near_copy: bool) -> ChangedDetail | None:
        """
        The detail in which *claim* differs from the contexts; None if there is none.

        Args:
            claim: The terms of a sentence.
            content: Its content terms.
            near_copy: True if a window of the contexts has most of them.
        """
        if not DATES.isdisjoint(claim) and (date := foreign_date(claim, self._calendar)):
            return ChangedDetail(terms=[date])
        if not self.known.issuperset(content) and (item := added_item(claim, self.known)) and item[0] in self._wanted:
            return ChangedDetail(terms=item, is_list=True)
        if terms := self._other_agent(claim, content):
            return ChangedDetail(terms=terms)
        if not near_copy:
            return None
        change = None
        plain = frozenset(content)
        own = plain - self._asked
        nearest = self._nearest(plain, share=_COPY, apart=0.0)
        if not nearest and len(own) >= _LEAST_OF_A_COPY:
            nearest = self._nearest(own, share=_COPY, apart=0.0)
        for sentence in nearest:
            change = changed_detail(claim, sentence, lambda run: self._has_run_elsewhere(run, plain))
            if change is None:
                return None
        return change

    def exchanged_partners(self, text: str) -> ChangedDetail | None:
        """The noun of the sentence *text* that changed places with another one of the contexts; None without one."""
        clauses = self._passages[0].clauses_of(text) if self._passages else []
        if not may_exchange(clauses):
            return None
        own = frozenset[str]().union(*clauses)
        if not self._nearest(own & self._wanted, share=_COPY, apart=0.0):
            return None
        for passage in self._passages:
            if len(own & passage.distinct) < _COPY * len(own):  # reading the clauses takes time
                continue
            for sentence in passage.clauses:
                known = sum(len(own & clause.keys()) for clause in sentence)
                if known >= _COPY * len(own) and (noun := exchanged_partners(clauses, sentence)):
                    return ChangedDetail(terms=[noun])
        return None

    def _other_agent(self, claim: Sequence[str], content: Sequence[str]) -> Sequence[str]:
        """The agent of *claim*, if the contexts name only others for it: "paid by the tenant"; empty without one."""
        for deed, agent in agents(claim):
            if agent[0] in self.known and not self._asked.issuperset(agent):
                known = [
                    others
                    for sentence in self._nearest(frozenset(content).difference(agent), share=_COPY, apart=0.0)
                    for its_deed, others in agents(sentence)
                    if its_deed == deed
                ]
                if known and not any(set(agent).intersection(others) for others in known):
                    return agent
        return ()

    @cached_property
    def _calendar(self) -> frozenset[str]:
        """The weekdays and months in the contexts and the question."""
        return frozenset(term for passage in self._passages for term in passage.distinct if term in DATES) | (
            DATES & self._asked
        )

    def joins_two(self, plain: frozenset[str]) -> bool:
        """True if the contexts join two of *plain* by "and": two items of a list."""
        return any(first in plain and second in plain for first, second in self._joined)

    @cached_property
    def _joined(self) -> set[tuple[str, str]]:
        return {pair for passage in self._passages for pair in joined_items(passage.terms, self._wanted)}

    def _has_run_elsewhere(self, run: Sequence[str], plain: frozenset[str]) -> bool:
        """True if the question has a term of *run*, or a sentence of the contexts has one with another of *plain*."""
        if not self._asked.isdisjoint(run):
            return True
        held, _ = self._sentences
        others, bits = self.bits_of(plain.difference(run)), self._bits
        return any(bits.get(term, 0) & each and others & each for term in run for each in held)

    def bits_of(self, terms: Iterable[str]) -> int:
        """The bits of the wanted terms among *terms*."""
        return sum(map(self._bits.get, frozenset(terms), repeat(0)))

    @cached_property
    def _places(self) -> dict[str, list[int]]:
        """The pieces that contain each wanted term."""
        places: defaultdict[str, dict[int, None]] = defaultdict(dict)
        first = 0
        for passage, spots, _ in self._found:
            for spot in spots:
                places[passage.terms[spot]][first + spot // _PIECE] = None
            first += _n_pieces(passage.terms) + 1
        return {term: list(pieces) for term, pieces in places.items()}

    @cached_property
    def _sentences(self) -> tuple[list[int], list[tuple[ReadContext, int, int]]]:
        """The wanted terms of each sentence, and where it is."""
        held: list[int] = []
        where: list[tuple[ReadContext, int, int]] = []
        for passage, spots, found_bits in self._found:
            ends = passage.sentence_ends
            where += ((passage, start, end) for start, end in pairwise(ends))
            cuts = [bisect_left(spots, end) for end in ends]
            held += (reduce(or_, found_bits[start:end], 0) for start, end in pairwise(cuts))
        return held, where

    @cached_property
    def _by_bits(self) -> dict[int, list[tuple[ReadContext, int, int]]]:
        """The sentences by their wanted terms, if these are two or more."""
        return _grouped(zip(*self._sentences, strict=True))

    @cached_property
    def _signed(self) -> dict[int, list[tuple[ReadContext, int, int]]]:
        """Of these the sentences with a word of polarity."""
        return _grouped(
            (reduce(or_, found_bits[bisect_left(spots, start) : bisect_left(spots, end)], 0), (passage, start, end))
            for passage, spots, found_bits in self._found
            for start, end in passage.signed
        )

    @cached_property
    def _contents(self) -> tuple[int, int]:
        """The wanted terms with content, and those of them that are not of permissions and duties."""
        return self.bits_of(self._wanted - _WITHOUT_CONTENT), self.bits_of(self._wanted - WITHOUT_POLARITY)

    def _foci_of(self, held: int) -> int:
        """The wanted terms beside the words of polarity, in the sentences with the wanted terms *held*."""
        if held not in self._foci:
            foci = (self.bits_of(passage.foci_at(start, end)) for passage, start, end in self._signed[held])
            self._foci[held] = reduce(or_, foci)
        return self._foci[held]

    def _middles(self, terms: Iterable[str]) -> list[int]:
        """The pieces to try as the middle of a window if there are too many for all."""
        middles: set[int] = set()
        found = (self._places[term] for term in frozenset(terms) if term in self._places)
        for places in sorted(found, key=lambda places: (len(places), places)):
            middles.update(places if len(places) <= 2 * _SEEDS else places[:_SEEDS] + places[-_SEEDS:])
            if len(middles) > _MOST_PIECES:
                break
        return sorted(middles)

    def contradicts(self, claim: Sequence[str]) -> bool:
        """True if the sentences nearest to a clause of *claim* deny what it affirms, or affirm what it denies."""
        claimed = self.bits_of(claim)
        denies = not SIGNED.isdisjoint(claim)
        opposing = self._by_bits if denies else self._signed
        nearby = [bits for bits in opposing if (bits & claimed).bit_count() >= _LEAST_REPEATED]
        if not nearby:
            return False
        denying = nearby if denies else [bits for bits in nearby if self._foci_of(bits) & claimed]
        content, telling = self._contents
        own: Polarity | None = None
        for clause in split_clauses(claim, STOP_WORDS) if denying else ():
            bits = (claimed if clause is claim else self.bits_of(clause)) & content
            if (bits & telling).bit_count() > 1:
                bits &= telling
            least = max(_LEAST_REPEATED, _NEAR_COPY * bits.bit_count())
            if any((each & bits).bit_count() >= least for each in denying):
                plain = frozenset(term for term in clause if self._bits.get(term, 0) & bits)
                own = own or polarity(claim, WITHOUT_POLARITY)
                if (nearest := self._nearest(plain, apart=0)) and _all_oppose(nearest, claim, own, about=plain):
                    return True
        repeated = [bits for bits in nearby if not bits & ~claimed]
        if not repeated or IF in claim or not (denies or any(self._foci_of(bits) & claimed for bits in opposing)):
            return False
        return self._repeats_with_other_polarity(claim, repeated)

    def _repeats_with_other_polarity(self, claim: Sequence[str], held: Sequence[int]) -> bool:
        """True if a part of *claim* has the content of a sentence with terms *held*, but denies or affirms it."""
        by_bits = self._by_bits if NOT in claim else self._signed
        repeated = (by_bits[bits] for bits in held if bits in by_bits)
        tried: set[tuple[frozenset[str], bool]] = set()
        for passage, start, end in islice(chain.from_iterable(repeated), _MOST_REPEATED):
            sentence = frozenset(passage.terms[start:end])
            plain, has_not = sentence.difference(_WITHOUT_CONTENT, (END,)), NOT in sentence
            if end - start > _LONGEST_SENTENCE or IF in sentence or (plain, has_not) in tried:
                continue
            tried.add((plain, has_not))
            is_held = len(plain) >= _LEAST_REPEATED and plain <= self._wanted.intersection(claim)
            part = _part_with(claim, plain) if is_held else ()
            if part and (NOT in part) is not has_not:
                nearest = self._nearest(plain, share=1.0, apart=0)
                if _all_oppose(nearest, claim, polarity(part, WITHOUT_POLARITY), about=plain):
                    return True
        return False

    def _nearest(self, plain: frozenset[str], *, share: float = _NEAR_COPY, apart: float = _AS_NEAR) -> list[list[str]]:
        """The sentences of the contexts with at least *share* of *plain*; empty if there are none."""
        if not plain:
            return []
        enough = share * len(plain)
        sought = self.bits_of(plain & self.known)
        if sought.bit_count() < enough:
            return []
        held, where = self._sentences
        counts = list(map(int.bit_count, map(sought.__and__, held)))
        top = max(counts, default=0)
        if top < enough:
            return []
        least = max(top - apart * len(plain), 1)
        nearest = (where[place] for place, number in enumerate(counts) if number >= least)
        return [
            [term for term in passage.terms[start:end] if term != END]
            for passage, start, end in islice(nearest, _MOST_NEAREST)
            if end - start <= _LONGEST_SENTENCE
        ]


def _n_pieces(terms: Sequence[object]) -> int:
    return len(range(0, len(terms), _PIECE))


def _grouped(
    held: Iterable[tuple[int, tuple[ReadContext, int, int]]],
) -> dict[int, list[tuple[ReadContext, int, int]]]:
    """The sentences by the bits that they hold, if these are two or more."""
    by_bits: defaultdict[int, list[tuple[ReadContext, int, int]]] = defaultdict(list)
    for bits, place in held:
        if bits & (bits - 1):
            by_bits[bits].append(place)
    return by_bits


def _all_oppose(
    nearest: Sequence[Sequence[str]], claim: Sequence[str], own: Polarity, *, about: frozenset[str]
) -> bool:
    """True if each of *nearest* denies what *claim*, or its part with the polarity *own*, affirms, or the other way."""
    return all(
        own.opposes(polarity(sentence, WITHOUT_POLARITY), about=about) and not is_said_otherwise(claim, sentence)
        for sentence in nearest
    )


def _part_with(claim: Sequence[str], plain: frozenset[str]) -> Sequence[str]:
    """The part of *claim* with all of *plain*, at most one other content term, and the words around; or empty."""
    places = [place for place, term in enumerate(claim) if term not in _WITHOUT_CONTENT]
    content = [claim[place] for place in places]
    for length in (len(plain), len(plain) + 1):
        for first in range(len(places) - length + 1):
            last = first + length
            if not plain.issubset(content[first:last]):
                continue
            while last < len(content) and content[last] in plain:
                last += 1
            start = places[first - 1] + 1 if first else 0
            if last == len(places):
                return claim[start:]
            # The negation of an apposition is not of the part: "by Tesla, not Edison".
            is_apposition = BUT in claim[places[last] : places[last] + _LONGEST_APPOSITION]
            return claim[start : places[last - 1] + 1 if is_apposition else places[last]]
    return ()


def _in_frames(terms: Sequence[str]) -> Iterator[tuple[str, str, str]]:
    """Each content term between its two neighbours."""
    content = [term for term in terms if term not in STOP_WORDS]
    return zip(("", *content), content, (*content[1:], ""), strict=False)
