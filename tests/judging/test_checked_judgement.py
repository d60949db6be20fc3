from __future__ import annotations

import asyncio
import math
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from typing import Any

import pytest

from pytest_ragcheck import GoldPassage, Judgement, OfflineJudge, Question, RagAnswer
from pytest_ragcheck.errors import JudgeError, JudgeReplyError, UsageError
from pytest_ragcheck.judging.checked_judgement import as_judge, checked_judgement, judge_identity
from pytest_ragcheck.judging.judgement import JudgeIdentity
from tests.making import OFFLINE, Judges, a_question

ANSWER = RagAnswer(text="30 days", contexts=("Refunds: 30 days.",))


def judged(said: Any, *, answer: RagAnswer = ANSWER, question: Question | None = None) -> Judgement:
    return asyncio.run(checked_judgement(question or a_question(), answer, Judges(said)))


class NumpyFloat(float):
    """Stands for numpy.float64, which is a float of another name."""


@pytest.mark.parametrize(
    ("given", "score"),
    [
        (0, 0.0), (1, 1.0), (0.5, 0.5), (True, 1.0), (False, 0.0),
        (Decimal("0.25"), 0.25), (Fraction(1, 2), 0.5), (NumpyFloat(0.75), 0.75), (None, None),
    ],
)  # fmt: skip
def test_a_score_of_any_kind_of_number_becomes_a_plain_one(given: Any, score: float | None) -> None:
    judgement = judged(Judgement(answer_correctness=given, groundedness=given))
    assert (judgement.answer_correctness, judgement.groundedness) == (score, score)
    assert type(judgement.groundedness) in (float, type(None))


@pytest.mark.parametrize(
    ("said", "problem"),
    [
        ({"answer_correctness": math.nan}, "answer_correctness is nan, not a number from 0 to 1."),
        ({"groundedness": math.inf}, "groundedness is inf, not a number from 0 to 1."),
        ({"groundedness": 1.0000001}, "groundedness is 1.0000001, not a number from 0 to 1."),
        ({"groundedness": -0.1}, "groundedness is -0.1, not a number from 0 to 1."),
        ({"groundedness": 85}, "groundedness is 85, not a number from 0 to 1."),
        ({"answer_correctness": "0.9"}, "answer_correctness is '0.9', not a number from 0 to 1."),
        ({"answer_correctness": [1]}, "answer_correctness is [1], not a number from 0 to 1."),
        ({"error_message": 5}, "error_message is 5, not a str."),
        ({"unsupported_claims": "30 days"}, "unsupported_claims are '30 days', not a tuple of str."),
        ({"unsupported_claims": (1,)}, "unsupported_claims are (1,), not a tuple of str."),
    ],
)
def test_a_judgement_that_cannot_be_used_is_a_judge_error(said: dict[str, Any], problem: str) -> None:
    with pytest.raises(JudgeReplyError) as caught:
        judged(Judgement(**said))
    assert str(caught.value) == f"Judges: judge() returned a Judgement whose {problem}"


@pytest.mark.parametrize("said", [0.9, {"groundedness": 1}, "good"])
def test_what_is_no_judgement_is_a_judge_error(said: Any) -> None:
    with pytest.raises(JudgeReplyError) as caught:
        judged(said)
    assert str(caught.value) == f"Judges: judge() returned {said!r}, not a Judgement. Return one."


def test_what_has_no_method_judge_is_named_with_what_to_return() -> None:
    by: Any = len
    with pytest.raises(JudgeError) as caught:
        asyncio.run(checked_judgement(a_question(), ANSWER, by))
    assert str(caught.value) == (
        "builtin_function_or_method: the rag_judge has no method judge(question, answer). "
        "Return an object with that method, a function of question and answer, or None to run without a judge."
    )


def test_a_class_in_place_of_its_object_is_named_with_what_to_return() -> None:
    by: Any = OfflineJudge
    with pytest.raises(JudgeError) as caught:
        asyncio.run(checked_judgement(a_question(), ANSWER, by))
    assert str(caught.value) == (
        "OfflineJudge: the rag_judge is a class. Return an object of it, such as OfflineJudge()."
    )


def test_an_identity_of_another_type_is_named_with_what_to_write() -> None:
    given: Any = Judges(Judgement())
    given.identity = "helpdesk"
    with pytest.raises(UsageError) as caught:
        as_judge(given)
    assert str(caught.value) == (
        "Judges: the identity of the rag_judge is 'helpdesk', not a JudgeIdentity. "
        'Write identity = JudgeIdentity(kind="Judges", prompt_version="1").'
    )


def test_absent_texts_and_lists_of_claims_are_taken() -> None:
    nothing: Any = dict.fromkeys(("error_message", "unsupported_claims", "votes", "cached", "served_by"))
    judgement = judged(Judgement(groundedness=1, **nothing))
    assert (judgement.error_message, judgement.votes, judgement.cached, judgement.served_by) == ("", {}, False, "")
    listed: Any = ["a", "b"]
    assert judged(Judgement(error_message="  Weak. ", unsupported_claims=listed)) == Judgement(
        error_message="Weak.", unsupported_claims=("a", "b"), abstained=False
    )


def test_abstained_is_always_said() -> None:
    truthy: Any = 1
    assert judged(Judgement(abstained=truthy)).abstained is True
    assert judged(Judgement()).abstained is False
    assert judged(Judgement(), answer=RagAnswer(text="I don't know.", contexts=("c",))).abstained is True


def test_a_refusal_of_a_question_with_gold_passages_is_wrong_without_an_expected_answer_too() -> None:
    refusal = RagAnswer(text="I don't know.", contexts=("c",))
    question = a_question(gold_passages=(GoldPassage(text="Within 30 days."),))
    assert judged(Judgement(groundedness=1), question=question, answer=refusal).answer_correctness == 0.0
    assert judged(Judgement(answer_correctness=0.9), question=question, answer=refusal).answer_correctness == 0.9
    for other in (a_question(), replace(question, answerable=False)):
        assert judged(Judgement(groundedness=1), question=other, answer=refusal).answer_correctness is None
    assert judged(Judgement(groundedness=1), question=question).answer_correctness is None


def test_a_plain_method_judges_too() -> None:
    class Plain:
        def judge(self, question: Question, answer: RagAnswer) -> Judgement:
            return Judgement(groundedness=len(answer.text) / 10)

    by: Any = Plain()
    assert asyncio.run(checked_judgement(a_question(), ANSWER, by)).groundedness == 0.7


def test_who_judged_is_what_the_judge_says_else_its_class() -> None:
    class Named(Judges):
        identity = OFFLINE

    class Odd(Judges):
        identity = "me"

    assert judge_identity(None) is None
    assert judge_identity(Named()) == OFFLINE
    kind = "test_who_judged_is_what_the_judge_says_else_its_class.<locals>.Odd"
    assert judge_identity(Odd()) == JudgeIdentity(kind=kind)
