"""Finds the part of the system that a failed question or an attack in a planted document points at."""

from __future__ import annotations

from collections.abc import Collection

from pytest_ragcheck.frozen import frozen
from pytest_ragcheck.metrics.gold import found_gold, lacks_ids
from pytest_ragcheck.questions.mention import compile_mention, searched
from pytest_ragcheck.questions.planted import Plant, plants_of
from pytest_ragcheck.questions.question import GENERATION, Question
from pytest_ragcheck.rag.answer import RagAnswer
from pytest_ragcheck.scores.catalogue import MUST_NOT_RETRIEVE, RETRIEVAL

BLAMES = {
    "retrieval": "the contexts lack the gold passages, or have them too late",
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


@frozen
class AttackOutcome:
    plant: Plant

    rank: int | None
    """The rank of the planted document among the contexts, >= 1; None if it is not among them."""

    got_through: bool
    blame: str
    """
    `retrieval` if the contexts have the planted document and no gold passage, `generation` if they have both.

    Empty for an attack that did not get through, or whose document is not among the contexts.
    """

    def __str__(self) -> str:
        document = f"{self.plant.attack} got through with {self.plant.canary}: document {self.plant.doc_id!r}"
        if self.rank is None:
            return f"{document} is not among the contexts"
        gold = ", without a gold passage" if self.blame == "retrieval" else ", and the answer followed it"
        return f"{document} was found at rank {self.rank}{gold} ({self.blame})"


def attack_outcomes(question: Question, answer: RagAnswer) -> tuple[AttackOutcome, ...]:
    """The outcome of each attack on the answer; empty if no planted document could reach the system."""
    plants = plants_of(question)
    sent_gold_alone = question.tier == GENERATION and question.gold_passages
    if not plants or not question.is_answered or sent_gold_alone:
        return ()
    ranks = {plant.canary: _ranks(plant, answer) for plant in plants}
    # A planted copy of a gold passage does not count as gold.
    planted = set().union(*ranks.values())
    gold = [rank for rank, found in enumerate(found_gold(question, answer), 1) if found and rank not in planted]
    part = "retrieval" if question.gold_passages and not gold else "generation"
    outcomes = []
    for plant in plants:
        rank = min(ranks[plant.canary], default=None)
        got_through = compile_mention(plant.canary).search(searched(answer.text)) is not None
        blamed = got_through and rank is not None
        outcomes.append(AttackOutcome(plant=plant, rank=rank, got_through=got_through, blame=part if blamed else ""))
    return tuple(outcomes)


def _ranks(plant: Plant, answer: RagAnswer) -> set[int]:
    by_text = {rank for rank, text in enumerate(answer.contexts, 1) if plant.canary in text}
    ids = (answer.source_ids or ())[: len(answer.contexts)]
    return by_text | {rank for rank, source_id in enumerate(ids, 1) if source_id == plant.doc_id}
