"""A judge that is not asked about an answer on which a verdict stands."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from pytest_ragcheck.judging.checked_judgement import judge_identity
from pytest_ragcheck.judging.digest import material_digest

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pytest_ragcheck.judging.judgement import Judge, Judgement
    from pytest_ragcheck.questions.question import Question
    from pytest_ragcheck.rag.answer import RagAnswer


class SameVerdict:
    """
    A judge whose earlier verdicts stand: of a saved run, or of this one.

    Args:
        asked: The judge that is asked about any other answer.
        verdicts: Judgements by the digest of what the judge was given.
    """

    def __init__(self, asked: Judge, verdicts: Mapping[str, Judgement]) -> None:
        self.identity = judge_identity(asked)
        self.asked = asked
        self._verdicts = verdicts

    def stands(self, question: Question, answer: RagAnswer) -> Judgement | None:
        """Return the verdict that stands, marked as cached; None if the judge has to be asked."""
        known = self._verdicts.get(material_digest(question, answer))
        return None if known is None else replace(known, cached=True)

    async def judge(self, question: Question, answer: RagAnswer) -> Judgement:
        """
        Return the verdict that stands, or ask the judge.

        Raises:
            JudgeError: The judge gave no judgement.
        """
        return self.stands(question, answer) or await self.asked.judge(question, answer)
