"""Measures how far the contexts support an answer: the offline judge's groundedness."""

from __future__ import annotations

import math
from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace

from pytest_ragcheck.frozen import frozen
from pytest_ragcheck.judging.offline.grounding.evidence import Evidence
from pytest_ragcheck.judging.offline.grounding.known_quantities import Computation
from pytest_ragcheck.judging.offline.grounding.read_context import ContextCache
from pytest_ragcheck.judging.offline.grounding.support import (
    MOST_TERMS_OF_A_SHORT_ANSWER,
    SHARE_OF_CHANGED,
    Support,
    claims_of,
    compare_quantities,
    measure,
)
from pytest_ragcheck.judging.offline.refusals import SentenceCache

PASS_LINE = 0.7

# The constants fit people's labels of RAGTruth-QA, MT-RAG and WiCE at once. Each has the change of the area under the
# curve without it on the three sets, in this order.

# Absent words weigh more in long answers than in a mean: -0.016, +0.003, -0.002.
_ABSENCE_WEIGHT = 0.08
# The penalty of a wrong number, and the highest score of an answer with one: -0.028, 0.000, -0.038.
_CONTRADICTION, _HIGHEST_IF_CONTRADICTED = 0.3, 0.6
# The raw support that becomes `PASS_LINE`; balanced accuracy there is 0.71, 0.94 and 0.74.
_LINE = 0.39
# The same for the short answer to a question, which has more wordings. MT-RAG: 0.000; without a question: -0.002.
_LINE_OF_A_PHRASE, _MOST_TERMS_OF_A_PHRASE = 0.36, 12
# The highest score of a claim that nearly copies a sentence but changes a detail or denies it, and of an answer with a
# third of its words in such claims.
_HIGHEST_WITH_CHANGE = 0.4
_MOST_ABSENT_OF_A_PARAPHRASE, _LONGEST_GAP_OF_A_PARAPHRASE = 5, 2  # terms
# The least share of known content terms in a sentence that has the expected answer among other words.
_LEAST_KNOWN = 0.25
_MOST_TERMS_OF_A_NAME = 3  # or of an amount


@frozen
class Groundedness:
    score: float
    """0..1; `PASS_LINE` separates grounded from ungrounded answers best, by people's labels."""

    sentences: tuple[Support, ...]
    """The sentences that claim something, in the answer's order."""

    is_long: bool = False
    """True for more than 20 content terms."""

    is_plain: bool = False
    """True for a short answer if the contexts have nearly all its words, perhaps apart from each other."""

    has_unknown: bool = False
    """True if a content term is neither in the contexts nor in the question."""

    def denied(self, *, is_opposed: bool) -> Groundedness:
        """The groundedness if the contexts contradict the worst sentence; *is_opposed* if they say the opposite."""
        if self.worst is None:
            return self
        worst = replace(self.worst, score=min(self.worst.score, _HIGHEST_WITH_CHANGE), is_opposed=is_opposed)
        return replace(self, score=min(self.score, _HIGHEST_WITH_CHANGE), sentences=(worst,))

    def is_contradicted(self, expected: AbstractSet[str]) -> bool:
        """
        True if a sentence has a wrong number, denies the contexts, or changes a detail other than by an elaboration.

        A detail of terms of a short *expected* answer does not count; a long one may name who did what to whom.
        """
        allowed = expected if len(expected) <= _MOST_TERMS_OF_A_NAME else frozenset[str]()
        return any(
            each.number is not None
            or each.is_opposed
            or not (each.changed is None or each.changed.is_elaboration or allowed >= set(each.changed.terms))
            for each in self.sentences
        )

    def affirmed(self, expected: AbstractSet[str]) -> Groundedness:
        """The groundedness if the contexts support the first sentence with each *expected* term."""
        left = set(expected)
        sentences: list[Support] = []
        for each in self.sentences:
            is_affirmed = self.is_plain or (each.known_share >= _LEAST_KNOWN and not left.isdisjoint(each.terms))
            left.difference_update(each.terms)
            sentences.append(replace(each, score=max(each.score, PASS_LINE)) if is_affirmed else each)
        size = sum(len(each.terms) for each in sentences)
        score = sum(each.score * len(each.terms) for each in sentences) / size
        return replace(self, score=max(self.score, round(score, 9)), sentences=tuple(sentences))

    @property
    def worst(self) -> Support | None:
        wrong = [support for support in self.sentences if support.number is not None or support.is_opposed]
        return min(wrong or self.sentences, key=lambda support: support.score, default=None)


def groundedness(
    answer: str,
    *,
    question: str,
    contexts: Sequence[str],
    contexts_read: ContextCache,
    accepted: Sequence[str] = (),
    cache: SentenceCache | None = None,
) -> Groundedness:
    """
    Measures how far *contexts* support *answer* and each of its sentences.

    A quantity of an *accepted* answer may follow from any two of the contexts. A bare refusal or "Yes." scores 1.0.
    """
    terms = contexts_read.terms
    question_terms = terms.of(question)
    asked = frozenset(question_terms)
    claims = claims_of(SentenceCache(answer) if cache is None else cache, asked, terms)
    if not claims:
        return Groundedness(score=1.0, sentences=())
    passages = list(map(contexts_read.__getitem__, contexts))
    compare_quantities(claims, question_terms, passages)
    wanted = frozenset[str]().union(*[claim.content for claim in claims])
    evidence = Evidence(passages, wanted=wanted, asked=asked)
    measure(claims, evidence, Computation(answer, question_terms, passages, accepted, terms))
    size = sum([len(claim.content) for claim in claims])
    absence = sum([claim.absence for claim in claims])
    line = _LINE_OF_A_PHRASE if asked and size <= _MOST_TERMS_OF_A_PHRASE else _LINE
    for claim in claims:
        is_wrong = claim.number is not None
        claim.score = _score(claim.raw, claim.absence, line=line, is_wrong=is_wrong, is_changed=claim.is_changed)
    is_long = size > MOST_TERMS_OF_A_SHORT_ANSWER
    n_changed = sum([len(claim.content) for claim in claims if claim.is_changed])
    return Groundedness(
        score=_score(
            sum([claim.raw * len(claim.content) for claim in claims]) / size,
            absence,
            line=line,
            is_wrong=any(claim.number is not None for claim in claims),
            is_changed=n_changed * SHARE_OF_CHANGED >= size,
        ),
        is_long=is_long,
        has_unknown=absence > 0,
        is_plain=not is_long
        and max([claim.longest_gap for claim in claims]) <= _LONGEST_GAP_OF_A_PARAPHRASE
        and len([term for claim in claims for term in claim.content if term not in evidence.known])
        <= _MOST_ABSENT_OF_A_PARAPHRASE,
        sentences=tuple(claims),
    )


def _score(raw: float, absence: float, *, line: float, is_wrong: bool, is_changed: bool) -> float:
    # The score of the *raw* support, scaled so that *line* becomes `PASS_LINE`; *is_wrong* is for a wrong number.
    score = scaled(raw - _ABSENCE_WEIGHT * math.log1p(absence) - _CONTRADICTION * is_wrong, line=line)
    if is_changed:
        score = min(score, _HIGHEST_WITH_CHANGE)
    return min(score, _HIGHEST_IF_CONTRADICTED) if is_wrong else score


def scaled(raw: float, *, line: float) -> float:
    """*raw* as a score: linear from 0 to *line*, which becomes `PASS_LINE`, and from there to 1."""
    if raw < line:
        return max(0.0, PASS_LINE * raw / line)
    return min(1.0, PASS_LINE + (1 - PASS_LINE) * (raw - line) / (1 - line))
