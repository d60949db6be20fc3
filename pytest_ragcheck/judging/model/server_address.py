"""Describes the models on a server, checks its address, key and headers, and finds the parts that may be shown."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from urllib.parse import urlsplit, urlunsplit

from pytest_ragcheck.errors import UsageError
from pytest_ragcheck.frozen import frozen
from pytest_ragcheck.rag.http.endpoint_address import check_header
from pytest_ragcheck.redaction import shown_url

OPENAI_URL = "https://api.openai.com/v1"

_OF_ACCOUNT = {"openai-organization": "OPENAI_ORG_ID", "openai-project": "OPENAI_PROJECT_ID"}
_CUSTOM_HEADERS = "OPENAI_CUSTOM_HEADERS"


@frozen
class ModelKind:
    path: str
    """The path below the API's base; users often append it to the base by mistake."""

    who: str
    """The server with its article, such as `the judge`."""

    user: str
    """The part that needs the model, such as `the openai judge`."""

    model: str
    url: str
    key: str
    other_key: str
    """The key that is used if `url` is not set."""

    product: str
    """The content of a good reply."""


JUDGE_MODEL = ModelKind(
    path="/chat/completions",
    who="the judge",
    user="the openai judge",
    model="rag_judge_model",
    url="rag_judge_url",
    key="RAGCHECK_JUDGE_API_KEY",
    other_key="OPENAI_API_KEY",
    product="chat completion",
)

EMBEDDING_MODEL = ModelKind(
    path="/embeddings",
    who="the embedding server",
    user="a metric by embeddings",
    model="rag_embedding_model",
    url="the URL in rag_embedding_model",
    key="RAGCHECK_EMBEDDING_API_KEY",
    other_key="the judge's key",
    product="list of embeddings",
)


def environment_url() -> str:
    """The URL of the server that the OPENAI_* variables of the environment are for."""
    return os.environ.get("OPENAI_BASE_URL", "").strip() or OPENAI_URL


def environment_headers() -> dict[str, str]:
    """
    The headers that the environment adds to every request to that server, with lower-case names.

    OPENAI_CUSTOM_HEADERS has one `Name: value` a line, and overrides the other variables.

    A `UsageError` names a value that cannot be sent.
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
    """The secret parts of `environment_headers`: everything except the ids of the account."""
    return [part for name, value in headers.items() if name not in _OF_ACCOUNT for part in (value, *value.split()[1:])]


def _checked_header(name: str, value: str, variable: str) -> str:
    try:
        check_header(name, value, source=variable)
    except UsageError as error:
        raise UsageError(f"{variable}: {error}") from None
    return value


def checked_key(key: str, kind: ModelKind) -> str:
    """The key without surrounding white space; raises a `UsageError` if it cannot be sent in a header."""
    key = key.strip()
    if not key:
        raise UsageError(f"{kind.user} needs a key. Set {kind.key} or {kind.other_key}.")
    if wrong := re.search(r"[^\x21-\x7e]", key):
        raise UsageError(
            f"{kind.who}'s key cannot be sent: its character {wrong.start() + 1} is {wrong[0]!a}. "
            f"Copy the key again into {kind.key} or {kind.other_key}."
        )
    return key


def checked_url(url: str, kind: ModelKind) -> str:
    """The unchanged URL; raises a `UsageError` if it cannot be an API's base."""
    if not is_http(url):
        raise UsageError(
            f"{kind.who}'s URL {shown_url(url)!r} is not an http or https URL. "
            "Give the API's base, such as http://localhost:8000/v1."
        )
    if urlsplit(url).path.rstrip("/").endswith(kind.path):
        raise UsageError(
            f"{kind.who}'s URL {shown_url(url)!r} is the path of one call. Give the API's base, without {kind.path}."
        )
    return url


def is_http(url: str) -> bool:
    try:
        parts = urlsplit(url)
        of_http = parts.scheme in {"http", "https"} and bool(parts.hostname) and (parts.port is None or parts.port > 0)
    except ValueError:  # an invalid port, an incomplete IPv6 address
        return False
    # Excludes control characters and lone surrogates, which come from bytes of the environment that are not UTF-8.
    return of_http and url.isprintable()


def origin(url: str) -> tuple[str, str]:
    parts = urlsplit(url)
    return parts.scheme, parts.netloc.rpartition("@")[2].lower()


def full_address(url: str) -> str:
    """The URL without user, password and fragment; its query may contain secrets."""
    parts = urlsplit(url)
    return urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path.rstrip("/"), parts.query, ""))
