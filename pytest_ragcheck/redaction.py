"""Keeps secrets out of everything that is shown or written."""

from __future__ import annotations

import base64
import json
import re
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, urlsplit, urlunsplit

if TYPE_CHECKING:
    from collections.abc import Iterable

REDACTED = "[redacted]"

_SHORTEST_SECRET = 4
"""A shorter known value would blank out ordinary text."""

_SENSITIVE = r"(?:api[_-]?key|apikey|key|token|access[_-]?token|secret|password|passwd|pwd|sig|signature|auth)"

_PATTERNS = tuple(
    re.compile(pattern, re.IGNORECASE if ignore_case else 0)
    for pattern, ignore_case in (
        # Each keeps the group that says what stood there and drops the rest.
        (r"(\bBearer\s+)[\w.~+/=-]{8,}", True),
        (r"(\bBasic\s+)[A-Za-z0-9+/]{12,}={0,2}", False),
        (r"(://)[^/\s:@]+:[^/\s@]+(?=@)", False),
        (rf"([?&]{_SENSITIVE}=)[^&\s\"'<>]+", True),
        (
            r"(\b(?:x-api-key|api-key|authorization|proxy-authorization)\"?\s*[:=]\s*\"?)(?!\[redacted)[^\s\",]{8,}",
            True,
        ),
        (r"()\bsk-[A-Za-z0-9_-]{16,}", False),
        (r"()\bgh[pousr]_[A-Za-z0-9]{20,}", False),
        (r"()\bgithub_pat_[A-Za-z0-9_]{20,}", False),
        (r"()\bglpat-[A-Za-z0-9_-]{16,}", False),
        (r"()\bxox[abposr]-[A-Za-z0-9-]{10,}", False),
        (r"()\bhf_[A-Za-z0-9]{20,}", False),
        (r"()\bAKIA[0-9A-Z]{16}\b", False),
        (r"()\bAIza[A-Za-z0-9_-]{30,}", False),
        (r"()\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*", False),
        (r"()-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY-----|\Z)", False),
    )
)

_LONE_SURROGATE = re.compile("[\ud800-\udfff]")


class Redactor:
    """
    Replaces secrets in texts and in whole JSON documents.

    Args:
        secrets: Known secret values. Each is also found where it is percent-encoded or escaped for JSON;
            `user:password` pairs also in base64, as HTTP's Basic scheme sends them.
    """

    def __init__(self, secrets: Iterable[str] = ()) -> None:
        forms: set[str] = set()
        for secret in secrets:
            stripped = secret.strip()
            if len(stripped) < _SHORTEST_SECRET:
                continue
            forms |= {stripped, quote(stripped, safe=""), json.dumps(stripped)[1:-1]}
            forms.add(base64.b64encode(stripped.encode("utf-8", "replace")).decode("ascii").rstrip("="))
        longest_first = sorted(forms, key=len, reverse=True)
        self._known = re.compile("|".join(map(re.escape, longest_first))) if longest_first else None

    def text(self, text: str) -> str:
        """The text without secrets, and without lone surrogates, which no UTF-8 file can hold."""
        if self._known is not None:
            text = self._known.sub(REDACTED, text)
        for pattern in _PATTERNS:
            text = pattern.sub(rf"\1{REDACTED}", text)
        return text if text.isascii() else _LONE_SURROGATE.sub("\N{REPLACEMENT CHARACTER}", text)

    def document(self, value: Any) -> Any:
        """A copy of a JSON value in which every string, keys too, went through `text`."""
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, dict):
            return {self.text(str(key)): self.document(item) for key, item in value.items()}
        if isinstance(value, list | tuple):
            return [self.document(item) for item in value]
        return value


def url_secrets(url: str) -> list[str]:
    """The parts of a URL that nobody else should read: user and password, values of secret-looking parameters."""
    parts = urlsplit(url)
    found = []
    userinfo, at, _ = parts.netloc.rpartition("@")
    if at:
        found += [userinfo, *userinfo.split(":", 1)[1:]]
    found += re.findall(rf"(?i)(?:^|&){_SENSITIVE}=([^&]+)", parts.query)
    return found


def shown_url(url: str) -> str:
    """The URL as it may be shown: no user, no password, secret-looking parameters blanked."""
    parts = urlsplit(url)
    netloc = parts.netloc.rpartition("@")[2]
    query = re.sub(rf"(?i)(^|&)({_SENSITIVE}=)[^&]+", rf"\1\2{REDACTED}", parts.query)
    return urlunsplit((parts.scheme, netloc, parts.path, query, ""))
