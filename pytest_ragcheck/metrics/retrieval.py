"""Measures retrieval: the share of gold passages among the contexts, and their ranks."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence

from pytest_ragcheck.metrics.gold import found_gold, gold_keys, lacks_ids
from pytest_ragcheck.questions.question import GENERATION, Question
from pytest_ragcheck.rag.answer import RagAnswer
from pytest_ragcheck.scores.catalogue import CUTOFFS, RETRIEVAL
from pytest_ragcheck.scores.score import Score

Retrieved = Sequence[str | Collection[str]]
"""Passage ids, best first; a context with several passages has a collection of their ids."""


_NO_IDS = (
    "a gold passage has only a doc_id, and the endpoint gives no source_ids. "
    "Name them by source_ids= in rag_response, have it return them, or write the text of the passage"
)


class Retrieval:
    """
    The group `retrieval`; it applies to answerable questions of datasets with gold passages.

    Args:
        top_k: Number of contexts requested if the question does not set one, >= 1; larger cutoffs are left out.
    """

    names = RETRIEVAL
    local = True

    def __init__(self, top_k: int) -> None:
        self._top_k = top_k

    async def score(self, question: Question, answer: RagAnswer) -> dict[str, Score]:
        """All scores; each is 0.0 for a question without gold passages in a dataset that has some."""
        if question.tier == GENERATION:
            return {}  # contexts given with the question were not retrieved
        gold = gold_keys(question)
        if not question.answerable or not (gold or question.lacks_gold):
            return {}
        retrieved = found_gold(question, answer)
        values: dict[str, float] = {}
        for k in CUTOFFS:
            if k <= (question.top_k or self._top_k):
                values[f"recall_at_{k}"] = recall_at_k(retrieved, gold, k)
                values[f"precision_at_{k}"] = precision_at_k(retrieved, gold, k)
                values[f"ndcg_at_{k}"] = ndcg_at_k(retrieved, gold, k)
                values[f"hit_rate_at_{k}"] = hit_rate_at_k(retrieved, gold, k)
        values["mrr"] = reciprocal_rank(retrieved, gold)
        values["map"] = average_precision(retrieved, gold)
        unscored = Score.unscored(_NO_IDS) if lacks_ids(question, answer) else None
        return {name: unscored or Score(values[name]) for name in RETRIEVAL if name in values}


def recall_at_k(retrieved: Retrieved, gold: Collection[str], k: int) -> float:
    """
    Share of the gold passages that appear among the first *k* retrieved ones.

    Args:
        retrieved: Passage ids, best first; a repeated id counts once, at its first rank.
        gold: Ids of the passages that answer the question.
        k: Cutoff rank, >= 1.

    Returns:
        0..1; 0.0 without gold passages, never 1.0.

    Source: TREC recall. Some call "any gold passage in the top k" Recall@k; here that is `hit_rate_at_k`.
    """
    return _share(sum(_found(retrieved, gold, k)), len(set(gold)))


def precision_at_k(retrieved: Retrieved, gold: Collection[str], k: int) -> float:
    """
    Share of the first *k* ranks that hold a gold passage; an empty rank holds none.

    The arguments are those of `recall_at_k`.

    Returns:
        0..1; 0.0 without gold passages.

    Source: TREC precision, which divides by k even if fewer passages were retrieved.
    """
    return sum(count > 0 for count in _found(retrieved, gold, k)) / k


def hit_rate_at_k(retrieved: Retrieved, gold: Collection[str], k: int) -> float:
    """
    1.0 if any gold passage is among the first *k* retrieved ones, else 0.0.

    The arguments are those of `recall_at_k`.

    Source: TREC calls it Success@k.
    """
    return float(any(_found(retrieved, gold, k)))


def ndcg_at_k(retrieved: Retrieved, gold: Collection[str], k: int) -> float:
    """
    Gain of the first *k* ranks, discounted by rank, divided by the gain of the best order.

    The arguments are those of `recall_at_k`.

    Returns:
        0..1; 0.0 without gold passages.

    Source: Järvelin and Kekäläinen (2002), as in TREC's program: gain 1 for each gold passage, discount log2(rank + 1).
    The best order has one passage a rank, so a context with several passages cannot exceed 1.0.
    """
    best = sum(1 / math.log2(rank + 1) for rank in range(1, min(len(set(gold)), k) + 1))
    gained = sum(count / math.log2(rank + 1) for rank, count in enumerate(_found(retrieved, gold, k), 1))
    return min(_share(gained, best), 1.0)


def reciprocal_rank(retrieved: Retrieved, gold: Collection[str]) -> float:
    """
    1 divided by the rank of the first gold passage; its mean over the questions is the MRR.

    The arguments are those of `recall_at_k` without *k*.

    Returns:
        0..1; 0.0 if no gold passage was retrieved.

    Source: TREC's recip_rank.
    """
    return next((1 / rank for rank, count in enumerate(_found(retrieved, gold), 1) if count), 0.0)


def average_precision(retrieved: Retrieved, gold: Collection[str]) -> float:
    """
    Mean over the gold passages of the precision at their ranks; a passage that was not retrieved counts 0.0.

    Its mean over the questions is the MAP. The arguments are those of `recall_at_k` without *k*.

    Returns:
        0..1; 0.0 without gold passages.

    Source: TREC's map. The precision at a rank is at most 1.0, even if a context has several passages.
    """
    found, total = 0, 0.0
    for rank, count in enumerate(_found(retrieved, gold), 1):
        found += count
        total += count * min(found / rank, 1.0)
    return _share(total, len(set(gold)))


def _found(retrieved: Retrieved, gold: Collection[str], k: int | None = None) -> list[int]:
    # The number of gold passages that occur first at each of the first *k* ranks.
    wanted = set(gold)
    counts = []
    for passages in retrieved[:k]:
        here = wanted.intersection({passages} if isinstance(passages, str) else passages)
        wanted -= here
        counts.append(len(here))
    return counts


def _share(part: float, whole: float) -> float:
    return part / whole if whole else 0.0
