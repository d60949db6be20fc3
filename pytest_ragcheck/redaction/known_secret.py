"""Finds a known secret in all its spellings."""

from __future__ import annotations

import base64
import re

from pytest_ragcheck.redaction.escapes import Unescaped
from pytest_ragcheck.redaction.secret_patterns import REDACTED

SHORTEST_SECRET = 4
"""A shorter known value would blank out ordinary text."""

_SHORTEST_INSIDE_A_WORD = 8
"""A shorter known value is redacted only as a whole word: the password `test` is not in `latest`."""

SHORTEST_BASE64 = 8
"""Fewer characters of base64 occur in ordinary text."""

_ALPHANUMERIC_RUN = re.compile(r"[A-Za-z0-9]*")
_URL_SAFE = str.maketrans("+/", "-_")


class KnownSecret:
    """One known secret of at least 4 characters, which `Redactor` removes in all spellings."""

    def __init__(self, secret: str) -> None:
        self.core = max(_ALPHANUMERIC_RUN.findall(secret), key=len)
        """Longest run of letters and digits. Most spellings contain it, because encoders need not escape it."""
        self._secret = secret
        self.plain = _pattern(secret)
        unescaped = Unescaped(secret).text
        self._unescaped = _pattern(unescaped) if len(unescaped) >= SHORTEST_SECRET else self.plain
        once = _parts(secret.encode("utf-8", "replace"))
        parts = once.union(*(_parts(inner.encode()) for inner in once))
        long = (part for part in parts if len(part) >= SHORTEST_BASE64)
        self.base64_texts = sorted(long, key=lambda part: (-len(part), part))
        """Texts of 8 characters or more. A text with the secret in base64, once or twice encoded, contains one."""

    def without_beginning(self, text: str) -> str:
        """The text with a beginning of the secret, half of it or more, redacted at its end, where it was cut."""
        least = max(SHORTEST_SECRET, len(self._secret) // 2)
        for length in range(min(len(self._secret) - 1, len(text)), least - 1, -1):
            if text.endswith(self._secret[:length]):
                before = text[:-length]
                is_word_part = length < _SHORTEST_INSIDE_A_WORD and re.fullmatch(r"\w", before[-1:])
                return text if is_word_part else before + REDACTED
        return text

    def spans(self, unescaped: Unescaped) -> list[tuple[int, int]]:
        """The places of the secret in the escaped text."""
        return [unescaped.source(*match.span()) for match in self._unescaped.finditer(unescaped.text)]


def _pattern(secret: str) -> re.Pattern[str]:
    # A pattern of literal characters only is searched in linear time.
    plain = re.escape(secret)
    return re.compile(plain if len(secret) >= _SHORTEST_INSIDE_A_WORD else rf"(?<!\w){plain}(?!\w)")


def _parts(data: bytes) -> set[str]:
    # Base64 texts in both alphabets; any text with *data* in base64 contains at least one of them.
    # The first and the last character depend on the neighbouring bytes and are left out.
    found = {base64.b64encode(data).decode().rstrip("=")}
    for offset in range(3):
        encoded = base64.b64encode(bytes(offset) + data).decode()
        found.add(encoded[-(-8 * offset // 6) : 8 * (offset + len(data)) // 6])
    return found | {part.translate(_URL_SAFE) for part in found}
