"""Finds claims that the contexts deny, and denials of what they affirm."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from functools import cached_property, reduce
from itertools import chain, islice
from operator import or_

from pytest_ragcheck.judging.offline.grounding.read_context import NEAR_COPY, ContextIndex, ContextSentence
from pytest_ragcheck.judging.offline.negation import Polarity, are_equivalent_denials, polarity, split_clauses
from pytest_ragcheck.judging.offline.words.rewording import BUT, IF, NOT, SIGNED
from pytest_ragcheck.judging.offline.words.terms import STOP_WORDS, WITHOUT_POLARITY

_MOST_REPEATED = 100  # sentences that a claim may repeat: a bound for long texts
_LEAST_REPEATED = 2  # content terms of a context sentence that a part of a claim repeats
_LONGEST_APPOSITION = 4  # terms
_WITHOUT_CONTENT = STOP_WORDS | SIGNED | {IF, BUT}


class Contradictions:
    """Compares the polarity of claims and of the context sentences nearest to them."""

    def __init__(self, index: ContextIndex) -> None:
        self._index = index
        self._foci: dict[int, int] = {}
        """Of `_foci_of`, by its argument."""

    def contradicts(self, claim: Sequence[str], claimed: int) -> bool:
        """
        True if the sentences nearest to a clause of *claim* deny what it affirms, or affirm what it denies.

        *claimed* has the bits of its wanted terms.
        """
        denies = not SIGNED.isdisjoint(claim)
        opposing = self._by_bits if denies else self._signed
        nearby = [bits for bits in opposing if (bits & claimed).bit_count() >= _LEAST_REPEATED]
        if not nearby:
            return False
        denying = nearby if denies else [bits for bits in nearby if self._foci_of(bits) & claimed]
        own: Polarity | None = None
        for clause in split_clauses(claim, STOP_WORDS) if denying else ():
            content, specific = self._contents
            bits = (claimed if clause is claim else self._index.bits_of(clause)) & content
            if (bits & specific).bit_count() > 1:
                bits &= specific
            least = max(_LEAST_REPEATED, NEAR_COPY * bits.bit_count())
            if any((each & bits).bit_count() >= least for each in denying):
                nearest = self._index.nearest(bits, bits.bit_count(), claim=claimed, apart=0)
                if not nearest:
                    continue
                own = own or polarity(claim, WITHOUT_POLARITY)
                plain = frozenset(term for term in clause if self._index.bits.get(term, 0) & bits)
                if _all_oppose(nearest, claim, own, about=plain):
                    return True
        repeated = [bits for bits in nearby if not bits & ~claimed]
        if not repeated or IF in claim or not (denies or any(self._foci_of(bits) & claimed for bits in opposing)):
            return False
        return self._repeats_with_other_polarity(claim, claimed, repeated)

    def _repeats_with_other_polarity(self, claim: Sequence[str], claimed: int, sought: Sequence[int]) -> bool:
        # True if a part of *claim* repeats a sentence with bits of *sought*, but in the opposite polarity.
        by_bits = self._by_bits if NOT in claim else self._signed
        repeated = (by_bits[bits] for bits in sought if bits in by_bits)
        tried: set[tuple[frozenset[str], bool]] = set()
        for sentence in islice(chain.from_iterable(repeated), _MOST_REPEATED):
            plain, has_not = frozenset(sentence.terms) - _WITHOUT_CONTENT, NOT in sentence.terms
            if sentence.is_long or IF in sentence.terms or (plain, has_not) in tried:
                continue
            tried.add((plain, has_not))
            is_repeated = len(plain) >= _LEAST_REPEATED and plain <= self._index.wanted.intersection(claim)
            part = _part_with(claim, plain) if is_repeated else ()
            if part and (NOT in part) is not has_not:
                bits = self._index.bits_of(plain)
                nearest = self._index.nearest(bits, len(plain), claim=claimed, share=1.0, apart=0)
                if _all_oppose(nearest, claim, polarity(part, WITHOUT_POLARITY), about=plain):
                    return True
        return False

    @cached_property
    def _by_bits(self) -> dict[int, list[ContextSentence]]:
        return self._grouped(is_signed=False)

    @cached_property
    def _signed(self) -> dict[int, list[ContextSentence]]:
        return self._grouped(is_signed=True)

    def _grouped(self, *, is_signed: bool) -> dict[int, list[ContextSentence]]:
        by_bits: defaultdict[int, list[ContextSentence]] = defaultdict(list)
        for bits, sentence in zip(*self._index.sentences, strict=True):
            if bits & (bits - 1) and sentence.is_signed >= is_signed:
                by_bits[bits].append(sentence)
        return by_bits

    @cached_property
    def _contents(self) -> tuple[int, int]:
        # The bits of the wanted content terms, with and without those of permissions and duties.
        index = self._index
        return index.bits_of(index.wanted - _WITHOUT_CONTENT), index.bits_of(index.wanted - WITHOUT_POLARITY)

    def _foci_of(self, bits: int) -> int:
        # The bits of the terms next to the words of polarity in the sentences with these *bits*.
        if bits not in self._foci:
            foci = (self._index.bits_of(sentence.foci) for sentence in self._signed[bits])
            self._foci[bits] = reduce(or_, foci)
        return self._foci[bits]


def _all_oppose(
    nearest: Sequence[Sequence[str]], claim: Sequence[str], own: Polarity, *, about: frozenset[str]
) -> bool:
    return all(
        own.opposes(polarity(sentence, WITHOUT_POLARITY), about=about) and not are_equivalent_denials(claim, sentence)
        for sentence in nearest
    )


def _part_with(claim: Sequence[str], plain: frozenset[str]) -> Sequence[str]:
    # The part of *claim* with all of *plain* and at most one other content term; or empty.
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
            # The negation of an apposition does not belong to the part: "by Tesla, not Edison".
            is_apposition = BUT in claim[places[last] : places[last] + _LONGEST_APPOSITION]
            return claim[start : places[last - 1] + 1 if is_apposition else places[last]]
    return ()
