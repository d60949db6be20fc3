"""Measures how far the contexts support each sentence of an answer."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import filterfalse, pairwise

from pytest_ragcheck.judging.offline.details.changed_details import ChangedDetail
from pytest_ragcheck.judging.offline.grounding.evidence import Evidence, is_verbatim
from pytest_ragcheck.judging.offline.grounding.known_quantities import ComparedQuantities, Computation, KnownQuantities
from pytest_ragcheck.judging.offline.grounding.read_context import ReadContext
from pytest_ragcheck.judging.offline.negation import without_yes_or_no
from pytest_ragcheck.judging.offline.quantities.quantity import has_quantity
from pytest_ragcheck.judging.offline.quantities.quantity_reader import read_quantities
from pytest_ragcheck.judging.offline.refusals import SentenceCache
from pytest_ragcheck.judging.offline.words.normalized_text import NUMBER, clause_words, listed, normalised, words
from pytest_ragcheck.judging.offline.words.number_spellings import canonical_number
from pytest_ragcheck.judging.offline.words.rewording import BUT, IF, NOT
from pytest_ragcheck.judging.offline.words.terms import (
    FRAMING,
    REFUSING,
    STOP_WORDS,
    TermDictionary,
    numbers_in,
    term_of,
    terms_of,
)
from pytest_ragcheck.judging.offline.words.word_lists import WORDS

# Each constant has the change of the area under the curve without it on RAGTruth-QA, MT-RAG and WiCE, in this order.

# Runs of absent words weigh more than scattered ones, a run of four as eight: -0.002, +0.001, -0.003.
_RUN_EXPONENT = 1.5
# The raw support of a refusal with up to four words that are not in the question; more words are a claim. At 0.7:
# 0.000, -0.007, 0.000; at 1: -0.016 on MT-RAG, by one row.
_REFUSAL_IN_OWN_WORDS = 0.5
_MOST_OWN_WORDS_OF_A_REFUSAL = 4
# A bonus for a short answer if the contexts have all its quantities, or join two of its words by "and": its other words
# are mostly a paraphrase. In long answers too: 0.000, -0.003, -0.003.
_KNOWN_QUANTITIES, MOST_TERMS_OF_A_SHORT_ANSWER = 0.2, 20
SHARE_OF_CHANGED = 3
"""An answer is wrong if one in this many of its words is in changed claims."""

# Share of a claim's terms in one window that makes it a near copy, and its fewest terms.
_NEAR_COPY, _LEAST_OF_A_COPY = 0.65, 3
_LEAST_BESIDE, _MOST_ABSENT_BEFORE = 2, 1  # terms before and in an added end, and absent ones before it
_LONGEST_JOINT = 4  # terms before an added end
_JOINTS = frozenset((BUT, IF)) | terms_of("and und et y e ed en и provided sofern")
_LETTERS_OF_A_NAME = 5  # that are compared, because terms lack endings
_SILENT = STOP_WORDS | FRAMING
_QUESTION_MARKS = ("?", "？", "؟")
# A capitalised word within a sentence.
_NAME = re.compile(r"(?<=[a-zà-ÿ,;а-яё] )[A-ZÀ-ÝА-Я][a-zà-ÿа-яё'-]{3,}")
_DIGIT = re.compile(r"\d")
_CITED = listed(WORDS["cited"])
# Digits that state no quantity: "(passage 7)", "[3]", "step 1:", "1) a lamp, 2) a tent".
_NO_QUANTITY = re.compile(
    r"(?=[(\[\dcdeps])(?:"
    r"\(?\b(?:passages?|sources?|documents?|contexts?|chunks?|doc)[ #]{1,2}\d{1,3}(?:(?:,| and| &) \d{1,3})*\)?"
    r"|\[\^?\d{1,3}(?:[,;–-] ?\d{1,3})*\]|\(?\b\d\)(?= [^\W\d])"
    r"|\b(?:step|schritt|etape|paso|passo) \d{1,2}:)"
)


@dataclass(slots=True, kw_only=True)  # not frozen: filled step by step
class Support:
    sentence: str
    """The sentence, verbatim."""

    plain: str
    """The sentence without its citation markers."""

    terms: Sequence[str]

    content: Sequence[str]
    declines: bool
    is_refusal: bool
    """True if it declines in few words of its own."""

    compared: ComparedQuantities | None = None
    raw: float = _REFUSAL_IN_OWN_WORDS

    absence: float = 0.0
    """The penalty for its absent terms."""

    known_share: float = 1.0
    """The share of its content terms that the contexts or the question have."""

    longest_gap: int = 0
    """The length of its longest run of absent terms."""

    number: str | None = None
    """A number of the sentence, as written, that the contexts lack or contradict."""

    number_instead: str | None = None
    """The number of the contexts in its place; None if there is none."""

    is_opposed: bool = False
    """True if the contexts deny what the sentence affirms, or affirm what it denies."""

    changed: ChangedDetail | None = None
    """The detail in which it differs from the sentence of the contexts that it nearly copies."""

    score: float = 0.0
    """0..1, the score of an answer that is only this sentence."""

    @property
    def is_changed(self) -> bool:
        return self.is_opposed or self.changed is not None

    @property
    def has_known_quantities(self) -> bool:
        return self.compared is not None and self.compared.n_known > 0 and not self.compared.unknown

    @property
    def has_other_rate(self) -> bool:
        """True if it has an amount of the contexts with another rate or bound: per week and not per day."""
        return self.compared is not None and any(each.is_other_rate for each in self.compared.unknown)


def claims_of(read: SentenceCache, asked: frozenset[str], terms: TermDictionary) -> list[Support]:
    """
    The claims of an answer.

    Advice after a refusal claims nothing, nor do questions, sources and courtesies, unless the answer has nothing else.
    """
    claims: list[Support] = []
    has_declined = False
    for sentence in read.sentences:
        if has_declined and read[sentence].refers:
            continue
        if (claim := _claim(sentence, asked, terms, read)) is not None:
            claims.append(claim)
        has_declined = has_declined or read[sentence].declines
    return [
        claim
        for claim in claims
        if not (claim.sentence.endswith(_QUESTION_MARKS) or read[claim.sentence].claims_nothing)
    ] or claims


def compare_quantities(claims: Sequence[Support], asked: Sequence[str], passages: Sequence[ReadContext]) -> None:
    """Rewrites the quantities of *claims* as the question or the contexts spell them, and notes unknown ones."""
    measurable = [claim for claim in claims if not claim.is_refusal and has_quantity(claim.terms)]
    if measurable and sum([len(claim.content) for claim in claims]) > MOST_TERMS_OF_A_SHORT_ANSWER:
        # In a long answer, numbers before the same word as in the contexts are not read, which halves the time.
        counted = frozenset[tuple[str, str]]().union(*(passage.counted for passage in passages))
        measurable = [
            claim
            for claim in measurable
            if not counted.issuperset(pair for pair in pairwise((*claim.terms, "")) if pair[0] < ":")
        ]
    if not measurable:
        return
    known = KnownQuantities(
        [(asked, read_quantities(asked)), *((passage.terms, passage.quantities) for passage in passages)]
    )
    for claim in measurable:
        claim.compared = known.compare(claim.terms)
        claim.terms = claim.compared.terms
        claim.content = list(filterfalse(_SILENT.__contains__, claim.terms))


def _claim(sentence: str, asked: frozenset[str], terms: TermDictionary, cache: SentenceCache) -> Support | None:
    parsed = cache[sentence]
    plain = parsed.text
    if _DIGIT.search(sentence) and ("[" in sentence or "1)" in sentence or not _CITED.isdisjoint(parsed.words)):
        parsed = cache[_NO_QUANTITY.sub(" ", parsed.folded)]
    refuses = parsed.declines
    all_terms = terms.of_words(clause_words(parsed.beside_declining()) if refuses else parsed.words)
    content = list(filterfalse(_SILENT.__contains__, all_terms))
    if refuses:
        content = [term for term in content if term not in asked and term not in REFUSING]
    if not content:
        return None
    return Support(
        sentence=sentence,
        plain=plain,
        terms=all_terms,
        content=content,
        declines=refuses,
        is_refusal=refuses and len(content) <= _MOST_OWN_WORDS_OF_A_REFUSAL,
    )


def measure(claims: Sequence[Support], evidence: Evidence, computation: Computation) -> None:
    """Writes into each of *claims* how far the contexts support it."""
    size = sum([len(claim.content) for claim in claims])
    is_short = size <= MOST_TERMS_OF_A_SHORT_ANSWER
    for claim in claims:
        if not claim.is_refusal:
            numbers = numbers_in(claim.content)
            unknown = () if claim.compared is None else claim.compared.unknown
            if unknown or not all(map(evidence.has_number, numbers)):
                answer = [each.terms for each in (claims if is_short else [claim])]
                found = computation.computed(claim.sentence, claim.terms, answer, unknown, evidence.has_number)
                evidence.add_computed(found)
                if claim.compared is not None and found:
                    claim.compared.accept(found)
            _measure_claim(claim, evidence, size)
            if unknown or numbers:
                claim.number, claim.number_instead = _number_fault(claim, evidence) or (None, None)
        if is_short:
            bonus = claim.has_known_quantities or evidence.joins_two(frozenset(claim.content))
            claim.raw += _KNOWN_QUANTITIES * bonus
    if is_short and len(claims) > 1 and not any(claim.changed for claim in claims):
        claims[0].changed = evidence.swapped_noun(" ".join(claim.sentence for claim in claims))


def _measure_claim(claim: Support, evidence: Evidence, size: int) -> None:
    content, known = claim.content, evidence.known
    present = list(map(known.__contains__, content))
    is_short = size <= MOST_TERMS_OF_A_SHORT_ANSWER
    if is_short and not all(present):
        present = [is_known or evidence.has_part(term) for is_known, term in zip(present, content, strict=True)]
    n_present = sum(present)
    claim.known_share = n_present / len(present)
    if n_present < len(present):
        gaps = [len(run) for run in bytes(present).split(b"\1") if run]  # of absent terms; True is the byte 1
        claim.absence = sum([math.pow(gap, _RUN_EXPONENT) for gap in gaps])
        claim.longest_gap = max(gaps)
    n_pairs = len(content) - 1
    pair_share = evidence.index.n_near(content) / n_pairs if n_pairs else float(n_present)
    bits = evidence.index.bits_of(content)
    n_distinct = bits.bit_count()
    window_share = evidence.index.best_window(content, bits) / n_distinct
    claim.raw = (claim.known_share + window_share + pair_share) / 3
    near_copy = window_share >= _NEAR_COPY and n_distinct >= max(_LEAST_OF_A_COPY, size / SHARE_OF_CHANGED)
    claim.changed = evidence.changed_detail(claim.terms, content, bits, near_copy=near_copy)
    if claim.changed is None and near_copy and evidence.index.is_rearranged(content):
        claim.changed = evidence.swapped_noun(claim.sentence)
    if claim.changed is None and is_short:
        claim.changed = _added_end(claim, present) or _unknown_name(claim, present, evidence)
    if "@" in claim.sentence and evidence.lacks_address(claim.sentence):
        claim.changed = ChangedDetail(terms=content)
    if not is_verbatim(claim.plain, evidence.texts):
        stated = without_yes_or_no(claim.sentence, claim.terms)
        claimed = bits if stated is claim.terms and not claim.declines else evidence.index.bits_of(stated)
        claim.is_opposed = evidence.contradictions.contradicts(stated, claimed)


def _added_end(claim: Support, present: list[bool]) -> ChangedDetail | None:
    # The last terms if two or more are absent, and at most one before them is: ", paid in gold coins".
    end = len(present)
    while end and not present[end - 1]:
        end -= 1
    if end < _LEAST_BESIDE or len(present) - end < _LEAST_BESIDE or end - sum(present) > _MOST_ABSENT_BEFORE:
        return None
    added = claim.content[end:]
    joint = claim.terms[: claim.terms.index(added[0])][-_LONGEST_JOINT:]
    after_comma = map(term_of, words(claim.sentence.rpartition(",")[2]))
    is_joined = not _JOINTS.isdisjoint(joint) or next(filterfalse(_SILENT.__contains__, after_comma), "") == added[0]
    return ChangedDetail(terms=added, is_addition=True, is_elaboration=not is_joined)


def _unknown_name(claim: Support, present: list[bool], evidence: Evidence) -> ChangedDetail | None:
    # The term of a name that the contexts and the question lack; None without one, and in German.
    if all(present) or evidence.is_german(claim.terms):
        return None
    names = [normalised(name).strip() for name in _NAME.findall(claim.sentence)]
    absent = (term for term, is_present in zip(claim.content, present, strict=True) if not is_present)
    unknown = [term for term in absent if any(name.startswith(term[:_LETTERS_OF_A_NAME]) for name in names)][:1]
    return ChangedDetail(terms=unknown, is_addition=True) if unknown else None


def _number_fault(claim: Support, evidence: Evidence) -> tuple[str, str | None] | None:
    # The first number of the claim that the contexts lack or contradict, and the number in its place.
    denied = {number for before, number in pairwise(claim.terms) if before == NOT}
    numbers = [number for number in numbers_in(dict.fromkeys(claim.content)) if number not in denied]
    for number in numbers:
        # Small numbers in words are seldom quantities; they mostly count the answer's own list.
        if number == "1" and evidence.has_single(claim.terms):
            continue
        if not evidence.has_number(number) and (len(number) > 1 or _written(number, claim.sentence) is not None):
            return _written(number, claim.sentence) or number, None
    if claim.compared is not None and claim.compared.unknown:
        return claim.compared.unknown[0].names(claim.sentence)
    contradicted = evidence.contradicted_number(claim.terms) if numbers else None
    if contradicted is None or contradicted[0] in evidence.computed:
        return None
    number, instead = contradicted
    return _written(number, claim.sentence) or number, instead


def _written(number: str, sentence: str) -> str | None:
    # The last spelling of *number* in digits in *sentence*; None if it is in words.
    return {canonical_number(found): found for found in NUMBER.findall(sentence)}.get(number)
