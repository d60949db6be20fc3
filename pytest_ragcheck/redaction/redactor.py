"""Removes known secrets, in all their encodings, and strings that look like secrets."""

from __future__ import annotations

import math
import re
import string
from collections.abc import Iterable, Mapping
from typing import Any

from pytest_ragcheck.redaction.escapes import Unescaped, has_escaped_alphanumeric
from pytest_ragcheck.redaction.known_secret import SHORTEST_BASE64, SHORTEST_SECRET, KnownSecret
from pytest_ragcheck.redaction.printable import sound
from pytest_ragcheck.redaction.secret_patterns import PATTERNS, REDACTED, blank_parameters

_LONGEST_REMEMBERED = 10_000
_MOST_REMEMBERED = 500_000
"""
Size of the cache of redacted texts, in characters; longer texts than the limit are not cached.

The same texts recur: names and keys in every row, passages in several answers, and whole records when they are made,
stored and written.
"""

_CHARACTERS_OF_AN_ENTRY = 100
"""Overhead of a cache entry, in characters."""

_CUT = "…"
"""Ends an excerpt, which may have cut a secret before it could be found."""

_BASE64 = f"{string.ascii_letters}{string.digits}+/-_".encode()
_AS_LETTERS = bytes.maketrans(_BASE64, b"A" * len(_BASE64))


class Redactor:
    """
    Replaces secrets in texts and in whole JSON documents.

    Args:
        secrets: Known secret values. Each is also found in base64 and with escaped characters. Values of fewer than
            4 characters are ignored; values of fewer than 8 are found only as whole words.
    """

    def __init__(self, secrets: Iterable[str] = ()) -> None:
        stripped = {secret.strip() for secret in secrets}
        self._secrets = [
            KnownSecret(secret)
            for secret in sorted(stripped, key=lambda secret: (-len(secret), secret))
            if len(secret) >= SHORTEST_SECRET and secret not in REDACTED
        ]
        in_base64 = [text for secret in self._secrets for text in secret.base64_texts]
        self._base64_run = b"A" * min(map(len, in_base64), default=0)
        starts = range(max(map(len, in_base64), default=0) - SHORTEST_BASE64 + 1)
        self._base64_pieces = {text[at : at + SHORTEST_BASE64] for text in in_base64 for at in starts}
        self._remembered: dict[str, str] = {}
        self._characters = 0

    def text(self, text: str) -> str:
        """The text without secrets, and without lone surrogates, which UTF-8 cannot encode."""
        known = self._remembered.get(text)
        if known is None:
            known = self._redacted(text)
            # An instance of a subclass of str must not replace an equal plain text.
            if type(text) is str and len(text) <= _LONGEST_REMEMBERED:
                self._characters += len(text) + _CHARACTERS_OF_AN_ENTRY
                if self._characters > _MOST_REMEMBERED:
                    self._remembered.clear()
                    self._characters = 0
                self._remembered[text] = known
        return known

    def _redacted(self, text: str) -> str:
        if self._secrets:
            text = self._without_known(text)
            if _CUT in text:
                *cut, end = text.split(_CUT)
                for secret in self._secrets:
                    cut = list(map(secret.without_beginning, cut))
                text = _CUT.join([*cut, end])
        if "=" in text:
            text = blank_parameters(text)
        lowered = text.lower()
        for kind in PATTERNS:
            # This loop runs for every text of every result, and `any` with a generator takes three times as long.
            for hint in kind.hints:
                if hint in lowered:
                    text = re.sub(kind.pattern, kind.blank, text)
                    break
        return sound(text)

    def _without_known(self, text: str) -> str:
        # Most texts have no secret, so cheap conditions come first.
        is_near = False
        for secret in self._secrets:
            if secret.core in text:
                is_near = True
                text = secret.plain.sub(REDACTED, text)
        if is_near or has_escaped_alphanumeric(text):
            text = self._without_escaped(text)
        if self._base64_run in text.encode("utf-8", "replace").translate(_AS_LETTERS):
            # A base64 text of a secret covers one of these pieces.
            starts = range(0, len(text), len(self._base64_run) - SHORTEST_BASE64 + 1)
            if not self._base64_pieces.isdisjoint([text[at : at + SHORTEST_BASE64] for at in starts]):
                for secret in self._secrets:
                    for part in secret.base64_texts:
                        text = text.replace(part, REDACTED)
        return text

    def _without_escaped(self, text: str) -> str:
        unescaped = Unescaped(text)
        spans = sorted(span for secret in self._secrets for span in secret.spans(unescaped))
        kept, end = [], 0
        for start, stop in spans:
            if start >= end:
                kept += [text[end:start], REDACTED]
            end = max(end, stop)
        return "".join([*kept, text[end:]])

    def document(self, value: Any) -> Any:
        """A copy as JSON types with every string redacted, keys included; other values become redacted text."""
        # The most frequent types come first, since this runs for every value of every result.
        if type(value) is str:
            return self.text(value)
        if value is None or isinstance(value, bool | int) or (isinstance(value, float) and math.isfinite(value)):
            return value
        if type(value) is dict or isinstance(value, Mapping):
            return {self.text(str(key)): self.document(item) for key, item in value.items()}
        if isinstance(value, list | tuple):
            return list(map(self.document, value))
        return self.text(str(value))
