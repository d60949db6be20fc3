"""The facts about an answer that a judge model lists in one reply, for all four RAGAS metrics."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, WithJsonSchema

from pytest_ragcheck.judging.model.chat import ExpectedReply
from pytest_ragcheck.judging.model.reply_object import as_number, as_text, as_texts, read_object, shown, strict_schema
from pytest_ragcheck.metrics.ragas.formulas import HIGHEST_RATING

GENERATED_QUESTIONS = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerStatement:
    """One simple statement of the answer."""

    text: str
    in_reference: bool
    """True if an expected answer makes the same statement; False without expected answers."""

    supported: bool
    """True if the contexts support the statement."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerFacts:
    """The facts that the four metrics count."""

    statements: tuple[AnswerStatement, ...]
    missing: tuple[str, ...]
    """Statements of the expected answer that the answer does not make."""

    questions: tuple[str, ...]
    """`GENERATED_QUESTIONS` questions that the answer would answer, generated from the answer alone."""

    noncommittal: bool
    """True if the answer evades the question."""

    context_ratings: tuple[int, int]
    """Two ratings of the contexts' relevance to the question, each 0, 1 or 2."""


def _said(value: Any) -> str:
    text = as_text(value)
    if not text.strip():
        raise ValueError("is empty")
    return text.strip()


def _yes_or_no(value: Any) -> bool:
    if not isinstance(value, bool):
        raise ValueError(f"is {shown(value)}, not true or false")  # noqa: TRY004 - pydantic lets a TypeError through
    return value


def _questions(value: Any) -> tuple[str, ...]:
    questions = tuple(text.strip() for text in as_texts(value) if text.strip())
    if len(questions) != GENERATED_QUESTIONS:
        raise ValueError(f"holds {len(questions)} questions, not {GENERATED_QUESTIONS}")
    return questions


def _ratings(value: Any) -> tuple[int, ...]:
    if not isinstance(value, list) or len(value) != 2:
        raise ValueError("is not a list of two ratings")
    ratings = [as_number(rating) for rating in value]
    for rating in ratings:
        if rating not in range(HIGHEST_RATING + 1):
            raise ValueError(f"holds {rating:g}, which is not 0, 1 or 2")
    return tuple(map(int, ratings))


_YesOrNo = Annotated[bool, BeforeValidator(_yes_or_no)]
_RATINGS_SCHEMA = {"type": "array", "items": {"type": "integer", "enum": list(range(HIGHEST_RATING + 1))}}


class _StatementReply(BaseModel):
    model_config = ConfigDict(extra="ignore", frozen=True)

    statement: Annotated[str, BeforeValidator(_said)]
    in_reference: _YesOrNo
    supported_by_context: _YesOrNo


class FactsReply(BaseModel):
    """The fields of the model's reply. The JSON schema in the request is made from this class."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    nonce: str
    statements: tuple[_StatementReply, ...]
    missing_statements: Annotated[tuple[str, ...], BeforeValidator(as_texts)] = ()
    generated_questions: Annotated[tuple[str, ...], BeforeValidator(_questions)]
    noncommittal: _YesOrNo
    context_ratings: Annotated[tuple[int, ...], BeforeValidator(_ratings), WithJsonSchema(_RATINGS_SCHEMA)]


def read_facts(text: str, *, nonce: str) -> AnswerFacts:
    """
    Returns the facts in a reply; see `read_object` for the text that may surround them.

    Raises:
        JudgeReplyError: The reply has no facts, or impossible ones. The text of the error can be sent back to the
            model.
    """
    reply = read_object(text, FactsReply, nonce=nonce)
    first, second = reply.context_ratings
    return AnswerFacts(
        statements=tuple(
            AnswerStatement(text=each.statement, in_reference=each.in_reference, supported=each.supported_by_context)
            for each in reply.statements
        ),
        missing=tuple(text.strip() for text in reply.missing_statements if text.strip()),
        questions=reply.generated_questions,
        noncommittal=reply.noncommittal,
        context_ratings=(first, second),
    )


@cache
def expected_facts() -> ExpectedReply[AnswerFacts]:
    """The reply that the model is asked for."""
    return ExpectedReply(name="facts", schema=strict_schema(FactsReply), read=read_facts)
