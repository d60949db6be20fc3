"""Removes known secrets, in all their encodings, and strings that look like secrets."""

from __future__ import annotations

import base64
import logging
import math
import re
import string
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Any

from pytest_ragcheck.redaction.printable import Unescaped, has_escaped_alphanumeric, sound
from pytest_ragcheck.redaction.secret_patterns import KEY, PATTERNS, REDACTED, blank_parameters

SHORTEST_SECRET = 4
"""A shorter known value would blank out ordinary text."""

_SHORTEST_INSIDE_A_WORD = 8
"""A shorter known value is redacted only as a whole word: the password `test` is not in `latest`."""

SHORTEST_BASE64 = 8
"""Fewer characters of base64 occur in ordinary text."""

_ALPHANUMERIC_RUN = re.compile(r"[A-Za-z0-9]*")
_URL_SAFE = str.maketrans("+/", "-_")

_LONGEST_REMEMBERED = 10_000
_MOST_REMEMBERED = 2_000
"""Texts in the cache, since keys, passages and whole records recur."""

_CUT = "…"
"""Ends an excerpt, which may have cut a secret before it could be found."""

_OF_KEYS = f"{string.ascii_letters}{string.digits}+/-_".encode()
_AS_LETTERS = bytes.maketrans(_OF_KEYS, b"A" * len(_OF_KEYS))
_LONG_WORD = b"A" * 20


class KnownSecret:
    """A secret of at least 4 characters, and its spellings in texts."""

    def __init__(self, secret: str) -> None:
        self.core = max(_ALPHANUMERIC_RUN.findall(secret), key=len)
        """Longest run of letters and digits. Most spellings contain it, because encoders need not escape it."""
        self.text = secret
        self.least = max(SHORTEST_SECRET, len(secret) // 2)
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
        for length in range(min(len(self.text) - 1, len(text)), self.least - 1, -1):
            if text.endswith(self.text[:length]):
                before = text[:-length]
                is_word_part = length < _SHORTEST_INSIDE_A_WORD and re.fullmatch(r"\w", before[-1:])
                return text if is_word_part else before + REDACTED
        return text

    def spans(self, unescaped: Unescaped) -> list[tuple[int, int]]:
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


class Redactor:
    """Replaces secrets in texts and in JSON documents: the known *secrets*, also in base64 or escaped, and patterns."""

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

    def text(self, text: str) -> str:
        """The text without secrets, and without lone surrogates, which UTF-8 cannot encode."""
        known = self._remembered.get(text)
        if known is None:
            known = self._redacted(text)
            # An instance of a subclass of str must not replace an equal plain text.
            if type(text) is str and len(text) <= _LONGEST_REMEMBERED:
                if len(self._remembered) >= _MOST_REMEMBERED:
                    self._remembered.clear()
                self._remembered[text] = known
        return known

    def numbered(self, text: str, secrets: dict[str, str]) -> str:
        """
        The text with equal placeholders for equal secrets only: `[redacted 7001]`, `[redacted 7002]`.

        *secrets* has the placeholders by secret, and receives those of new ones.
        """
        kept, *pieces = self.text(text).split(REDACTED)
        text, at = sound(text), len(kept)
        for left, piece in enumerate(pieces, 1 - len(pieces)):
            end = text.find(piece, at + 1) if left else len(text) - len(piece)
            # A pattern may take the end of the sentence for a part of the secret.
            secret = text[at:end].strip(string.punctuation)
            # The offline judge would find a small number elsewhere in the text.
            kept += secrets.setdefault(secret, f"[redacted {len(secrets) + 7001}]") + piece
            at = end + len(piece)
        return kept

    def numbering(self, *texts: str) -> Callable[[str], str]:
        """A function that numbers the secrets of these texts in all of them, or redacts the only one in all."""
        found: dict[str, str] = {}
        for text in texts:
            self.numbered(text, found)
        if not found:
            return self.text
        # A pattern finds a secret in some of its places only.
        clean = Redactor([*(known.text for known in self._secrets), *found])
        return partial(clean.numbered, secrets={}) if len(found) > 1 else clean.text

    def _redacted(self, text: str) -> str:
        if self._secrets:
            text = self._without_known(text)
            if _CUT in text:
                *cut, end = text.split(_CUT)
                for secret in [each for each in self._secrets if each.text[: each.least] in text]:
                    cut = list(map(secret.without_beginning, cut))
                text = _CUT.join([*cut, end])
        if "=" in text:
            text = blank_parameters(text)
        lowered = text.lower()
        for kind in PATTERNS:
            # `any` with a generator takes three times as long.
            for hint in kind.hints:
                if hint in lowered:
                    text = re.sub(kind.pattern, kind.blank, text)
                    break
        letters = text.encode("latin-1", "replace").translate(_AS_LETTERS)
        if _LONG_WORD in letters:
            words = {text[max(run.start() - 16, 0) : run.end()] for run in re.finditer(_LONG_WORD + b"A*", letters)}
            if any(re.search(KEY.pattern, word) for word in words):
                text = re.sub(KEY.pattern, KEY.blank, text)
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
        # The most frequent types come first.
        if type(value) is str:
            return self.text(value)
        if value is None or isinstance(value, int) or (isinstance(value, float) and math.isfinite(value)):
            return value
        if isinstance(value, dict | Mapping):
            return {self.text(str(key)): self.document(item) for key, item in value.items()}
        if isinstance(value, list | tuple):
            return list(map(self.document, value))
        return self.text(str(value))


# Every emitting logger is listed, because a filter on a parent does not apply to its children.
_HTTPCORE = ("connection", "http11", "http2", "proxy", "socks")
_LOGGERS = (
    *("httpx", "httpx2", "openai", "openai._base_client", "openai._response", "openai._legacy_response"),
    *(f"httpcore.{part}" for part in _HTTPCORE),
    *(f"httpcore2.{part}" for part in _HTTPCORE),
)


def redact_logs(redactor: Redactor) -> Callable[[], None]:
    """
    Redacts the log records of HTTP libraries until the returned function is called.

    At level DEBUG they have whole headers and URLs, and people share logs.
    """

    def redacting(record: logging.LogRecord) -> bool:
        record.msg, record.args = redactor.text(record.getMessage()), ()
        if record.exc_info:
            record.exc_text = redactor.text(logging.Formatter().formatException(record.exc_info))
            # A handler that formats the exception again would show the secrets.
            record.exc_info = None
        return True

    loggers = list(map(logging.getLogger, _LOGGERS))
    for logger in loggers:
        logger.addFilter(redacting)

    def end() -> None:
        for logger in loggers:
            logger.removeFilter(redacting)

    return end
