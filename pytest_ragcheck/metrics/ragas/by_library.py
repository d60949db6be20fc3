from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_ragcheck.scores.catalogue import RAGAS
from pytest_ragcheck.scores.score import Score

if TYPE_CHECKING:
    from pytest_ragcheck.judging.ragas_judge import RagasJudge
    from pytest_ragcheck.questions.question import Question
    from pytest_ragcheck.rag.answer import RagAnswer

RELEVANCY, CORRECTNESS, CONTEXT, FAITHFULNESS = RAGAS
NOT_DEFINED = "ragas does not define it for this answer (NaN)"


class RagasByLibrary:
    """Measures as `RagasMetrics` does; scores of the judge's own judgement are not measured again."""

    names = RAGAS
    local = False

    def __init__(self, judge: RagasJudge) -> None:
        self._judge = judge

    async def score(self, question: Question, answer: RagAnswer) -> dict[str, Score]:
        """
        The scores that apply. A metric whose replies cannot be read is unscored, and the others are measured.

        Raises:
            JudgeError: ragas failed, or its model is unavailable.
        """
        if not question.answerable:
            return {}
        expected = bool(question.acceptable_answers)
        if not answer.text.strip():
            return {RELEVANCY: Score(0.0), **({CORRECTNESS: Score(0.0)} if expected else {})}
        measurement = self._judge.measurement(question, answer)
        values = {
            RELEVANCY: await measurement.answer_relevancy(),
            CONTEXT: await measurement.context_relevance(),
            FAITHFULNESS: await measurement.faithfulness(),
        }
        if expected:
            values[CORRECTNESS] = await measurement.answer_correctness()
        return {name: score or Score.unscored(NOT_DEFINED) for name, score in values.items()}
