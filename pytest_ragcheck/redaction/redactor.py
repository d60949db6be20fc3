"""Takes secrets out of texts and documents: known ones in whatever form they come, others by their looks."""

from __future__ import annotations

import base64
import html
import json
import math
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, quote_plus

from pytest_ragcheck.redaction.looks import KINDS, REDACTED, blank_parameters

if TYPE_CHECKING:
    from collections.abc import Iterable

_SHORTEST_SECRET = 4
"""A shorter known value would blank out ordinary text."""

_SHORTEST_INSIDE_A_WORD = 8
"""A shorter known value, such as the password `test`, is no secret inside of `latest`."""

_LONGEST_REMEMBERED = 10_000
_MOST_REMEMBERED = 500_000
"""
Of texts up to that length so many characters are remembered, with what stands for them.

The same come again and again: names and keys in every row, passages in several answers, and all that a record holds
when it is made, when it is stored and when it is written.
"""

_CHARACTERS_OF_AN_ENTRY = 100
"""What remembering takes beside the text, in characters."""

_ESCAPED_BY_GO = {ord(char): f"\\u{ord(char):04x}" for char in "<>&"}
_LONE_SURROGATE = re.compile("[\ud800-\udfff]")


class Redactor:
    """
    Replaces secrets in texts and in whole JSON documents.

    Args:
        secrets: Known secret values. Each is also found where it is percent-encoded, in base64 (as HTTP's Basic
            scheme sends a `user:password`), or escaped for JSON or HTML. One of less than 4 characters is not
            looked for, one of less than 8 only where it is a word by itself.
    """

    def __init__(self, secrets: Iterable[str] = ()) -> None:
        forms = {form for secret in secrets for form in _forms(secret.strip())}
        longest_first = sorted(forms, key=lambda form: (-len(form), form))
        self._remembered: dict[str, str] = {}
        self._characters = 0
        self._anywhere = [form for form in longest_first if len(form) >= _SHORTEST_INSIDE_A_WORD]
        self._words = [
            (form, re.compile(rf"(?<!\w){re.escape(form)}(?!\w)"))
            for form in longest_first
            if len(form) < _SHORTEST_INSIDE_A_WORD
        ]

    def text(self, text: str) -> str:
        """The text without secrets, and without lone surrogates, which no UTF-8 file can hold."""
        known = self._remembered.get(text)
        if known is None:
            known = self._redacted(text)
            # An equal text of a class of its own is not to come out for a plain one.
            if type(text) is str and len(text) <= _LONGEST_REMEMBERED:
                self._remember(text, known)
        return known

    def _remember(self, text: str, known: str) -> None:
        self._characters += len(text) + _CHARACTERS_OF_AN_ENTRY
        if self._characters > _MOST_REMEMBERED:
            self._remembered.clear()
            self._characters = 0
        self._remembered[text] = known

    def _redacted(self, text: str) -> str:
        for form in self._anywhere:
            text = text.replace(form, REDACTED)
        for form, pattern in self._words:
            if form in text:
                text = pattern.sub(REDACTED, text)
        lowered = text.lower()
        for kind in KINDS:
            # Every text of every result comes here: `any` with a generator takes three times as long.
            for hint in kind.hints:
                if hint in lowered:
                    text = kind.pattern.sub(kind.blank, text)
                    break
        if "=" in text:
            text = blank_parameters(text)
        return text if text.isascii() else _LONE_SURROGATE.sub("\N{REPLACEMENT CHARACTER}", text)

    def document(self, value: Any) -> Any:
        """A copy of what JSON can hold, in which every string, keys too, went through `text`; the rest as text."""
        # Those that rows are made of come first: every value of every result comes here.
        if type(value) is str:
            return self.text(value)
        if value is None or isinstance(value, bool | int) or (isinstance(value, float) and math.isfinite(value)):
            return value
        if type(value) is dict or isinstance(value, Mapping):
            return {self.text(str(key)): self.document(item) for key, item in value.items()}
        if isinstance(value, list | tuple):
            return [self.document(item) for item in value]
        return self.text(str(value))


def _forms(secret: str) -> set[str]:
    if len(secret) < _SHORTEST_SECRET:
        return set()
    sendable = secret.encode("utf-8", "replace")
    percent = {quote(sendable, safe=""), quote(sendable), quote_plus(sendable)}
    lower_case = {re.sub("%..", lambda match: match[0].lower(), form) for form in percent}
    encoded = {code(sendable).decode("ascii").rstrip("=") for code in (base64.b64encode, base64.urlsafe_b64encode)}
    in_html = html.escape(secret)
    in_json = {json.dumps(secret)[1:-1], json.dumps(secret, ensure_ascii=False)[1:-1]}
    slashed = {form.replace("/", "\\/") for form in in_json}
    # As the encoders of other languages write them: Go's of JSON, Jinja's and Django's of HTML.
    others = {form.translate(_ESCAPED_BY_GO) for form in in_json} | {in_html.replace("&#x27;", "&#39;")}
    twice = {quote(form, safe="") for form in percent}
    in_python = {repr(secret)[1:-1], repr(sendable)[2:-1]}
    forms = {secret, in_html, *percent, *twice, *lower_case, *encoded, *in_json, *slashed, *others, *in_python}
    return {form for form in forms if form not in REDACTED}
