"""Reads what a language model replied into a `Judgement`, or says what is wrong with it."""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from functools import cache
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, WithJsonSchema

from pytest_ragcheck.errors import JudgeReplyError
from pytest_ragcheck.judging.judgement import Judgement

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pydantic_core import ErrorDetails

LONGEST_REPLY = 1_000_000
"""In characters; thinking out loud takes tens of thousands."""

_MOST_FALSE_STARTS = 1_000
_OBJECT_START = re.compile(r'\{(?=\s*["}])')
_THINKING_END = re.compile(r"</think(?:ing)?>")
_DECIMAL = re.compile(r"\d+(?:\.\d+)?|\.\d+")
_SURROGATE = re.compile("[\ud800-\udfff]")


class _Pairs(tuple[tuple[str, Any], ...]):
    """A JSON object with its repeated names, which a dict would hide."""

    __slots__ = ()


class _Found(NamedTuple):
    start: int
    end: int
    pairs: _Pairs


# Integers as floats: int() refuses thousands of digits with an error of its own, float() makes them infinite.
_DECODER = json.JSONDecoder(object_pairs_hook=_Pairs, parse_int=float)


def _score(value: Any) -> float:
    if isinstance(value, str) and _DECIMAL.fullmatch(value.strip()):
        value = float(value)
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ValueError(f"is {_shown(value)}, not a number")  # noqa: TRY004 - pydantic lets a TypeError through
    if not math.isfinite(value):
        raise ValueError(f"is {value}, not a finite number")
    if not 0 <= value <= 1:
        raise ValueError(f"is {value:g}, outside 0..1")
    return float(value)


def _text(value: Any) -> str:
    if value is None:
        return ""
    if not isinstance(value, str):
        raise ValueError(f"is {_shown(value)}, not a string")  # noqa: TRY004 - pydantic lets a TypeError through
    # No UTF-8 file can hold a lone surrogate, and a reply can bring one as an escape.
    return _SURROGATE.sub("\N{REPLACEMENT CHARACTER}", value)


def _texts(value: Any) -> tuple[str, ...]:
    if value is None:
        return ()
    if not isinstance(value, list):
        raise ValueError(f"is {_shown(value)}, not a list of strings")  # noqa: TRY004 - pydantic lets a TypeError through
    if not all(isinstance(item, str) for item in value):
        raise ValueError("holds something other than strings")
    return tuple(map(_text, value))


def _flag(value: Any) -> bool | None:
    if value is not None and not isinstance(value, bool):
        raise ValueError(f"is {_shown(value)}, not true or false")
    return value


_Score = Annotated[float, Field(ge=0, le=1), BeforeValidator(_score)]


class JudgeReply(BaseModel):
    """What the judge has to reply: the source of the JSON schema that is sent, and the check of what comes back."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    # Any string in the schema, though only one is right: a server that compiles schemas would have to do it again
    # for every question.
    nonce: str
    unsupported_claims: Annotated[tuple[str, ...], BeforeValidator(_texts)] = ()
    abstained: Annotated[bool | None, BeforeValidator(_flag), WithJsonSchema({"type": "boolean"})] = None
    answer_correctness: _Score
    groundedness: _Score
    error_message: Annotated[str, BeforeValidator(_text)] = ""


@cache
def reply_schema() -> dict[str, Any]:
    """The JSON schema of a reply as strict servers want it: every field required, nothing beside, no defaults."""
    fields = {
        name: {key: value for key, value in field.items() if key not in {"title", "default"}}
        for name, field in JudgeReply.model_json_schema()["properties"].items()
    }
    return {"type": "object", "properties": fields, "required": list(fields), "additionalProperties": False}


def read_reply(text: str, *, nonce: str) -> Judgement:
    """
    The judgement in a reply that may also hold thinking, prose, a code fence or an echo of the material.

    Only an object that carries the nonce of this request is a verdict. What stands before the end of a
    `<think>` part is a draft; an unclosed one is read like prose.

    Args:
        text: All that the model said.
        nonce: What its request told it to carry.

    Raises:
        JudgeReplyError: there is no verdict, more than one, or one with wrong fields. The text says which,
            in words that can go back to the model.
    """
    if len(text) > LONGEST_REPLY:
        raise JudgeReplyError(f"the reply has {len(text)} characters, more than {LONGEST_REPLY}", reply=text[:1000])
    try:
        return _judgement(_verdict(text, nonce))
    except _Unreadable as problem:
        error = JudgeReplyError(str(problem), reply=text[:1000])
    raise error


class _Unreadable(Exception):
    """What is wrong with a reply."""


def _verdict(text: str, nonce: str) -> _Pairs:
    objects = list(_json_objects(text))
    if not objects:
        raise _Unreadable("the reply holds no complete JSON object")
    verdicts = [found for found in objects if ("nonce", nonce) in found.pairs]
    # A judge that quotes "</think>" from the answer has not gone on thinking.
    ends = (match.start() for match in _THINKING_END.finditer(text))
    thinking_end = max((end for end in ends if not any(v.start < end < v.end for v in verdicts)), default=-1)
    final = [found.pairs for found in verdicts if found.start > thinking_end]
    if final:
        if any(other != final[0] for other in final):
            raise _Unreadable("the reply holds several verdicts that differ")
        return final[0]
    if verdicts:
        raise _Unreadable("the reply holds a verdict only inside the thinking, none after it")
    if any(key == "nonce" for found in objects for key, _ in found.pairs):
        raise _Unreadable('the field "nonce" does not hold the value that was asked for')
    raise _Unreadable('the JSON object has no field "nonce"')


def _json_objects(text: str) -> Iterator[_Found]:
    """Every JSON object in the text that is not part of another one, from left to right."""
    position = false_starts = 0
    while (start := _OBJECT_START.search(text, position)) and false_starts < _MOST_FALSE_STARTS:
        try:
            pairs, position = _DECODER.raw_decode(text, start.start())
        except (ValueError, RecursionError):  # noqa: PERF203 - as many as _MOST_FALSE_STARTS
            position = start.end()
            false_starts += 1
        else:
            yield _Found(start.start(), position, pairs)


def _judgement(pairs: _Pairs) -> Judgement:
    times = Counter(key for key, _ in pairs)
    if repeated := [name for name in JudgeReply.model_fields if times[name] > 1]:
        raise _Unreadable(f"{' and '.join(repeated)} stands in the reply more than once")
    try:
        reply = JudgeReply.model_validate(dict(pairs))
    except ValidationError as error:
        raise _Unreadable("; ".join(map(_problem, error.errors(include_url=False)))) from None
    return Judgement(
        answer_correctness=reply.answer_correctness,
        groundedness=reply.groundedness,
        error_message=reply.error_message.strip(),
        abstained=reply.abstained,
        unsupported_claims=reply.unsupported_claims,
    )


def _problem(error: ErrorDetails) -> str:
    what = "is missing" if error["type"] == "missing" else error["msg"].removeprefix("Value error, ")
    return f"{error['loc'][0]} {what}"


def _shown(value: Any) -> str:
    # An object is read as a tuple of pairs.
    if isinstance(value, list | _Pairs):
        return "a list" if isinstance(value, list) else "an object"
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 40 else f"{text[:40]}…"
