"""In a conversation, the contexts of the earlier turns may support an answer too."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from pytest_ragcheck.judging.checked_judgement import checked_judgement
from pytest_ragcheck.judging.judgement import grounding_contexts, material_digest
from pytest_ragcheck.judging.offline.offline_judge import OfflineJudge
from pytest_ragcheck.metrics.ragas.stand_ins import CONTEXT, FAITHFULNESS, RagasStandIns
from pytest_ragcheck.questions.question import EarlierTurn, Question
from pytest_ragcheck.rag.answer import RagAnswer

if TYPE_CHECKING:
    from pytest_ragcheck.judging.judgement import Judgement

FEE = "An express parcel costs 9 euros and arrives on the next working day."
STORE = "The store in Vienna opens at 8 in the morning."
FIRST = EarlierTurn(question="What does an express parcel cost?", answer="It costs 9 euros.", contexts=(FEE,))
QUESTION = Question(dataset_name="d", id="q[turn2]", question="And when is it here?", expected_answer="the next day")
TURN = replace(QUESTION, history=(FIRST,))
ANSWER = RagAnswer(text="An express parcel arrives on the next working day.", contexts=(STORE,))


def judgement(question: Question, answer: RagAnswer) -> Judgement:
    return asyncio.run(checked_judgement(question, answer, OfflineJudge()))


def grounded(question: Question, answer: RagAnswer) -> float:
    return judgement(question, answer).groundedness or 0.0


def test_the_latest_contexts_come_first_and_each_once() -> None:
    second = EarlierTurn(question="And now?", answer="", contexts=("new", FEE))
    question = replace(QUESTION, history=(FIRST, second))
    assert grounding_contexts(question, RagAnswer(text="", contexts=("a", "new"))) == ("a", "new", FEE)
    assert grounding_contexts(QUESTION, RagAnswer(text="", contexts=("a", "a"))) == ("a", "a")


def test_an_answer_from_an_earlier_turns_contexts_is_grounded() -> None:
    assert grounded(TURN, ANSWER) == 1.0
    assert grounded(QUESTION, ANSWER) < 0.7


def test_an_answer_without_contexts_of_its_own_may_rest_on_earlier_ones() -> None:
    alone = replace(ANSWER, contexts=())
    assert grounded(TURN, alone) == 1.0
    assert grounded(QUESTION, alone) == 0.0


def test_an_earlier_answer_supports_nothing() -> None:
    invented = EarlierTurn(question="When is it here?", answer=ANSWER.text, contexts=(STORE,))
    assert grounded(replace(QUESTION, history=(invented,)), ANSWER) < 0.7


def test_correctness_is_of_the_last_answer_alone() -> None:
    told = EarlierTurn(question="When?", answer="the next day", contexts=("On the next day.",))
    assert judgement(replace(QUESTION, history=(told,)), RagAnswer(text="Soon.", contexts=())).answer_correctness == 0.0


def test_faithfulness_counts_earlier_contexts_and_context_relevance_does_not() -> None:
    ours, without = (asyncio.run(RagasStandIns().score(each, ANSWER)) for each in (TURN, QUESTION))
    assert (ours[FAITHFULNESS].value, without[FAITHFULNESS].value) == (1.0, 0.0)
    assert ours[CONTEXT] == without[CONTEXT]


@pytest.mark.parametrize("changed", [{"question": "Why?"}, {"answer": "It costs 8 euros."}, {"contexts": ()}])
def test_another_history_is_other_material(changed: dict[str, object]) -> None:
    other = replace(TURN, history=(replace(FIRST, **changed),))  # type: ignore[arg-type]
    assert len({material_digest(question, ANSWER) for question in (QUESTION, TURN, other)}) == 3
