"""Removes known secrets, in all their encodings, and strings that look like secrets."""

from __future__ import annotations

import base64
import html
import json
import math
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, quote_plus

from pytest_ragcheck.redaction.secret_patterns import PATTERNS, REDACTED, blank_parameters

if TYPE_CHECKING:
    from collections.abc import Iterable

_SHORTEST_SECRET = 4
"""A shorter known value would blank out ordinary text."""

_SHORTEST_INSIDE_A_WORD = 8
"""A shorter known value is redacted only as a whole word: the password `test` is not in `latest`."""

_LONGEST_REMEMBERED = 10_000
_MOST_REMEMBERED = 500_000
"""
Size of the cache of redacted texts, in characters; longer texts than the limit are not cached.

The same texts recur: names and keys in every row, passages in several answers, and whole records when they are made,
stored and written.
"""

_CHARACTERS_OF_AN_ENTRY = 100
"""Overhead of a cache entry, in characters."""

_ESCAPED_BY_GO = {ord(char): f"\\u{ord(char):04x}" for char in "<>&"}
_LONE_SURROGATE = re.compile("[\ud800-\udfff]")


class Redactor:
    """
    Replaces secrets in texts and in whole JSON documents.

    Args:
        secrets: Known secret values. Each is also found percent-encoded, in base64 (as in HTTP's Basic scheme), and
            escaped for JSON or HTML. Values of fewer than 4 characters are ignored; values of fewer than 8 are
            found only as whole words.
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
        """The text without secrets, and without lone surrogates, which UTF-8 cannot encode."""
        known = self._remembered.get(text)
        if known is None:
            known = self._redacted(text)
            # An instance of a subclass of str must not replace an equal plain text.
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
        for kind in PATTERNS:
            # This loop sees every text of every result: `any` with a generator takes three times as long.
            for hint in kind.hints:
                if hint in lowered:
                    text = kind.pattern.sub(kind.blank, text)
                    break
        if "=" in text:
            text = blank_parameters(text)
        return text if text.isascii() else _LONE_SURROGATE.sub("\N{REPLACEMENT CHARACTER}", text)

    def document(self, value: Any) -> Any:
        """A copy as JSON types with every string redacted, keys included; other values become redacted text."""
        # The most frequent types come first: every value of every result passes here.
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
    # Other encoders escape differently: Go in JSON, Jinja and Django in HTML.
    others = {form.translate(_ESCAPED_BY_GO) for form in in_json} | {in_html.replace("&#x27;", "&#39;")}
    twice = {quote(form, safe="") for form in percent}
    in_python = {repr(secret)[1:-1], repr(sendable)[2:-1]}
    forms = {secret, in_html, *percent, *twice, *lower_case, *encoded, *in_json, *slashed, *others, *in_python}
    return {form for form in forms if form not in REDACTED}
