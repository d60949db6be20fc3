"""Measures the four RAGAS metrics by one reply of the judge's model, or by the ragas library if it is the judge."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, WithJsonSchema

from pytest_ragcheck.concurrency.tasks import closing
from pytest_ragcheck.errors import MeasurementError
from pytest_ragcheck.judging.embeds import Embeds, Vector
from pytest_ragcheck.judging.judge_prompt import Nonces, task_prompt
from pytest_ragcheck.judging.judgement import grounding_contexts
from pytest_ragcheck.judging.model.chat import AsksModel
from pytest_ragcheck.judging.model.reply_object import as_bool, as_number, as_text, as_texts, expected_object
from pytest_ragcheck.metrics.ragas.formulas import (
    HIGHEST_RATING,
    answer_correctness,
    answer_relevancy,
    context_relevance,
    cosine_similarity,
    factuality,
    faithfulness,
)
from pytest_ragcheck.questions.question import Question
from pytest_ragcheck.rag.answer import RagAnswer
from pytest_ragcheck.scores import RAGAS, Score

if TYPE_CHECKING:
    from pytest_ragcheck.judging.ragas_judge import RagasJudge

RELEVANCY, CORRECTNESS, CONTEXT, FAITHFULNESS = RAGAS

GENERATED_QUESTIONS = 3


def _nonblank(value: Any) -> str:
    text = as_text(value)
    if not text.strip():
        raise ValueError("is empty")
    return text.strip()


def _texts(value: Any) -> tuple[str, ...]:
    return tuple(filter(None, map(str.strip, as_texts(value))))


def _questions(value: Any) -> tuple[str, ...]:
    questions = _texts(value)
    if len(questions) != GENERATED_QUESTIONS:
        raise ValueError(f"holds {len(questions)} questions, not {GENERATED_QUESTIONS}")
    return questions


def _ratings(value: Any) -> tuple[int, ...]:
    if not isinstance(value, list) or len(value) != 2:
        raise ValueError("is not a list of two ratings")
    ratings = list(map(as_number, value))
    for rating in ratings:
        if rating not in range(HIGHEST_RATING + 1):
            raise ValueError(f"holds {rating:g}, which is not 0, 1 or 2")
    return tuple(map(int, ratings))


_YesOrNo = Annotated[bool, BeforeValidator(as_bool)]
_RATINGS_SCHEMA = {"type": "array", "items": {"type": "integer", "enum": list(range(HIGHEST_RATING + 1))}}


class AnswerStatement(BaseModel):
    model_config = ConfigDict(extra="ignore", frozen=True)

    statement: Annotated[str, BeforeValidator(_nonblank)]

    in_reference: _YesOrNo
    """True if an expected answer makes the same statement; False without expected answers."""

    supported_by_context: _YesOrNo


class AnswerFacts(BaseModel):
    """The model's reply: the facts that the four metrics count. Its JSON schema is part of the request."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    nonce: str
    statements: tuple[AnswerStatement, ...]

    missing_statements: Annotated[tuple[str, ...], BeforeValidator(_texts)] = ()
    """Statements of the expected answer that the answer does not make."""

    generated_questions: Annotated[tuple[str, ...], BeforeValidator(_questions)]
    """`GENERATED_QUESTIONS` questions that the answer would answer, generated from the answer alone."""

    noncommittal: _YesOrNo
    """True if the answer evades the question."""

    context_ratings: Annotated[tuple[int, int], BeforeValidator(_ratings), WithJsonSchema(_RATINGS_SCHEMA)]
    """Two ratings of the contexts' relevance to the question, each 0, 1 or 2."""


class RagasMetrics:
    """
    Measures answers to answerable questions; `answer_correctness` needs an expected answer.

    The embeddings are closed with the metrics.
    """

    names = RAGAS
    local = False

    def __init__(self, chat: AsksModel, embeddings: Embeds) -> None:
        self._chat = chat
        self._embeddings = embeddings
        self._nonces = Nonces()

    async def score(self, question: Question, answer: RagAnswer) -> dict[str, Score]:
        """
        The scores that apply.

        An empty answer needs no model: its relevancy and correctness are 0.0, and its faithfulness does not apply.

        Raises:
            JudgeError: The model gave no facts.
        """
        if not question.answerable:
            return {}
        if not answer.text.strip():
            return {RELEVANCY: Score(0.0), **({CORRECTNESS: Score(0.0)} if question.acceptable_answers else {})}
        nonce = self._nonces.of(question.question)
        prompt = task_prompt("ragas").render(question, answer, nonce=nonce)
        facts = await self._chat.ask(prompt, expected_object("facts", AnswerFacts), nonce=nonce)
        scores = {
            CONTEXT: Score.of(partial(_context_relevance, facts, question, answer)),
            FAITHFULNESS: Score.of(partial(_faithfulness, facts, question, answer)),
        }
        wanted: dict[str, Callable[[Mapping[str, Vector]], float]] = {}
        texts: list[str] = []
        if facts.noncommittal:
            scores[RELEVANCY] = Score(0.0)
        else:
            wanted[RELEVANCY] = partial(_relevancy, facts, question)
            texts += [question.question, *facts.generated_questions]
        if question.acceptable_answers:
            wanted[CORRECTNESS] = partial(_correctness, facts, question, answer)
            texts += [answer.text, *question.acceptable_answers]
        if not wanted:
            return scores
        try:
            vectors = await self._embeddings.embed(texts)
        except MeasurementError as error:
            return scores | dict.fromkeys(wanted, Score.unscored(str(error)))
        return scores | {name: Score.of(partial(formula, vectors)) for name, formula in wanted.items()}

    async def aclose(self) -> None:
        """Closes the embeddings; the model belongs to the judge."""
        await closing(self._embeddings).aclose()


def _relevancy(facts: AnswerFacts, question: Question, vectors: Mapping[str, Vector]) -> float:
    generated = [vectors[each] for each in facts.generated_questions]
    return answer_relevancy(vectors[question.question], generated)


def _correctness(facts: AnswerFacts, question: Question, answer: RagAnswer, vectors: Mapping[str, Vector]) -> float:
    in_reference = sum(statement.in_reference for statement in facts.statements)
    factual = factuality(
        true_positives=in_reference,
        false_positives=len(facts.statements) - in_reference,
        false_negatives=len(facts.missing_statements),
    )
    # The nearest accepted answer counts, as for the statements; ragas takes only one.
    given = vectors[answer.text]
    return answer_correctness(factual, max(cosine_similarity(given, vectors[a]) for a in question.acceptable_answers))


def _context_relevance(facts: AnswerFacts, question: Question, answer: RagAnswer) -> float:
    # As in ragas: contexts that only repeat the question score 0, whatever their ratings.
    contexts = "\n".join(answer.contexts).strip()
    return context_relevance(*facts.context_ratings) if contexts not in question.question.strip() else 0.0


def _faithfulness(facts: AnswerFacts, question: Question, answer: RagAnswer) -> float:
    # Without contexts nothing is supported, whatever the model says.
    given = any(map(str.strip, grounding_contexts(question, answer)))
    supported = sum(statement.supported_by_context for statement in facts.statements) if given else 0
    return faithfulness(supported=supported, statements=len(facts.statements))


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
        if not answer.text.strip():
            return {RELEVANCY: Score(0.0), **({CORRECTNESS: Score(0.0)} if question.acceptable_answers else {})}
        measurement = self._judge.measurement(question, answer)
        values = {
            RELEVANCY: await measurement.answer_relevancy(),
            CONTEXT: await measurement.context_relevance(),
            FAITHFULNESS: await measurement.faithfulness(),
        }
        if question.acceptable_answers:
            values[CORRECTNESS] = await measurement.answer_correctness()
        return {name: score or Score.unscored(NOT_DEFINED) for name, score in values.items()}
