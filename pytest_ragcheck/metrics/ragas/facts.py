"""What a judge model finds in an answer, for all four RAGAS metrics at once, in one reply."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, WithJsonSchema

from pytest_ragcheck.judging.chat import Wanted
from pytest_ragcheck.judging.reply_object import as_number, as_text, as_texts, read_object, shown, strict_schema
from pytest_ragcheck.metrics.ragas.formulas import HIGHEST_RATING

GENERATED_QUESTIONS = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement:
    """One simple statement that the answer makes."""

    text: str
    in_reference: bool
    """Whether an expected answer makes it too; False without one."""

    supported: bool
    """Whether the contexts support it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """All that the four metrics count."""

    statements: tuple[Statement, ...]
    missing: tuple[str, ...]
    """Statements of the expected answer that the answer does not make."""

    questions: tuple[str, ...]
    """What might have been asked, made from the answer alone; `GENERATED_QUESTIONS` of them."""

    noncommittal: bool
    """Whether the answer evades the question."""

    context_ratings: tuple[int, int]
    """Two looks at how far the contexts serve the question, each 0, 1 or 2."""


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
    """What the model has to reply: the source of the JSON schema that is sent, and the check of what comes back."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    nonce: str
    statements: tuple[_StatementReply, ...]
    missing_statements: Annotated[tuple[str, ...], BeforeValidator(as_texts)] = ()
    generated_questions: Annotated[tuple[str, ...], BeforeValidator(_questions)]
    noncommittal: _YesOrNo
    context_ratings: Annotated[tuple[int, ...], BeforeValidator(_ratings), WithJsonSchema(_RATINGS_SCHEMA)]


def read_facts(text: str, *, nonce: str) -> Facts:
    """
    The facts in a reply; `read_object` says what may stand around them.

    Raises:
        JudgeReplyError: there are none, or some that cannot be; the text says which, in words that can go back to
            the model.
    """
    reply = read_object(text, FactsReply, nonce=nonce)
    first, second = reply.context_ratings
    return Facts(
        statements=tuple(
            Statement(text=each.statement, in_reference=each.in_reference, supported=each.supported_by_context)
            for each in reply.statements
        ),
        missing=tuple(text.strip() for text in reply.missing_statements if text.strip()),
        questions=reply.generated_questions,
        noncommittal=reply.noncommittal,
        context_ratings=(first, second),
    )


@cache
def wanted_facts() -> Wanted[Facts]:
    """What a model is asked for."""
    return Wanted(name="facts", schema=strict_schema(FactsReply), read=read_facts)
