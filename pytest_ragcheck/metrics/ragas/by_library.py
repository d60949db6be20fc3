"""The four RAGAS metrics by the ragas library itself, where it is the judge."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_ragcheck.metrics.catalogue import RAGAS
from pytest_ragcheck.metrics.score import Score

if TYPE_CHECKING:
    from pytest_ragcheck.judging.ragas import RagasJudge
    from pytest_ragcheck.questions.question import Question
    from pytest_ragcheck.rag.answer import RagAnswer

RELEVANCY, CORRECTNESS, CONTEXT, FAITHFULNESS = RAGAS
NOT_DEFINED = "ragas does not define it for this answer (NaN)"


class RagasByLibrary:
    """
    Measures what `RagasMetrics` does, of the same questions.

    Args:
        judge: What it measured for its judgement is not measured again.
    """

    names = RAGAS
    local = False

    def __init__(self, judge: RagasJudge) -> None:
        self._judge = judge

    async def score(self, question: Question, answer: RagAnswer) -> dict[str, Score]:
        """
        The scores that apply.

        Raises:
            JudgeError: ragas, or its model, found nothing.
        """
        if not question.answerable:
            return {}
        expected = bool(question.acceptable_answers)
        if not answer.text.strip():
            return {RELEVANCY: Score(0.0), **({CORRECTNESS: Score(0.0)} if expected else {})}
        given = any(map(str.strip, answer.contexts))
        look = self._judge.look(question, answer)
        judged = await self._judge.scores(question, answer)
        values = {
            RELEVANCY: await look.answer_relevancy(),
            CONTEXT: await look.context_relevance() if given else 0.0,
            FAITHFULNESS: judged.faithfulness,
        }
        if expected:
            values[CORRECTNESS] = judged.answer_correctness
        return {name: Score.unscored(NOT_DEFINED) if value is None else Score(value) for name, value in values.items()}
