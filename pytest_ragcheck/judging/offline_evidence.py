"""The contexts, read once, as what an answer's sentences are held against."""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from functools import cached_property, reduce
from itertools import chain, compress, count, filterfalse, groupby, pairwise, repeat
from operator import lshift, or_, sub
from typing import TYPE_CHECKING

from pytest_ragcheck.judging.offline_numbers import other_reading
from pytest_ragcheck.judging.offline_words import STOP_WORDS
from pytest_ragcheck.judging.terms import END, is_number, numbers_in

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from pytest_ragcheck.judging.terms import Terms

# Contexts are cut into pieces of so many terms, and three neighbouring pieces are a window. To find sentences in them
# costs more than all the rest and is no better: RAGTruth 0.787 against 0.790, MT-RAG 0.974 and 0.975, WiCE 0.834 and
# 0.832.
_PIECE = 25
# How far apart, in terms, two neighbours of the answer may stand in the contexts; 4 and 8 are within 0.003.
_PAIR_REACH = 6
# Above so many pieces (6,000 terms) only pieces are tried that have a term of the claim, its rarest terms first, and of
# each term so many at either end: a bound for contexts of megabytes.
_MOST_PIECES = 256
# Of passages that are kept read, which takes some ten bytes a character.
_MOST_CHARACTERS_KEPT = 2_000_000
_CHARACTERS_OF_A_PASSAGE = 100  # what one takes whatever its length
_SEEDS = 32
# A claim's number contradicts a context sentence that has so much of the claim's words; sentences that have nearly as
# much as the best are read too.
_NEAR_COPY, _AS_NEAR = 0.85, 0.15


class Passage:
    """A context, read once for all answers that it is held against."""

    __slots__ = ("distinct", "numbers", "pieces", "terms")

    def __init__(self, text: str, terms: Terms) -> None:
        self.terms = terms.with_ends(text)
        """In order, with `END` where a sentence ends."""

        self.distinct = frozenset(self.terms)
        self.numbers = numbers_in(self.distinct)
        self.pieces = [self.terms[start : start + _PIECE] for start in range(0, len(self.terms), _PIECE)]


class Passages(dict[str, Passage]):
    """
    The passages that were read, by their text: the same ones come back with many questions.

    Args:
        terms: The dictionary of terms to use.
    """

    def __init__(self, terms: Terms) -> None:
        super().__init__()
        self._terms = terms
        self._characters = 0

    def __missing__(self, text: str) -> Passage:
        characters = len(text) + _CHARACTERS_OF_A_PASSAGE
        self._characters += characters
        if self._characters > _MOST_CHARACTERS_KEPT:
            self.clear()
            self._characters = characters
        passage = self[text] = Passage(text, self._terms)
        return passage


class Evidence:
    """
    What the contexts say about some terms.

    Args:
        passages: The contexts.
        wanted: The terms that will be asked for; no others are kept, so that memory follows the answer.
        asked: The question's terms, which an answer may repeat.
    """

    def __init__(self, passages: Iterable[Passage], *, wanted: frozenset[str], asked: frozenset[str]) -> None:
        self._wanted = wanted
        self.known = set(asked)
        """The wanted terms that the contexts have, numbers in either reading, and the question's."""
        # Sets of wanted terms are numbers with a bit for each: to intersect two and count is several times as fast.
        self._bits = dict(zip(wanted, map(lshift, repeat(1), count()), strict=False))
        self._pieces: list[list[str]] = []
        self._held: list[int] = []
        """Of each piece the wanted terms; of an empty one that stands after the last of each context, none."""
        self._windows: list[int] = []
        """Of each piece the wanted terms of it and its neighbours; nothing between two contexts."""
        self._pairs: set[tuple[str, str]] = set()
        self._numbers = set(numbers_in(asked))
        self.wanted_numbers = frozenset(numbers_in(wanted))
        """The wanted terms that are numbers."""
        for passage in passages:
            self._read(passage)
        self.known.update(number for number in self.wanted_numbers - self._numbers if self.has_number(number))

    def _read(self, passage: Passage) -> None:
        wanted, bits = self._wanted, self._bits
        self.known |= wanted & passage.distinct
        self._numbers.update(passage.numbers)
        is_wanted = list(map(wanted.__contains__, passage.terms))
        spots = list(compress(range(len(is_wanted)), is_wanted))
        found = list(compress(passage.terms, is_wanted))
        for step in (1, 2, 3):
            near = map(_PAIR_REACH.__ge__, map(sub, spots[step:], spots))
            self._pairs.update(compress(zip(found, found[step:], strict=False), near))
        found_bits = list(map(bits.__getitem__, found))
        ends = [bisect_left(spots, end) for end in range(0, len(passage.terms) + _PIECE, _PIECE)]
        held = [0, *(reduce(or_, found_bits[start:end], 0) for start, end in pairwise(ends)), 0]
        # No window and no sentence goes from one context into the next.
        self._pieces += (*passage.pieces, [])
        self._held += held[1:]
        self._windows += [before | here | after for before, here, after in zip(held, held[1:], held[2:], strict=False)]
        self._windows.append(0)

    def n_near(self, pairs: Iterable[tuple[str, str]]) -> int:
        """How many of the pairs of wanted terms stand near each other in the contexts, in whichever order."""
        near = self._pairs
        sought = list(pairs)
        turned = [(second, first) for first, second in filterfalse(near.__contains__, sought)]
        return len(sought) - len(list(filterfalse(near.__contains__, turned)))

    def has_number(self, number: str) -> bool:
        """Do the contexts or the question have *number*, in either reading of its dots and commas."""
        return number in self._numbers or other_reading(number) in self._numbers

    def best_window(self, terms: frozenset[str]) -> int:
        """How many of *terms* the best window of the contexts has."""
        windows, sought = self._windows, self._bits_of(terms)
        tried = windows if self._are_few else map(windows.__getitem__, self._middles(terms))
        return max(map(int.bit_count, map(sought.__and__, tried)), default=0)

    def contradicted_number(self, claim: Sequence[str]) -> tuple[str, str] | None:
        """
        A number of *claim* and the one that the contexts have in its place.

        That is so where the context sentences nearest to *claim* do not have its number, but have another one
        between the same two neighbours. None where the contexts contradict no number.
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

    def _bits_of(self, terms: frozenset[str]) -> int:
        """Those of *terms* that are wanted."""
        return sum(map(self._bits.get, terms, repeat(0)))

    @cached_property
    def _places(self) -> dict[int, list[int]]:
        """The pieces that have each wanted term, by its bit."""
        places: defaultdict[int, list[int]] = defaultdict(list)
        for place, held in enumerate(self._held):
            rest = held
            while rest:
                bit = rest & -rest
                places[bit].append(place)
                rest ^= bit
        return places

    @property
    def _are_few(self) -> bool:
        """So few pieces that all can be tried."""
        return len(self._pieces) <= _MOST_PIECES

    @cached_property
    def _doubles(self) -> list[int]:
        """Of each piece but the last the wanted terms of it and the next one."""
        return list(map(or_, self._held, self._held[1:]))

    def _middles(self, terms: frozenset[str]) -> list[int]:
        """The pieces to try as the middle of a window, where there are too many for all."""
        middles: set[int] = set()
        bits = (self._bits.get(term) for term in terms)
        for places in sorted(
            (self._places[bit] for bit in bits if bit in self._places), key=lambda places: (len(places), places)
        ):
            middles.update(places if len(places) <= 2 * _SEEDS else places[:_SEEDS] + places[-_SEEDS:])
            if len(middles) > _MOST_PIECES:
                break
        return sorted(middles)

    def _nearest(self, plain: frozenset[str]) -> list[list[str]]:
        """The sentences of the contexts that have nearly all of *plain*; empty where none has."""
        if not plain:
            return []
        enough = _NEAR_COPY * len(plain)
        sought = self._bits_of(plain & self.known)
        if sought.bit_count() < enough:
            return []
        doubles = self._doubles
        tried = (
            range(len(doubles))
            if self._are_few
            else sorted({at - back for at in self._middles(plain) for back in (0, 1) if at >= back})
        )
        near = [
            (len(plain.intersection(sentence)), sentence)
            for at in tried
            if (sought & doubles[at]).bit_count() >= enough
            for sentence in _between_ends(chain(*self._pieces[at : at + 2]))
        ]
        top = max((count for count, _ in near), default=0)
        least = top - _AS_NEAR * len(plain)
        return [sentence for count, sentence in near if count >= least] if top >= enough else []


def _between_ends(terms: Iterable[str]) -> Iterator[list[str]]:
    for is_end, sentence in groupby(terms, END.__eq__):
        if not is_end:
            yield list(sentence)


def _in_frames(terms: Sequence[str]) -> Iterator[tuple[str, str, str]]:
    """Each term that is no stop word, between the two next to it."""
    content = [term for term in terms if term not in STOP_WORDS]
    return zip(("", *content), content, (*content[1:], ""), strict=False)
