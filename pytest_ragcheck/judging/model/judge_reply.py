"""Reads the reply of a language model into a `Judgement`."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, WithJsonSchema

from pytest_ragcheck.judging.judgement import Judgement
from pytest_ragcheck.judging.model.reply_object import as_flag, as_number, as_text, as_texts, read_object


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


_BARE = ("answer_correctness", "groundedness", "error_message")
"""The fields that a user's own prompt requests."""


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
