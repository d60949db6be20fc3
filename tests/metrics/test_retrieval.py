from __future__ import annotations

import asyncio
from dataclasses import replace
from math import log2
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_ragcheck import GoldPassage, RagAnswer
from pytest_ragcheck.metrics.retrieval import (
    Retrieval,
    average_precision,
    hit_rate_at_k,
    ndcg_at_k,
    precision_at_k,
    recall_at_k,
    reciprocal_rank,
)
from pytest_ragcheck.questions.question import Origin
from pytest_ragcheck.scores import CUTOFFS, RETRIEVAL
from tests.making import a_question, a_set

if TYPE_CHECKING:
    from pytest_ragcheck.questions.question import Question

IDS = st.sampled_from("abcdefghij")
RANKINGS = st.lists(IDS, max_size=12, unique=True)
GOLD = st.sets(IDS, max_size=6)
AT_K = (recall_at_k, precision_at_k, hit_rate_at_k, ndcg_at_k)
WHOLE = (reciprocal_rank, average_precision)


def test_hand_computed_values() -> None:
    # Gold passages at ranks 2 and 4; a third one was not retrieved.
    retrieved, gold = ["x", "a", "y", "b", "z"], {"a", "b", "c"}
    assert [recall_at_k(retrieved, gold, k) for k in CUTOFFS] == [0, 1 / 3, 2 / 3, 2 / 3]
    assert [precision_at_k(retrieved, gold, k) for k in CUTOFFS] == [0, 1 / 3, 2 / 5, 2 / 10]
    assert [hit_rate_at_k(retrieved, gold, k) for k in CUTOFFS] == [0, 1, 1, 1]
    # DCG@3 = 1/log2(3); DCG@5 = 1/log2(3) + 1/log2(5); the best order has 1/log2(2) + 1/log2(3) + 1/log2(4).
    best = 1 + 1 / log2(3) + 1 / 2
    assert ndcg_at_k(retrieved, gold, 1) == 0
    assert ndcg_at_k(retrieved, gold, 3) == pytest.approx(1 / log2(3) / best, abs=1e-15)
    assert ndcg_at_k(retrieved, gold, 5) == pytest.approx((1 / log2(3) + 1 / log2(5)) / best, abs=1e-15)
    assert reciprocal_rank(retrieved, gold) == 1 / 2
    # precision 1/2 at rank 2, 2/4 at rank 4, 0 for the third: (1/2 + 1/2 + 0) / 3
    assert average_precision(retrieved, gold) == pytest.approx(1 / 3, abs=1e-15)


def test_the_best_order_has_as_many_ranks_as_the_cutoff() -> None:
    # One of three at rank 1: the best order of one rank is no better.
    assert ndcg_at_k(["a"], {"a", "b", "c"}, 1) == 1.0
    assert ndcg_at_k(["a", "b"], {"a", "b", "c"}, 3) == pytest.approx((1 + 1 / log2(3)) / (1 + 1 / log2(3) + 1 / 2))


def test_a_repeated_passage_counts_once_where_it_first_stands_and_keeps_its_ranks() -> None:
    retrieved, gold = ["a", "a", "b"], {"a", "b"}
    assert [recall_at_k(retrieved, gold, k) for k in (1, 2, 3)] == [0.5, 0.5, 1.0]
    assert precision_at_k(retrieved, gold, 3) == pytest.approx(2 / 3)
    # 1/1 at rank 1 and 2/3 at rank 3
    assert average_precision(retrieved, gold) == pytest.approx((1 + 2 / 3) / 2)


def test_a_context_with_several_passages_retrieves_them_all_but_scores_no_better_than_the_best_order() -> None:
    retrieved, gold = [frozenset("ab"), frozenset("b"), frozenset("c")], {"a", "b", "c"}
    assert recall_at_k(retrieved, gold, 1) == pytest.approx(2 / 3)
    assert precision_at_k(retrieved, gold, 1) == 1.0
    assert ndcg_at_k(retrieved, gold, 1) == 1.0
    # a and b at rank 1 with precision 1 each, c at rank 3 with 3/3
    assert average_precision(retrieved, gold) == 1.0


@given(RANKINGS)
def test_without_gold_passages_it_is_zero_and_never_one(retrieved: list[str]) -> None:
    assert {function(retrieved, set(), k) for function in AT_K for k in (1, 5)} == {0.0}
    assert {function(retrieved, set()) for function in WHOLE} == {0.0}


@given(GOLD)
def test_without_contexts_it_is_zero(gold: set[str]) -> None:
    assert {function([], gold, k) for function in AT_K for k in (1, 5)} == {0.0}
    assert {function([], gold) for function in WHOLE} == {0.0}


SETS = st.lists(st.frozensets(IDS, max_size=3), max_size=12)


@given(RANKINGS | SETS, GOLD, st.integers(1, 15))
def test_each_lies_between_zero_and_one(retrieved: list[str], gold: set[str], k: int) -> None:
    values = [*(function(retrieved, gold, k) for function in AT_K), *(function(retrieved, gold) for function in WHOLE)]
    assert all(0 <= value <= 1 and type(value) is float for value in values)


@given(SETS, GOLD, st.frozensets(IDS, max_size=3))
def test_a_further_context_never_takes_anything_away(
    retrieved: list[frozenset[str]], gold: set[str], further: frozenset[str]
) -> None:
    longer = [*retrieved, further]
    assert all(function(longer, gold, 10) >= function(retrieved, gold, 10) for function in AT_K)
    assert all(function(longer, gold) >= function(retrieved, gold) for function in WHOLE)


@given(st.sets(IDS, min_size=1, max_size=6))
def test_all_gold_passages_first_are_as_good_as_can_be(gold: set[str]) -> None:
    retrieved, k = sorted(gold), len(gold)
    assert all(function(retrieved, gold, k) == pytest.approx(1, abs=1e-15) for function in AT_K)
    assert all(function(retrieved, gold) == pytest.approx(1, abs=1e-15) for function in WHOLE)


REFUNDS = GoldPassage(text="Refunds are possible within 30 days.", doc_id="refunds")


def scored(question: Question, *contexts: str, top_k: int = 5) -> dict[str, float | None]:
    answer = RagAnswer(text="30 days", contexts=contexts)
    scores = asyncio.run(Retrieval(top_k).score(question, answer))
    return {name: score.value for name, score in scores.items()}


def test_cutoffs_go_up_to_how_many_contexts_are_asked_for() -> None:
    question = a_question(gold_passages=(REFUNDS,))
    assert list(scored(question, top_k=10)) == list(RETRIEVAL)
    assert set(RETRIEVAL) - set(scored(question, top_k=5)) == {
        "recall_at_10", "precision_at_10", "ndcg_at_10", "hit_rate_at_10",
    }  # fmt: skip
    own = a_question(gold_passages=(REFUNDS,), top_k=2)
    assert [name for name in scored(own) if "_at_" in name] == [
        "recall_at_1", "precision_at_1", "ndcg_at_1", "hit_rate_at_1",
    ]  # fmt: skip


def test_a_question_is_measured_on_its_contexts() -> None:
    values = scored(a_question(gold_passages=(REFUNDS,)), "Opening hours.", REFUNDS.text)
    assert (values["recall_at_1"], values["recall_at_3"], values["mrr"], values["map"]) == (0.0, 1.0, 0.5, 0.5)
    assert values["ndcg_at_5"] == pytest.approx(1 / log2(3))


def test_a_question_without_gold_is_unmeasured_in_a_file_and_zero_in_a_dataset_with_gold() -> None:
    alone, gold = a_question("alone"), a_question("gold", gold_passages=(REFUNDS,))
    assert scored(alone, REFUNDS.text) == {}
    of_file = a_set("billing", alone, gold)
    assert scored(of_file.questions[0], REFUNDS.text) == {}
    origin = Origin(source="file.json", split=None, available=2, left_out=0, samples=None, seed=0)
    lacking, _ = replace(of_file, origin=origin).questions
    assert set(scored(lacking, REFUNDS.text).values()) == {0.0}


def test_unanswerable_questions_are_left_out() -> None:
    unanswerable = a_question("u", answerable=False)
    assert scored(a_set("billing", unanswerable, a_question("g", gold_passages=(REFUNDS,))).questions[0]) == {}
    assert scored(a_question(answerable=False, gold_passages=(REFUNDS,)), REFUNDS.text) == {}
