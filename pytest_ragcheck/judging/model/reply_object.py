"""Finds the JSON object in a model's reply and checks its fields."""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterator
from functools import cache, partial
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from pydantic import BaseModel, ValidationError

from pytest_ragcheck.errors import JudgeReplyError
from pytest_ragcheck.judging.model.chat import ExpectedReply
from pytest_ragcheck.redaction.printable import sound

if TYPE_CHECKING:
    from pydantic_core import ErrorDetails

Reply = TypeVar("Reply", bound=BaseModel)

LONGEST_REPLY = 1_000_000
"""In characters; a model's thinking takes tens of thousands."""

_MOST_FALSE_STARTS = 1_000
"""Each takes time, because the error of the decoder counts the lines before it."""

_MOST_READ_AGAIN = 4
"""Limit of the characters read in false starts, as a multiple of the reply's length."""

_READ_LENIENTLY = 100_000
"""In characters, from the end of the reply: a verdict follows the thinking."""

_REPEATED_SHOWN = 3
_OBJECT_START = re.compile(r"""\{(?=\s*(?:["'}/#]|\w+\s*:))""")
# Texts, which may lack their end, comments, and words.
_TOKEN = re.compile(
    r""""(?:[^"\\]+|\\.)*"?|'(?:[^'\\]+|\\.)*'?|(?://|#)[^\n]*|/\*[^*]*\*/|[][{},]|\b(?:\w+(?=\s*:)|[TFN][a-z]+)""",
    re.DOTALL,
)
_UNLIKE_JSON = re.compile(r'\\.|"', re.DOTALL)
_JSON = {"True": "true", "False": "false", "None": "null", "\\'": "'", '"': '\\"'}
# The start, or with a group the end: of DeepSeek and most others (Gemini has <thought>), Mistral, Gemma, and gpt-oss.
_THINKING = re.compile(
    r"<(/)?(?:think(?:ing)?|thought|reasoning)>|\[(/)?THINK\]|<(channel)\|>"
    r"|<\|channel(\|>final(?: ?<\|constrain\|>json)?<\|message)?"
)
_AT_END = re.compile(r"(?:[\s`]|<[^<>]*>)*\Z")
_DECIMAL = re.compile(r"[0-9]+(?:\.[0-9]+)?|\.[0-9]+")
_FLAGS = {"true": True, "yes": True, "1.0": True, "false": False, "no": False, "0.0": False}

_WANTED = {"tuple_type": "a list", "model_type": "an object"}
"""The wanted JSON type by pydantic's error type, because pydantic's texts name Python classes."""


class _Pairs(tuple[tuple[str, Any], ...]):
    # A JSON object with repeated names, which a dict would hide.
    __slots__ = ()


_Decode = Callable[[str, int], tuple[_Pairs, int]]


class _Found(NamedTuple):
    start: int
    end: int
    pairs: _Pairs


# Integers as floats: int() raises on thousands of digits, float() returns infinity. Models break lines within texts.
_DECODER = json.JSONDecoder(object_pairs_hook=_Pairs, parse_int=float, strict=False)


class _Unreadable(Exception):
    """The mistake in a reply."""


class _Contradictory(_Unreadable):
    """The mistake of several verdicts."""


def read_object(text: str, form: type[Reply], *, nonce: str, bare: Collection[str] = ()) -> Reply:
    """
    The object in a reply that may also contain thinking, prose, a code fence or an echo of the material.

    Only an object with the nonce of this request is a verdict. Text before the end of a `<think>` part is a draft; an
    unclosed part has a verdict only at its end. If the objects in strict JSON have no verdict, an object may have
    trailing commas, comments, and Python's quotes and constants.

    With *bare*, the only object counts even without a nonce if it has these fields and no others. Give *bare* only if
    the material has no such object, which the model could have copied.

    Raises:
        JudgeReplyError: The reply has no verdict, several, or one with wrong fields. The text can be sent to the model.
    """
    if len(text) > LONGEST_REPLY:
        raise JudgeReplyError(f"the reply has {len(text)} characters, more than {LONGEST_REPLY}", reply=text[:1000])
    try:
        try:
            pairs = _verdict(text, _DECODER.raw_decode, form, nonce, bare)
        except _Contradictory:
            raise
        except _Unreadable:
            pairs = _verdict(text, _lenient_decode, form, nonce, bare)
        return _checked(pairs, form)
    except _Unreadable as problem:
        error = JudgeReplyError(str(problem), reply=text[:1000])
    raise error


def expected_object(name: str, form: type[Reply]) -> ExpectedReply[Reply]:
    return ExpectedReply(name=name, schema=strict_schema(form), read=partial(read_object, form=form))


@cache
def strict_schema(form: type[BaseModel]) -> dict[str, Any]:
    """The strict JSON schema of the form: every field is required, no others are allowed, no defaults."""
    schema = form.model_json_schema()
    return _strict(schema, schema.get("$defs", {}))


def as_number(value: Any) -> float:
    """The finite number, which may be in quotes; raises a ValueError that shows any other value."""
    if isinstance(value, str) and _DECIMAL.fullmatch(value.strip()):
        value = float(value)
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise unlike(value, "a number")
    if not math.isfinite(value):
        raise ValueError(f"is {value}, not a finite number")
    return float(value)


def as_text(value: Any) -> str:
    """The text, empty for null; raises a ValueError that shows any other value."""
    if value is None:
        return ""
    if not isinstance(value, str):
        raise unlike(value, "a string")
    # A reply may contain a lone surrogate as an escape, but a UTF-8 file cannot.
    return sound(value)


def as_texts(value: Any) -> tuple[str, ...]:
    """The texts, none for null or ""; raises a ValueError that shows any other value."""
    if value in (None, ""):
        return ()
    if not isinstance(value, list):
        raise unlike(value, "a list of strings")
    if not all(isinstance(item, str) for item in value):
        raise ValueError("holds something other than strings")
    return tuple(map(as_text, value))


def as_flag(value: Any) -> bool | None:
    """True, False or None, also as a word or a number; raises a ValueError that shows any other value."""
    if isinstance(value, str | float):
        value = _FLAGS.get(str(value).strip().lower(), value)
    return None if value is None else as_bool(value)


def as_bool(value: Any) -> bool:
    if not isinstance(value, bool):
        raise unlike(value, "true or false")
    return value


def unlike(value: Any, wanted: str) -> ValueError:
    # Pydantic lets a TypeError through.
    return ValueError(f"is {shown(value)}, not {wanted}")


def shown(value: Any) -> str:
    if isinstance(value, list | dict):
        return "a list" if isinstance(value, list) else "an object"
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 40 else f"{text[:40]}…"


def _strict(schema: dict[str, Any], definitions: dict[str, Any]) -> dict[str, Any]:
    if "$ref" in schema:
        return _strict(definitions[schema["$ref"].rpartition("/")[2]], definitions)
    if "properties" in schema:
        fields = {name: _strict(field, definitions) for name, field in schema["properties"].items()}
        return {"type": "object", "properties": fields, "required": list(fields), "additionalProperties": False}
    plain = {key: value for key, value in schema.items() if key not in {"title", "default", "$defs"}}
    return {**plain, "items": _strict(plain["items"], definitions)} if "items" in plain else plain


def _bare_verdict(final: list[_Found], form: type[BaseModel], nonce: str, bare: Collection[str]) -> _Pairs | None:
    # The only object after the thinking, with the nonce added; None if it has one, or other fields.
    names = {name for found in final for name, _ in found.pairs}
    if len(final) != 1 or not names.issuperset(bare) or not names.issubset(form.model_fields.keys() - {"nonce"}):
        return None
    return _Pairs((("nonce", nonce), *final[0].pairs))


def _verdict(text: str, decode: _Decode, form: type[BaseModel], nonce: str, bare: Collection[str]) -> _Pairs:
    objects = list(_json_objects(text, decode))
    if bare and (found := _bare_verdict(_final(text, objects), form, nonce, bare)):
        return found
    if not objects:
        raise _Unreadable("the reply holds no complete JSON object")
    if verdicts := _with_nonce(_final(text, objects, unclosed=True), nonce):
        if any(other != verdicts[0] for other in verdicts):
            raise _Contradictory("the reply holds several verdicts that differ")
        return verdicts[0]
    if _with_nonce(objects, nonce):
        raise _Unreadable("the reply holds a verdict only inside the thinking, none after it")
    if any(key == "nonce" for found in objects for key, _ in found.pairs):
        raise _Unreadable('the field "nonce" does not hold the value that was asked for')
    raise _Unreadable('the JSON object has no field "nonce"')


def _with_nonce(objects: list[_Found], nonce: str) -> list[_Pairs]:
    # The objects with the nonce, also inside another one, as in {"arguments": {...}}.
    outer = [found.pairs for found in objects]
    inner = [value for pairs in outer for _, value in pairs if isinstance(value, _Pairs)]
    return [pairs for pairs in outer + inner if ("nonce", nonce) in pairs]


def _final(text: str, objects: list[_Found], *, unclosed: bool = False) -> list[_Found]:
    # The objects after the thinking, or with *unclosed* at the end of thinking that has no end mark.
    # An object may quote "</think>" from the answer.
    starts = (0, *(found.end for found in objects))
    ends = (*(found.start for found in objects), len(text))
    marks = [mark for span in zip(starts, ends, strict=True) for mark in _THINKING.finditer(text, *span)]
    end = max((mark.start() for mark in marks if mark.lastindex), default=-1)
    start = min((mark.start() for mark in marks if mark.start() > end), default=len(text))
    final = [found for found in objects if found.start > end]
    return [found for found in final if found.start < start or (unclosed and _AT_END.match(text, found.end))]


def _json_objects(text: str, decode: _Decode) -> Iterator[_Found]:
    # The JSON objects in the text that are not part of another one, from left to right.
    position = max(0, len(text) - _READ_LENIENTLY) if decode is _lenient_decode else 0
    most, false_starts, characters = _MOST_READ_AGAIN * (len(text) - position), 0, 0
    while (start := _OBJECT_START.search(text, position)) and false_starts < _MOST_FALSE_STARTS and characters <= most:
        try:
            pairs, position = decode(text, start.start())
        except (ValueError, RecursionError) as error:  # noqa: PERF203 - as many as _MOST_FALSE_STARTS
            position = start.end()
            false_starts += 1
            characters += (error.pos if isinstance(error, json.JSONDecodeError) else len(text)) - start.start()
        else:
            yield _Found(start.start(), position, pairs)


def _lenient_decode(text: str, start: int) -> tuple[_Pairs, int]:
    pieces: list[str] = []
    depth, end = 0, start
    for token in _TOKEN.finditer(text, start):
        pieces += text[end : token.start()].split()
        piece, end = token[0], token.end()
        if piece in "}]":
            depth -= 1
            if pieces[-1] == ",":
                pieces.pop()
        depth += piece in "{["
        if piece[0] == "'":
            piece = f'"{_UNLIKE_JSON.sub(lambda found: _JSON.get(found[0], found[0]), piece[1:-1])}"'
        if piece[0] not in "/#":
            pieces.append(f'"{piece}"' if piece.isidentifier() and piece not in _JSON else _JSON.get(piece, piece))
        if not depth:
            break
    try:
        return _DECODER.decode(" ".join(pieces)), end
    except ValueError:
        raise json.JSONDecodeError("", text, end) from None


def _checked(pairs: _Pairs, form: type[Reply]) -> Reply:
    try:
        # Further fields are not checked.
        return form.model_validate(_plain(_Pairs(pair for pair in pairs if pair[0] in form.model_fields)))
    except ValidationError as error:
        raise _Unreadable("; ".join(map(_problem, error.errors(include_url=False)))) from None


def _plain(value: Any) -> Any:
    if isinstance(value, _Pairs):
        times = Counter(key for key, _ in value)
        if repeated := [shown(name).strip('"') for name, count in times.items() if count > 1]:
            raise _Unreadable(f"{' and '.join(repeated[:_REPEATED_SHOWN])} occurs in one object more than once")
        return {key: _plain(inner) for key, inner in value}
    return list(map(_plain, value)) if isinstance(value, list) else value


def _problem(error: ErrorDetails) -> str:
    if wanted := _WANTED.get(error["type"]):
        what = f"is {shown(error['input'])}, not {wanted}"
    else:
        what = "is missing" if error["type"] == "missing" else error["msg"].removeprefix("Value error, ")
    return f"{'.'.join(map(str, error['loc']))} {what}"
