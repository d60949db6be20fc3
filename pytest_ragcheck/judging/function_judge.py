"""Adapts a plain function to `Judge`."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from pytest_ragcheck.judging.judgement import JudgeIdentity
from pytest_ragcheck.rag.ask import settled

if TYPE_CHECKING:
    from pytest_ragcheck.judging.judgement import GivenJudge, Judge, JudgeFunction, Judgement
    from pytest_ragcheck.questions.question import Question
    from pytest_ragcheck.rag.answer import RagAnswer


class FunctionJudge:
    def __init__(self, function: JudgeFunction) -> None:
        self.function = function
        self.identity = JudgeIdentity(kind=getattr(function, "__qualname__", type(function).__qualname__))

    async def judge(self, question: Question, answer: RagAnswer) -> Judgement:
        return cast("Judgement", await settled(self.function, question, answer))


def as_judge(given: GivenJudge) -> Judge:
    if hasattr(given, "judge") or not callable(given):
        return cast("Judge", given)
    return FunctionJudge(given)
