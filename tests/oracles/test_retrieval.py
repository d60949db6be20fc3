"""Retrieval against ir_measures, on random rankings and on edge cases."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any

from pytest_ragcheck.metrics.retrieval import (
    average_precision,
    hit_rate_at_k,
    ndcg_at_k,
    precision_at_k,
    recall_at_k,
    reciprocal_rank,
)
from pytest_ragcheck.scores import CUTOFFS

from .comparison import check, program

if TYPE_CHECKING:
    from collections.abc import Iterator

ir_measures: Any = program("ir_measures")

Case = tuple[list[str], set[str]]
"""Passages in the order of their ranks, and the gold ones."""

RANDOM_CASES = 4000


def cases() -> Iterator[Case]:
    """One in which nothing is gold is not among them: programs of its kind drop it."""
    passages = [f"p{number}" for number in range(30)]
    yield ["p1"], {"p1"}
    yield ["p2"], {"p1"}
    yield passages, set(passages)
    yield passages[:1], set(passages)
    yield passages, {passages[-1]}
    yield passages[:3], {"p0", "absent"}
    yield passages[:10], {"p9", "p0"}
    chosen = random.Random(5)
    for _ in range(RANDOM_CASES):
        retrieved = chosen.sample(passages, chosen.randint(1, 25))
        yield retrieved, set(chosen.sample(passages, chosen.randint(1, 12)))


def by_the_program(all_cases: list[Case]) -> dict[tuple[str, str], float]:
    """By the number of the case and the name of the measure."""
    measures = [ir_measures.RR, ir_measures.AP]
    for k in CUTOFFS:
        measures += [ir_measures.R @ k, ir_measures.P @ k, ir_measures.nDCG @ k, ir_measures.Success @ k]
    judged = [
        ir_measures.Qrel(str(number), passage, 1)
        for number, (_, gold) in enumerate(all_cases)
        for passage in sorted(gold)
    ]
    ranked = [
        ir_measures.ScoredDoc(str(number), passage, float(-rank))
        for number, (retrieved, _) in enumerate(all_cases)
        for rank, passage in enumerate(retrieved)
    ]
    return {
        (metric.query_id, str(metric.measure)): metric.value
        for metric in ir_measures.iter_calc(measures, judged, ranked)
    }


def test_every_measure_is_that_of_ir_measures() -> None:
    all_cases = list(cases())
    theirs = by_the_program(all_cases)
    differences = []
    for number, (retrieved, gold) in enumerate(all_cases):
        ours = {"RR": reciprocal_rank(retrieved, gold), "AP": average_precision(retrieved, gold)}
        for k in CUTOFFS:
            ours[f"R@{k}"] = recall_at_k(retrieved, gold, k)
            ours[f"P@{k}"] = precision_at_k(retrieved, gold, k)
            ours[f"nDCG@{k}"] = ndcg_at_k(retrieved, gold, k)
            ours[f"Success@{k}"] = hit_rate_at_k(retrieved, gold, k)
        differences += [abs(value - theirs[str(number), name]) for name, value in ours.items()]
    assert len(differences) == len(all_cases) * 18
    check("recall_at_K precision_at_K ndcg_at_K hit_rate_at_K mrr map", cases=len(all_cases), largest=max(differences))
