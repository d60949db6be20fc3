"""Reuses known verdicts on the same question, answer and contexts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from pytest_ragcheck.judging.checked_judgement import identity_of
from pytest_ragcheck.judging.judgement import Judge, Judgement, material_digest
from pytest_ragcheck.questions.question import Question
from pytest_ragcheck.rag.answer import RagAnswer


class SameVerdict:
    """A judge that reuses verdicts of a saved run or of this one, by `material_digest`, or asks another judge."""

    def __init__(self, asked: Judge, verdicts: Mapping[str, Judgement]) -> None:
        self.identity = identity_of(asked)
        self.asked = asked
        self._verdicts = verdicts

    def known(self, question: Question, answer: RagAnswer) -> Judgement | None:
        """Returns the known verdict, marked as cached; None if there is none."""
        verdict = self._verdicts.get(material_digest(question, answer))
        return None if verdict is None else replace(verdict, cached=True)

    async def judge(self, question: Question, answer: RagAnswer) -> Judgement:
        """
        Returns the known verdict, or that of the judge.

        Raises:
            JudgeError: The judge gave no judgement.
        """
        return self.known(question, answer) or await self.asked.judge(question, answer)
