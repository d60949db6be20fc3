"""Reads what the judge's model replies: a judgement, or which cited passages support the sentences of an answer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, WithJsonSchema

from pytest_ragcheck.errors import JudgeReplyError
from pytest_ragcheck.judging.judge_prompt import task_prompt
from pytest_ragcheck.judging.judgement import Judgement, SentenceSupport
from pytest_ragcheck.judging.model.chat import AsksModel, ExpectedReply
from pytest_ragcheck.judging.model.reply_object import (
    as_bool,
    as_flag,
    as_number,
    as_text,
    as_texts,
    read_object,
    shown,
    strict_schema,
    unlike,
)
from pytest_ragcheck.questions.question import Question
from pytest_ragcheck.rag.answer import RagAnswer

_BARE = ("answer_correctness", "groundedness", "error_message")
"""The fields that a user's own prompt requests."""


def _score(value: Any) -> float:
    number = as_number(value)
    if not 0 <= number <= 1:
        raise ValueError(f"is {number:.9g}, outside 0..1")
    return number


_Score = Annotated[float, Field(ge=0, le=1), BeforeValidator(_score)]


class JudgeReply(BaseModel):
    """The fields of the judge's reply. The JSON schema in the request is made from this class."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    # The schema allows any string: a constant would make servers compile a new schema for every question.
    nonce: str
    unsupported_claims: Annotated[tuple[str, ...], BeforeValidator(as_texts)] = ()
    abstained: Annotated[bool | None, BeforeValidator(as_flag), WithJsonSchema({"type": "boolean"})] = None
    answer_correctness: _Score
    groundedness: _Score
    error_message: Annotated[str, BeforeValidator(as_text)] = ""


def read_reply(text: str, *, nonce: str, bare: bool = False) -> Judgement:
    """The judgement in a reply; `read_object` describes the text that may surround it, and the errors."""
    reply = read_object(text, JudgeReply, nonce=nonce, bare=_BARE if bare else ())
    return Judgement(
        answer_correctness=reply.answer_correctness,
        groundedness=reply.groundedness,
        error_message=reply.error_message.strip(),
        abstained=reply.abstained,
        unsupported_claims=reply.unsupported_claims,
    )


async def ask_support(
    chat: AsksModel,
    question: Question,
    answer: RagAnswer,
    sentences: Sequence[tuple[str, Sequence[int]]],
    passages: Sequence[str],
    *,
    nonce: str,
) -> tuple[SentenceSupport, ...]:
    """
    The sentences are without markers, each with the numbers of the passages that it cites, from 1. The model gets no
    other passages.

    Raises:
        JudgeError: The model gave no readable reply.
    """
    material = [
        {"number": number, "sentence": text, "cites": sorted(set(cites))}
        for number, (text, cites) in enumerate(sentences, 1)
    ]
    of_passages = replace(answer, contexts=tuple(passages))
    message = task_prompt("citations").render(question, of_passages, nonce=nonce, sentences=material)
    cited = tuple(frozenset(cites) for _, cites in sentences)
    wanted = ExpectedReply(name="citations", schema=strict_schema(SupportReply), read=partial(_read, cited=cited))
    return await chat.ask(message, wanted, nonce=nonce)


def _whole(value: Any) -> int:
    number = as_number(value)
    if number != int(number):
        raise ValueError(f"is {shown(value)}, not a whole number")
    return int(number)


def _numbers(value: Any) -> tuple[int, ...]:
    if not isinstance(value, list):
        raise unlike(value, "a list of numbers")
    return tuple(map(_whole, value))


_Numbers = Annotated[
    tuple[int, ...], BeforeValidator(_numbers), WithJsonSchema({"type": "array", "items": {"type": "integer"}})
]


class _SentenceReply(BaseModel):
    model_config = ConfigDict(extra="ignore", frozen=True)

    number: Annotated[int, BeforeValidator(_whole)]
    supported: Annotated[bool, BeforeValidator(as_bool)]
    alone: _Numbers
    needed: _Numbers


class SupportReply(BaseModel):
    """The fields of the model's reply. The JSON schema in the request is made from this class."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    nonce: str
    sentences: tuple[_SentenceReply, ...]


def _read(text: str, *, nonce: str, cited: tuple[frozenset[int], ...]) -> tuple[SentenceSupport, ...]:
    sentences = read_object(text, SupportReply, nonce=nonce).sentences
    by_number = {each.number: each for each in sentences}
    if len(sentences) > len(by_number) or by_number.keys() != set(range(1, len(cited) + 1)):
        found = ", ".join(str(each.number) for each in sentences) or "none"
        raise JudgeReplyError(f'"sentences" has the numbers {found}, not each from 1 to {len(cited)}')
    for number, passages in enumerate(cited, 1):
        if foreign := {*by_number[number].alone, *by_number[number].needed} - passages:
            raise JudgeReplyError(f"sentence {number} does not cite passage {min(foreign)}")
    return tuple(
        SentenceSupport(supported=each.supported, alone=frozenset(each.alone), needed=frozenset(each.needed))
        for _, each in sorted(by_number.items())
    )
