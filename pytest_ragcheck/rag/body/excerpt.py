"""Describes a text or a JSON value, such as the body of a reply, on one line of a terminal."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Mapping
from typing import Any

from pytest_ragcheck.concurrency.frames import users_places
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
    """The exception on one line, with its places in the user's code."""
    while len(group := list(getattr(error, "exceptions", ()))) == 1:  # of a task group
        error = group[0]
    places = users_places(error)
    return excerpt(f"{type(error).__name__}: {error}".rstrip(": ")) + (f" ({places})" if places else "")


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
