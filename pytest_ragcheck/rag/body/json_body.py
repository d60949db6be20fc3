"""Reads JSON strictly, and describes texts and JSON values on one line of a terminal."""

from __future__ import annotations

import html
import json
import math
import re
from collections import Counter
from collections.abc import Mapping
from typing import Any, NoReturn

from pytest_ragcheck.concurrency.frames import causes, users_places
from pytest_ragcheck.redaction.printable import printable

LONGEST = 300
_LONGEST_QUOTED = 200

_SEARCHED = 100_000
"""Most characters that are searched for HTML."""

_MOST_KEYS = 6
"""Most keys of an object in a text."""

# Bounded by the next "<": none of these patterns reads any character twice.
_HTML_START = re.compile(r"<(?:!doctype\s+html|html|head|body)\b", re.IGNORECASE)
_TITLE = re.compile(r"<title\b[^<>]*>([^<]*)", re.IGNORECASE)
_UNSEEN = re.compile(r"<(script|style)\b.*?(?:</\1>|\Z)|<!--.*?(?:-->|\Z)|<[^<>]*>", re.IGNORECASE | re.DOTALL)

_ADDRESS = re.compile(r" at 0x[\da-fA-F]+")


def excerpt(text: str, longest: int = LONGEST) -> str:
    """The first *longest* characters of the text on one line, `printable`."""
    # Four times the length fills the line even if the text begins with much white space.
    line = " ".join(text[: longest * 4].split())
    line = "".join(character if character.isprintable() else "\N{REPLACEMENT CHARACTER}" for character in line)
    return printable(line if len(line) <= longest else line[: longest - 1].rstrip() + "…")


def quoted_text(text: str) -> str:
    line = " ".join(text.split())
    return f'"{line}"' if len(line) <= _LONGEST_QUOTED else f'"{line[: _LONGEST_QUOTED - 1].rstrip()}…"'


def shown_error(error: BaseException) -> str:
    """The exception on one line, with its places in the user's code, and its first cause."""
    while len(group := list(getattr(error, "exceptions", ()))) == 1:  # of a task group
        error = group[0]
    places = users_places(error)
    # An address would make equal errors differ.
    text = _ADDRESS.sub("", f"{type(error).__name__}: {error}".rstrip(": "))
    cause = causes(error)[-1]
    known = cause is error or (str(cause) or type(cause).__name__) in text
    return excerpt(text) + (f" ({places})" if places else "") + ("" if known else f", caused by {shown_error(cause)}")


def is_html(text: str) -> bool:
    text = text[:_SEARCHED].lstrip()
    while text.startswith("<!--"):
        text = text.partition("-->")[2].lstrip()
    return _HTML_START.match(text) is not None


def quoted(text: str) -> str:
    """An excerpt for a message: JSON bare, HTML as its title, other text in quotes; `no body` if empty."""
    if is_html(text):
        title = _TITLE.search(text, 0, _SEARCHED)
        words = title[1] if title else _UNSEEN.sub(" ", text[:_SEARCHED])
        # Cut first: `unescape` raises ValueError for a character reference of more than 4,300 digits.
        words = excerpt(html.unescape(excerpt(words, 1_000)), 120)
        return f'HTML page "{words}"' if words else "HTML page without text"
    line = excerpt(text)
    if not line:
        return "no body"
    return line if line[0] in "{[" else f'"{line}"'


def named(value: object) -> str:
    """The kind of the value in the words of a sentence, such as `the number 3` or `an empty array`."""
    if value is None or isinstance(value, bool):
        return json.dumps(value)
    if isinstance(value, (int, float)):
        return f"the number {value}"
    if isinstance(value, str):
        return f'the string "{excerpt(value, 60)}"'
    if isinstance(value, Mapping):
        return f"an object with {keys_of(value)}"
    if isinstance(value, (list, tuple)):
        return f"an array of {len(value)}" if value else "an empty array"
    return instance(value)


def instance(value: object) -> str:
    name = type(value).__qualname__
    return f"{'an' if name[0] in 'AEIOaeio' else 'a'} {name}"


def named_error(error: object) -> str:
    """The message of an error, or the first of an array; the kind of the error without a message."""
    if isinstance(error, list) and error:
        error = error[0]
    if isinstance(error, Mapping):
        error = error.get("message") or error.get("detail") or error.get("reason") or error
    return f'"{excerpt(error)}"' if isinstance(error, str) else named(error)


def keys_of(value: Mapping[Any, Any]) -> str:
    if not value:
        return "no keys"
    keys = ", ".join(f'"{excerpt(str(key), 40)}"' for key in list(value)[:_MOST_KEYS])
    return keys if len(value) <= _MOST_KEYS else f"{keys} and {len(value) - _MOST_KEYS} more"


DEEPEST = 100
"""Most levels of nesting: far beyond any reply, and safe for every later reader and writer."""


_DATA_LINE = re.compile(r'[0-9a-z]:["{\[]')

FIX_IT = "Fix its cause in the RAG system."


class ReplyMismatch(ValueError):
    """A reply that differs from the contract, and the remedy in the endpoint; the caller adds the endpoint."""

    def __init__(self, found: str, to_do: str) -> None:
        super().__init__(f"{found}. {to_do}")
        self.found = found
        self.to_do = to_do


class NotJson(ReplyMismatch):
    """A text that is not JSON, or that breaks off."""


def parse_json(body: bytes, content_type: str = "", *, compressed_as: str = "") -> Any:
    """
    The JSON value that *body* holds.

    A UTF-8 byte order mark is skipped. *content_type* is the reply's header, and *compressed_as* a Content-Encoding
    that was not decoded; both only make error texts more precise.

    Raises:
        ReplyMismatch: The body is not UTF-8 or not JSON, repeats a key, has NaN, or is nested beyond `DEEPEST`.
    """
    text = _decode(body, content_type, compressed_as)
    if _DATA_LINE.match(text):
        text = _array_of_lines(text)
    try:
        value = _DECODER.decode(text)
    except ReplyMismatch:
        raise
    except RecursionError:
        raise _too_deep() from None
    except ValueError as error:
        raise _not_json(text, content_type, error) from None
    # Counting brackets is 100 times as fast as walking, and decides all ordinary replies.
    if text.count("[") + text.count("{") > DEEPEST and _is_deeper(value):
        raise _too_deep()
    return value


def _decode(body: bytes, content_type: str, compressed_as: str) -> str:
    try:
        return body.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        if compressed_as:
            raise ReplyMismatch(
                f"the reply's body has the Content-Encoding {excerpt(compressed_as, 40)!r}, which was not asked for",
                "Check what compresses it: the endpoint, or a proxy before it. It has to respect Accept-Encoding.",
            ) from None
        if body.startswith(b"\x1f\x8b"):
            raise ReplyMismatch(
                "the reply's body is compressed with gzip, but has no Content-Encoding",
                "Send Content-Encoding: gzip, or the body without compression.",
            ) from None
        declared = f", as its Content-Type {content_type!r} says" if "charset" in content_type.lower() else ""
        raise ReplyMismatch(
            f"the reply is not UTF-8{declared}: byte 0x{body[error.start]:02x} at position {error.start}",
            "Encode the JSON as UTF-8.",
        ) from None


def _array_of_lines(text: str) -> str:
    # The data stream of AI SDK 4, such as `0:"text"`, as an array of objects, such as `{"0":"text"}`.
    if error := re.search('^3:(.*)|^d:.*("finishReason": ?"error")', text, re.MULTILINE):
        raise ReplyMismatch(f"the stream reports an error: {excerpt(''.join(error.groups('')))}", FIX_IT)
    end = re.search('^d:.*("finishReason": ?"[^"]*")', text, re.MULTILINE)
    lines = re.sub("^(.):(.*)\n", r'{"\1":\2},', text.strip() + "\n", flags=re.MULTILINE)
    # As in other replies, the reason is a key of an object on the path of the answer.
    return "[" + (f"{lines}{{{end[1]}}}" if end else lines.rstrip(",")) + "]"


def _unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) < len(pairs):
        times = Counter(key for key, _ in pairs)
        repeated = next(key for key, count in times.items() if count > 1)
        found = f'the reply has the key "{excerpt(repeated, 60)}" twice in one object'
        raise ReplyMismatch(found, "Give each key once.")
    return value


def _refuse_constant(name: str) -> NoReturn:
    raise ReplyMismatch(f"the reply holds {name}, which is not JSON", "Return null, or leave the key out.")


def _finite(digits: str) -> float:
    number = float(digits)
    if math.isinf(number):
        found = f"the reply holds the number {excerpt(digits, 40)}, which is too large to be read"
        raise ReplyMismatch(found, "Return a smaller one.")
    return number


# json.loads would make a decoder for each of the events of a stream.
_DECODER = json.JSONDecoder(object_pairs_hook=_unique_keys, parse_constant=_refuse_constant, parse_float=_finite)


def _too_deep() -> ReplyMismatch:
    return ReplyMismatch(f"the reply is nested more than {DEEPEST} levels deep", "Return a flat object.")


def _is_deeper(value: Any) -> bool:
    level = [value]
    for _ in range(DEEPEST):
        level = [
            child
            for parent in level
            for child in (parent.values() if isinstance(parent, dict) else parent)
            if isinstance(child, (dict, list))
        ]
        if not level:
            return False
    return True


def _not_json(text: str, content_type: str, error: ValueError) -> ReplyMismatch:
    if not text.strip():
        return ReplyMismatch("the reply has an empty body", "Return JSON.")
    if is_html(text):
        return ReplyMismatch(
            f"the reply is not JSON but an {quoted(text)}",
            "Check that the URL is that of the API's route, and that no login page or proxy answers in its place.",
        )
    is_declared = content_type.lower().startswith("text/event-stream")
    if is_declared or text.startswith(("data:", "event:")):
        to_do = "Set rag_stream = auto" if is_declared else "Send it with Content-Type: text/event-stream"
        found = f"the reply is a stream of events ({quoted(text)})"
        return ReplyMismatch(found, f"{to_do}, or return one JSON object.")
    return _syntax_error(text, error)


def _syntax_error(text: str, error: ValueError) -> ReplyMismatch:
    if not isinstance(error, json.JSONDecodeError):  # Python reads integers of 4,300 digits at most
        return ReplyMismatch("the reply holds a whole number with too many digits to be read", "Return a smaller one.")
    where = f"line {error.lineno}, column {error.colno}"
    if error.msg == "Extra data" and text.lstrip().startswith(("{", "[")):
        to_do = "Return one JSON object."
        if text.startswith("{", error.pos):
            to_do += " Or stream one a line, with Content-Type: application/x-ndjson and rag_stream = auto."
        return NotJson(f"the reply goes on after its JSON has ended, at {where}: {quoted(text)}", to_do)
    if error.pos >= len(text.rstrip()) or error.msg.startswith("Unterminated"):
        found = f"the reply's JSON breaks off, at {where}: {quoted(text)}"
        return NotJson(found, "Return the whole of it, as valid JSON.")
    found = error.msg.removesuffix(" at")  # as in "Invalid control character at"
    return NotJson(f"the reply is not JSON ({found} at {where}): {quoted(text)}", "Return JSON.")
