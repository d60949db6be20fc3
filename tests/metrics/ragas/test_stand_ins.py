"""The substitutes for the RAGAS metrics without a model, counted by hand."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_ragcheck.metrics.ragas.stand_ins import (
    RagasStandIns,
    stand_in_context_relevance,
    stand_in_correctness,
    stand_in_faithfulness,
    stand_in_relevancy,
)
from pytest_ragcheck.rag.answer import RagAnswer
from pytest_ragcheck.scores import Score
from tests.making import a_question

ASKED = "How long is the refund window?"  # content words: long, refund, window
CONTEXTS = ("Orders ship within two days.", "Our office is in Berlin. The refund window is 30 days.")
TEXTS = st.text(max_size=60)


def scores(answer: str, contexts: tuple[str, ...] = CONTEXTS, **question: Any) -> dict[str, Score]:
    return asyncio.run(
        RagasStandIns().score(a_question(question=ASKED, **question), RagAnswer(text=answer, contexts=contexts))
    )


def test_relevancy_counts_the_words_of_the_question_in_the_answer_and_its_source_sentence():
    # "30 days" is in the last sentence, which has two of the three words: refund and window.
    assert stand_in_relevancy(ASKED, "30 days", CONTEXTS) == pytest.approx(2 / 3)
    assert stand_in_relevancy(ASKED, "The window is as long as the refund.", ()) == 1.0
    assert stand_in_relevancy(ASKED, "In Berlin.", CONTEXTS) == 0.0


def test_relevancy_of_an_answer_that_declines_is_zero():
    assert stand_in_relevancy(ASKED, "I don't know how long the refund window is.", CONTEXTS) == 0.0


def test_correctness_is_ragas_formula_over_words():
    # 2 of the answer's 3 words, 2 of the expected 2: F1 4/5; cos((1, 1, 1), (1, 1, 0)) = 2 / sqrt(6).
    assert stand_in_correctness("30 days overall", ["30 days"]) == pytest.approx(0.75 * 0.8 + 0.25 * 2 / 6**0.5)
    assert stand_in_correctness("30 days", ["never", "30 days"]) == pytest.approx(1.0)
    assert stand_in_correctness("blue", ["30 days"]) == 0.0


def test_context_relevance_is_the_mean_of_all_contexts_and_the_best_one():
    assert stand_in_context_relevance(ASKED, ["refund", "window"]) == pytest.approx((2 / 3 + 1 / 3) / 2)
    assert stand_in_context_relevance(ASKED, ["It is long, the refund window."]) == 1.0
    assert stand_in_context_relevance(ASKED, []) == 0.0


def test_the_stand_ins_read_as_much_as_the_offline_judge():
    # 20,000 characters of the answer, and 500,000 of the contexts; the whole would take minutes.
    beyond = scores(f"The refund is here.{' x' * 10_000} Long window.", contexts=("x " * 250_000, "long window"))
    assert beyond["offline_answer_relevancy"] == Score(1 / 3)
    assert beyond["offline_context_relevance"] == Score(0.0)


def test_faithfulness_is_the_share_of_supported_sentences():
    answer = "The refund window is 30 days. Unicorns deliver parcels by moonlight."
    assert stand_in_faithfulness(ASKED, answer, CONTEXTS) == 0.5
    assert stand_in_faithfulness(ASKED, "The refund window is 30 days.", ()) == 0.0


def test_all_four_have_names_of_their_own():
    measured = scores("The refund window is 30 days.", expected_answer="30 days")
    assert sorted(measured) == [
        "offline_answer_correctness",
        "offline_answer_relevancy",
        "offline_context_relevance",
        "offline_faithfulness",
    ]
    assert all(score.value for score in measured.values())
    assert measured["offline_faithfulness"] == Score(1.0)


def test_what_does_not_apply_is_absent_and_what_is_not_defined_says_why():
    assert scores("30 days", answerable=False) == {}
    assert scores("", expected_answer="a") == {
        "offline_answer_relevancy": Score(0.0),
        "offline_answer_correctness": Score(0.0),
    }
    assert "offline_answer_correctness" not in scores("30 days")
    assert scores("Yes.", expected_answer="!")["offline_answer_correctness"] == Score.unscored(
        "the answer or the expected answer has no words that could be compared"
    )
    assert scores("Yes.")["offline_faithfulness"] == Score.unscored("the answer makes no statement")
    with pytest.raises(ValueError, match=r"^the question has no words that could be compared$"):
        stand_in_relevancy("What is it?", "30 days", CONTEXTS)


@given(TEXTS, TEXTS, st.lists(TEXTS, max_size=3))
def test_every_score_is_in_its_range_and_the_same_again(question, answer, contexts):
    asked = a_question(question=question, expected_answer="30 days")
    said = RagAnswer(text=answer, contexts=tuple(contexts))
    first, again = (asyncio.run(RagasStandIns().score(asked, said)) for _ in range(2))
    assert first == again
    assert all(score.reason if score.value is None else 0 <= score.value <= 1 for score in first.values())
