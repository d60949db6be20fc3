"""A plain function as judge."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from pytest_ragcheck import Judgement, OfflineJudge, Panel, Question, RagAnswer
from pytest_ragcheck.errors import JudgeReplyError
from pytest_ragcheck.judging.checked_judgement import as_judge, checked_judgement, judge_identity
from tests.making import a_question

ANSWER = RagAnswer(text="30 days", contexts=("Within 30 days.",))


def good(question: Question, answer: RagAnswer) -> Judgement:
    return Judgement(answer_correctness=float(bool(question.question)), groundedness=0.9, error_message=answer.text)


async def good_later(question: Question, answer: RagAnswer) -> Judgement:
    return good(question, answer)


def judged(given: Any) -> Judgement:
    return asyncio.run(checked_judgement(a_question(), ANSWER, as_judge(given)))


@pytest.mark.parametrize("function", [good, good_later])
def test_a_function_judges_whether_it_is_a_coroutine_function_or_not(function: Any) -> None:
    judgement = judged(function)
    assert (judgement.answer_correctness, judgement.groundedness, judgement.error_message) == (1.0, 0.9, "30 days")


def test_records_name_the_function() -> None:
    identity = judge_identity(as_judge(good))
    assert identity is not None
    assert identity.kind == "good"


def test_a_judge_with_the_method_stays_as_it_is() -> None:
    judge = OfflineJudge()
    assert as_judge(judge) is judge


def test_an_error_about_its_judgement_names_the_function() -> None:
    def bad(question: Question, answer: RagAnswer) -> Any:
        return 0.9

    with pytest.raises(JudgeReplyError, match=r"bad: judge\(\) returned 0\.9, not a Judgement\. Return one\.$"):
        judged(bad)


def test_a_panel_takes_functions() -> None:
    panel = Panel([good, good_later])
    assert panel.identity.model == "mean of good, good_later"
    assert judged(panel).groundedness == 0.9
