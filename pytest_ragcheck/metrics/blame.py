"""Finds the part of the system that a failed question points at."""

from __future__ import annotations

from collections.abc import Collection

from pytest_ragcheck.metrics.gold import found_gold, lacks_ids
from pytest_ragcheck.questions.question import GENERATION, Question
from pytest_ragcheck.rag.answer import RagAnswer
from pytest_ragcheck.scores.catalogue import MUST_NOT_RETRIEVE, RETRIEVAL

BLAMES = {
    "retrieval": "the contexts lack the gold passages",
    "generation": "the gold passages were among the contexts, but the answer is wrong",
    "grounding": "the gold passages were among the contexts, but the answer claims more than they say",
}

_CONTEXT_METRICS = frozenset({*RETRIEVAL, "ragas_context_relevance", "offline_context_relevance"})
_GROUNDING_METRICS = frozenset({"groundedness", "ragas_faithfulness", "offline_faithfulness"})


def blame(question: Question, answer: RagAnswer, short: Collection[str], *, declined: bool) -> str:
    """
    The part of the system that a FAIL points at, one of `BLAMES`; empty for a question without gold passages.

    Also empty if the gold passages have only document ids and the contexts have none, or if the only fault is a leak.
    The first rule in docs/reference/metrics-retrieval.md that holds decides. *short* are the metrics below their
    thresholds.
    """
    short = frozenset(short) - {MUST_NOT_RETRIEVE}
    if not short or not question.gold_passages or (question.is_answered and lacks_ids(question, answer)):
        return ""
    if not question.answerable:
        return "generation"
    if not question.is_answered:
        return "retrieval"
    given = question.tier == GENERATION
    if not (given or any(found_gold(question, answer))) or _CONTEXT_METRICS.issuperset(short):
        return "retrieval"
    if not declined and not _GROUNDING_METRICS.isdisjoint(short):
        return "grounding"
    return "generation"
