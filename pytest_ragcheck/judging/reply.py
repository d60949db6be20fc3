"""Reads what a language model replied into a `Judgement`, or says what is wrong with it."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, WithJsonSchema

from pytest_ragcheck.judging.judgement import Judgement
from pytest_ragcheck.judging.reply_object import as_flag, as_number, as_text, as_texts, read_object


def _score(value: Any) -> float:
    number = as_number(value)
    if not 0 <= number <= 1:
        raise ValueError(f"is {number:g}, outside 0..1")
    return number


_Score = Annotated[float, Field(ge=0, le=1), BeforeValidator(_score)]


class JudgeReply(BaseModel):
    """What the judge has to reply: the source of the JSON schema that is sent, and the check of what comes back."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    # Any string in the schema, though only one is right: a server that compiles schemas would have to do it again
    # for every question.
    nonce: str
    unsupported_claims: Annotated[tuple[str, ...], BeforeValidator(as_texts)] = ()
    abstained: Annotated[bool | None, BeforeValidator(as_flag), WithJsonSchema({"type": "boolean"})] = None
    answer_correctness: _Score
    groundedness: _Score
    error_message: Annotated[str, BeforeValidator(as_text)] = ""


def read_reply(text: str, *, nonce: str) -> Judgement:
    """
    The judgement in a reply; `read_object` says what may stand around it.

    Args:
        text: All that the model said.
        nonce: What its request told it to carry.

    Raises:
        JudgeReplyError: there is no verdict, more than one, or one with wrong fields. The text says which,
            in words that can go back to the model.
    """
    reply = read_object(text, JudgeReply, nonce=nonce)
    return Judgement(
        answer_correctness=reply.answer_correctness,
        groundedness=reply.groundedness,
        error_message=reply.error_message.strip(),
        abstained=reply.abstained,
        unsupported_claims=reply.unsupported_claims,
    )
