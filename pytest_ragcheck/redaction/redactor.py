"""Removes known secrets, in all their encodings, and strings that look like secrets."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any

from pytest_ragcheck.redaction.secret_patterns import PATTERNS, REDACTED, blank_parameters
from pytest_ragcheck.redaction.secret_spellings import base64_spellings, escape_hints, escaped_spellings

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

_LONE_SURROGATE = re.compile("[\ud800-\udfff]")


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
            _Secret(secret)
            for secret in sorted(stripped, key=lambda secret: (-len(secret), secret))
            if len(secret) >= _SHORTEST_SECRET and secret not in REDACTED
        ]
        self._hints = escape_hints("".join(stripped))
        self._remembered: dict[str, str] = {}
        self._characters = 0

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
        if self._secrets:
            text = self._without_known(text)
        if "=" in text:
            text = blank_parameters(text)
        lowered = text.lower()
        for kind in PATTERNS:
            # This loop sees every text of every result: `any` with a generator takes three times as long.
            for hint in kind.hints:
                if hint in lowered:
                    text = kind.pattern.sub(kind.blank, text)
                    break
        return text if text.isascii() else _LONE_SURROGATE.sub("\N{REPLACEMENT CHARACTER}", text)

    def _without_known(self, text: str) -> str:
        for secret in self._secrets:
            text = secret.removed(text)
        # Most texts have no escape.
        for hint in self._hints:
            if hint in text:
                for secret in self._secrets:
                    text = secret.escaped.sub(REDACTED, text)
                break
        return text

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


class _Secret:
    """One known secret with its spellings."""

    def __init__(self, secret: str) -> None:
        self._text = secret
        self._is_word = len(secret) < _SHORTEST_INSIDE_A_WORD
        parts = base64_spellings(secret.encode("utf-8", "replace"))
        self._anywhere = sorted((part for part in parts if len(part) >= _SHORTEST_INSIDE_A_WORD), key=len, reverse=True)
        if not self._is_word:
            self._anywhere.insert(0, secret)

    def removed(self, text: str) -> str:
        """Return the text without the secret as it is and in base64."""
        if self._is_word and self._text in text:
            text = self._as_word(re.escape(self._text)).sub(REDACTED, text)
        for part in self._anywhere:
            text = text.replace(part, REDACTED)
        return text

    @cached_property
    def escaped(self) -> re.Pattern[str]:
        return self._as_word(escaped_spellings(self._text))

    def _as_word(self, pattern: str) -> re.Pattern[str]:
        return re.compile(rf"(?<!\w){pattern}(?!\w)" if self._is_word else pattern)
