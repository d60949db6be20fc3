"""Reads the facts about an answer that a judge model lists in one reply, for all four RAGAS metrics."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, WithJsonSchema

from pytest_ragcheck.judging.model.reply_object import as_bool, as_number, as_text, as_texts
from pytest_ragcheck.metrics.ragas.formulas import HIGHEST_RATING

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
