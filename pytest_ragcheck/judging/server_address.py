"""Where the judge's server is, which key goes there, and what of it may be shown."""

from __future__ import annotations

import os
import re
from urllib.parse import urlsplit, urlunsplit

from pytest_ragcheck.errors import UsageError
from pytest_ragcheck.redaction import shown_url

OPENAI_URL = "https://api.openai.com/v1"


def environment_url() -> str:
    """The server that the OPENAI_* variables of the environment are about."""
    return os.environ.get("OPENAI_BASE_URL", "").strip() or OPENAI_URL


def checked_key(key: str) -> str:
    """The key without the white space around it, or a `UsageError` if it cannot stand in a header."""
    key = key.strip()
    if not key:
        raise UsageError("the openai judge needs a key. Set RAGCHECK_JUDGE_API_KEY or OPENAI_API_KEY.")
    if wrong := re.search(r"[^\x21-\x7e]", key):
        raise UsageError(
            f"the judge's key cannot be sent: its character {wrong.start() + 1} is {wrong[0]!a}. "
            "Copy the key anew into RAGCHECK_JUDGE_API_KEY or OPENAI_API_KEY."
        )
    return key


def checked_url(url: str) -> str:
    """The URL as it is, or a `UsageError` if it cannot be an API's base."""
    if not _is_http(url):
        raise UsageError(
            f"the judge's URL {shown_url(url)!r} is no http or https URL. "
            "Give the API's base, such as http://localhost:8000/v1."
        )
    if urlsplit(url).path.rstrip("/").endswith("/chat/completions"):
        raise UsageError(
            f"the judge's URL {shown_url(url)!r} is the path of one call. "
            "Give the API's base, without /chat/completions."
        )
    return url


def _is_http(url: str) -> bool:
    try:
        parts = urlsplit(url)
        return parts.scheme in {"http", "https"} and bool(parts.hostname) and (parts.port is None or parts.port > 0)
    except ValueError:  # a port that is no number, half an IPv6 address
        return False


def origin(url: str) -> tuple[str, str]:
    """Scheme, and host with port."""
    parts = urlsplit(url)
    return parts.scheme, parts.netloc.rpartition("@")[2].lower()


def host_and_path(url: str) -> str:
    """The URL without user, password, query and fragment."""
    parts = urlsplit(url)
    return urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path.rstrip("/"), "", ""))
