from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Sequence
from functools import cached_property, reduce
from itertools import compress, count, pairwise, repeat
from operator import ge, lshift, or_

from pytest_ragcheck.judging.offline.details.roles import read_clauses
from pytest_ragcheck.judging.offline.negation import polarity
from pytest_ragcheck.judging.offline.quantities.dates import DAY_NUMBERS
from pytest_ragcheck.judging.offline.quantities.quantity import Quantity
from pytest_ragcheck.judging.offline.quantities.quantity_reader import read_quantities
from pytest_ragcheck.judging.offline.words.html_tags import links_in, without_tags
from pytest_ragcheck.judging.offline.words.rewording import SIGNED
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

    @cached_property
    def is_signed(self) -> bool:
        """True if it has a negation or another word of polarity."""
        return not SIGNED.isdisjoint(self.terms)

    @cached_property
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

    @cached_property
    def sentence_ends(self) -> list[int]:
        """Places after each sentence; 0 is the first one."""
        return [0, *[end for end, term in enumerate(self.terms, 1) if term == END], len(self.terms)]

    @cached_property
    def sentences(self) -> list[ContextSentence]:
        return [ContextSentence(self.terms[start:end]) for start, end in pairwise(self.sentence_ends)]

    @cached_property
    def counted(self) -> frozenset[tuple[str, str]]:
        """Each number with the term after it."""
        return frozenset(compress(pairwise(self.terms), [term < ":" for term in self.terms]))

    @cached_property
    def clauses(self) -> list[list[dict[str, str]]]:
        return list(map(read_clauses, sentences(self.text)))

    @cached_property
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


# Length of a piece in terms; three neighbouring pieces are a window. Sentences as pieces cost more and are no better:
# RAGTruth 0.787 against 0.790, MT-RAG 0.974 against 0.975, WiCE 0.834 against 0.832.
_PIECE = 25
# Largest distance in terms between two neighbours of the answer in the contexts; 4 and 8 differ by at most 0.003.
_PAIR_REACH = 6
# Above this number of pieces (6,000 terms) only pieces with a term of the claim are tried, the rarest terms first, and
# `_SEEDS` at either end for each: a bound for megabytes.
_MOST_PIECES = 256
_SEEDS = 32
NEAR_COPY = 0.85
"""Least share of a claim's words in a context sentence that can contradict the claim."""

_AS_NEAR = 0.15  # sentences this close to the best count too
_MOST_NEAREST = 8  # sentences that are compared with a claim
_MOST_COMPARED = 2_000_000  # pairs of claim and sentence; 200 sentences over 5,000 are a million


class ContextIndex:
    """
    The places of an answer's terms in the contexts.

    Only *wanted* terms are kept, which bounds the memory. *asked* are the question's terms, which an answer may repeat.
    """

    def __init__(self, passages: Sequence[ReadContext], *, wanted: frozenset[str], asked: frozenset[str]) -> None:
        self.wanted = wanted
        self.known = set(asked)
        """The wanted terms in the contexts, and the question's terms."""

        # Sets of wanted terms are integers with one bit a term, which intersect several times as fast as sets.
        self.bits = dict(zip(wanted, map(lshift, repeat(1), count()), strict=False))
        self._windows: list[int] = []
        """The bits of each piece and its neighbours. An empty piece follows the last one of each context."""
        self._pairs: set[tuple[str, str]] = set()
        self._found: list[tuple[ReadContext, list[int], list[int]]] = []
        """For each context, the places and the bits of its wanted terms."""
        self._compared = 0
        for passage in passages:
            self._read(passage)

    def _read(self, passage: ReadContext) -> None:
        self.known |= self.wanted & passage.distinct
        bits = list(map(self.bits.get, passage.terms))
        spots = list(compress(count(), bits))
        found = list(compress(passage.terms, bits))
        reached = [spot - _PAIR_REACH for spot in spots]
        for step in (1, 2, 3):
            near = map(ge, spots, reached[step:])
            self._pairs.update(compress(zip(found, found[step:], strict=False), near))
        found_bits = list(filter(None, bits))
        self._found.append((passage, spots, found_bits))
        # No window and no sentence spans two contexts.
        pieces = [0] * (_n_pieces(bits) + 1)
        for spot, each in zip(spots, found_bits, strict=True):
            pieces[spot // _PIECE] |= each
        self._windows += [
            before | here | after for before, here, after in zip((0, *pieces), pieces, (*pieces[1:], 0), strict=False)
        ]

    def bits_of(self, terms: Iterable[str]) -> int:
        return sum(map(self.bits.get, frozenset(terms), repeat(0)))

    def n_near(self, content: Sequence[str]) -> int:
        """The number of neighbours in *content* that are near each other in the contexts, in either order."""
        is_near, after = self._pairs.__contains__, content[1:]
        forwards = map(is_near, zip(content, after, strict=False))
        backwards = map(is_near, zip(after, content, strict=False))
        return sum(map(or_, forwards, backwards))

    def is_rearranged(self, content: Sequence[str]) -> bool:
        """True if two neighbours of *content* do not follow each other in the contexts."""
        return not self._pairs.issuperset(pairwise(content))

    def best_window(self, terms: Sequence[str], sought: int) -> int:
        """The largest number of *terms*, which have the bits *sought*, in one window of the contexts."""
        windows = self._windows
        tried = windows if len(windows) <= _MOST_PIECES else map(windows.__getitem__, self._middles(terms))
        return max(map(int.bit_count, map(sought.__and__, tried)), default=0)

    def _middles(self, terms: Iterable[str]) -> list[int]:
        # The pieces to try as the middle of a window if there are too many for all.
        middles: set[int] = set()
        found = (self._places[term] for term in frozenset(terms) if term in self._places)
        for places in sorted(found, key=lambda places: (len(places), places)):
            middles.update(places if len(places) <= 2 * _SEEDS else places[:_SEEDS] + places[-_SEEDS:])
            if len(middles) > _MOST_PIECES:
                break
        return sorted(middles)

    @cached_property
    def _places(self) -> dict[str, list[int]]:
        places: defaultdict[str, dict[int, None]] = defaultdict(dict)
        first = 0
        for passage, spots, _ in self._found:
            for spot in spots:
                places[passage.terms[spot]][first + spot // _PIECE] = None
            first += _n_pieces(passage.terms) + 1
        return {term: list(pieces) for term, pieces in places.items()}

    @cached_property
    def sentences(self) -> tuple[list[int], list[ContextSentence]]:
        bits: list[int] = []
        sentences: list[ContextSentence] = []
        for passage, spots, found_bits in self._found:
            sentences += passage.sentences
            cuts = [bisect_left(spots, end) for end in passage.sentence_ends]
            bits += [reduce(or_, found_bits[start:end], 0) for start, end in pairwise(cuts)]
        return bits, sentences

    @cached_property
    def _present(self) -> int:
        return reduce(or_, self._windows, 0)

    def nearest(
        self, sought: int, size: int, *, claim: int = 0, share: float = NEAR_COPY, apart: float = _AS_NEAR
    ) -> list[list[str]]:
        """
        The nearest sentences with at least *share* of *size* terms, which have the bits *sought*.

        Of too many, such as the lines of a price list, those with most of the bits of the whole *claim* are returned.
        """
        enough = share * size
        if not sought or (sought & self._present).bit_count() < enough:
            return []
        bits, sentences = self.sentences
        self._compared += len(bits)
        if self._compared > _MOST_COMPARED:
            return []
        counts = list(map(int.bit_count, map(sought.__and__, bits)))
        top = max(counts, default=0)
        if top < enough:
            return []
        least = max(top - apart * size, 1)
        places = list(compress(count(), map(least.__le__, counts)))
        if len(places) > _MOST_NEAREST:
            ranks = list(map(int.bit_count, map(claim.__and__, bits)))
            places.sort(key=ranks.__getitem__, reverse=True)
        nearest = map(sentences.__getitem__, places[:_MOST_NEAREST])
        return [each.terms for each in nearest if not each.is_long]


def _n_pieces(terms: Sequence[object]) -> int:
    return len(range(0, len(terms), _PIECE))
