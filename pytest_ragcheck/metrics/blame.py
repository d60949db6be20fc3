"""What part of the system a failed question points at."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_ragcheck.metrics.catalogue import RETRIEVAL
from pytest_ragcheck.metrics.gold import found_gold
from pytest_ragcheck.questions.question import GENERATION

if TYPE_CHECKING:
    from collections.abc import Collection

    from pytest_ragcheck.questions.question import Question
    from pytest_ragcheck.rag.answer import RagAnswer

BLAMES = {
    "retrieval": "the contexts lack the gold passages",
    "generation": "the gold passages were among the contexts, and the answer is wrong all the same",
    "grounding": "the gold passages were among the contexts, and the answer says what the contexts do not",
}
"""By the part that is blamed, why."""

_OF_CONTEXTS = frozenset({*RETRIEVAL, "ragas_context_relevance", "offline_context_relevance"})
_OF_GROUNDING = frozenset({"groundedness", "ragas_faithfulness", "offline_faithfulness"})


def blame(question: Question, answer: RagAnswer, short: Collection[str], *, declined: bool) -> str:
    """
    The part of the system that a FAIL points at, one of `BLAMES`; empty for a question without gold passages.

    The first that is true decides: the question is unanswerable, and was answered (generation); no context holds a
    gold passage, unless they went along with the question (retrieval); nothing but measures of the contexts is too
    low (retrieval); a measure of grounding is too low, though the system did not decline (grounding); else generation.
    Where some gold passages were found and others were not, the answer is at fault: something was there to be said.

    Args:
        question: The question that failed.
        answer: What the system said to it.
        short: The metrics below their thresholds.
        declined: Whether the system declined to answer.
    """
    if not question.gold_passages:
        return ""
    if not question.answerable:
        return "generation"
    given = question.tier == GENERATION
    if not (given or any(found_gold(question, answer))) or _OF_CONTEXTS.issuperset(short):
        return "retrieval"
    if not declined and not _OF_GROUNDING.isdisjoint(short):
        return "grounding"
    return "generation"
