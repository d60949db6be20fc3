"""Where a model's server is, which key goes there, and what of it may be shown."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING
from urllib.parse import urlsplit, urlunsplit

from pytest_ragcheck.errors import UsageError
from pytest_ragcheck.rag.headers import check_header
from pytest_ragcheck.redaction import shown_url

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pytest_ragcheck.judging.role import Role

OPENAI_URL = "https://api.openai.com/v1"

_OF_ACCOUNT = {"openai-organization": "OPENAI_ORG_ID", "openai-project": "OPENAI_PROJECT_ID"}
_CUSTOM_HEADERS = "OPENAI_CUSTOM_HEADERS"


def environment_url() -> str:
    """The server that the OPENAI_* variables of the environment are about."""
    return os.environ.get("OPENAI_BASE_URL", "").strip() or OPENAI_URL


def environment_headers() -> dict[str, str]:
    """
    What these variables add to every request to that server, by names in lower case.

    OPENAI_CUSTOM_HEADERS has a `Name: value` on each line, and the last word on every name.

    Raises:
        UsageError: one of them cannot be sent.
    """
    headers = {}
    for header, variable in _OF_ACCOUNT.items():
        if value := os.environ.get(variable, "").strip():
            headers[header] = _checked_header(header, value, variable)
    for line in os.environ.get(_CUSTOM_HEADERS, "").splitlines():
        name, colon, value = line.partition(":")
        if colon and name.strip():
            header = name.strip().lower()
            headers[header] = _checked_header(header, value.strip(), _CUSTOM_HEADERS)
    return headers


def header_secrets(headers: Mapping[str, str]) -> list[str]:
    """What of `environment_headers` no text may show: all but the names of the account."""
    return [part for name, value in headers.items() if name not in _OF_ACCOUNT for part in (value, *value.split()[1:])]


def _checked_header(name: str, value: str, variable: str) -> str:
    try:
        check_header(name, value, source=variable)
    except UsageError as error:
        raise UsageError(f"{variable}: {error}") from None
    return value


def checked_key(key: str, role: Role) -> str:
    """The key without the white space around it, or a `UsageError` if it cannot stand in a header."""
    key = key.strip()
    if not key:
        raise UsageError(f"{role.user} needs a key. Set {role.key} or {role.other_key}.")
    if wrong := re.search(r"[^\x21-\x7e]", key):
        raise UsageError(
            f"{role.who}'s key cannot be sent: its character {wrong.start() + 1} is {wrong[0]!a}. "
            f"Copy the key anew into {role.key} or {role.other_key}."
        )
    return key


def checked_url(url: str, role: Role) -> str:
    """The URL as it is, or a `UsageError` if it cannot be an API's base."""
    if not is_http(url):
        raise UsageError(
            f"{role.who}'s URL {shown_url(url)!r} is no http or https URL. "
            "Give the API's base, such as http://localhost:8000/v1."
        )
    if urlsplit(url).path.rstrip("/").endswith(role.path):
        raise UsageError(
            f"{role.who}'s URL {shown_url(url)!r} is the path of one call. Give the API's base, without {role.path}."
        )
    return url


def is_http(url: str) -> bool:
    """Whether a request can be sent there, as far as its looks tell."""
    try:
        parts = urlsplit(url)
        of_http = parts.scheme in {"http", "https"} and bool(parts.hostname) and (parts.port is None or parts.port > 0)
    except ValueError:  # a port that is none, half an IPv6 address
        return False
    # Control characters, and the lone surrogates by which Python shows bytes of the environment that are not UTF-8.
    return of_http and url.isprintable()


def origin(url: str) -> tuple[str, str]:
    """Scheme, and host with port."""
    parts = urlsplit(url)
    return parts.scheme, parts.netloc.rpartition("@")[2].lower()


def host_and_path(url: str) -> str:
    """The URL without user, password, query and fragment."""
    parts = urlsplit(url)
    return urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path.rstrip("/"), "", ""))


def full_address(url: str) -> str:
    """The URL without user, password and fragment; its query, which may choose a deployment, may hold secrets."""
    parts = urlsplit(url)
    return urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path.rstrip("/"), parts.query, ""))
