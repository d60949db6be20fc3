from __future__ import annotations

from collections.abc import Sequence

from pytest_ragcheck.concurrency.tasks import closing
from pytest_ragcheck.judging.embeds import Embeds, Vector
from pytest_ragcheck.metrics.ragas.formulas import cosine_similarity
from pytest_ragcheck.questions.question import Question
from pytest_ragcheck.rag.answer import RagAnswer
from pytest_ragcheck.scores.catalogue import SEMANTIC
from pytest_ragcheck.scores.score import Score

(SIMILARITY,) = SEMANTIC


class Similarity:
    """
    The group `semantic`; it applies to answerable questions with an expected answer.

    The embeddings are closed with the metric.
    """

    names = SEMANTIC
    local = False

    def __init__(self, embeddings: Embeds) -> None:
        self._embeddings = embeddings

    async def score(self, question: Question, answer: RagAnswer) -> dict[str, Score]:
        """
        The similarity, by one request; 0.0 without a request for an empty answer.

        Raises:
            JudgeError: The judge has no embeddings.
        """
        acceptable = question.acceptable_answers
        if not (question.answerable and acceptable):
            return {}
        if not answer.text.strip():
            return {SIMILARITY: Score(0.0)}
        vectors = await self._embeddings.embed([answer.text, *acceptable])
        return {SIMILARITY: Score.of(lambda: nearest(vectors[answer.text], [vectors[each] for each in acceptable]))}

    async def aclose(self) -> None:
        await closing(self._embeddings).aclose()


def nearest(answer: Vector, acceptable: Sequence[Vector]) -> float:
    """
    Cosine similarity of the embeddings of the answer and of the nearest accepted answer; there is at least one.

    Returns:
        -1..1, rarely below 0.

    Raises:
        ValueError: An embedding is all zeros.

    Source: ragas 0.4.3, `SemanticSimilarity`, for one accepted answer.
    """
    return max(cosine_similarity(answer, each) for each in acceptable)
