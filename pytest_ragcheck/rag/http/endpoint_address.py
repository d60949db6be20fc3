"""Checks the address of an endpoint, and shows it without its secrets."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import field
from urllib.parse import urlsplit

from pytest_ragcheck.errors import UsageError
from pytest_ragcheck.frozen import frozen
from pytest_ragcheck.rag.http.headers import check_header, check_one_authorization
from pytest_ragcheck.redaction import Redactor, shown_query, shown_url, url_secrets

EXAMPLE = "http://localhost:8000/query"

_PLAIN_HEADERS = re.compile(r"(accept|cache|content)(-.*)?|connection|host|pragma|user-agent", re.IGNORECASE)


@frozen
class Address:
    url: str = field(repr=False)
    """The whole URL, userinfo and query included."""

    shown: str
    """The URL for texts: without userinfo and fragment, with secret parameters redacted."""

    secrets: tuple[str, ...] = field(repr=False)
    """The secrets of URL and headers."""

    @property
    def redactor(self) -> Redactor:
        """Removes the secrets, which a reply may echo."""
        return Redactor(self.secrets)

    @property
    def host(self) -> str:
        return urlsplit(self.shown).hostname or ""


def read_address(url: str, headers: Mapping[str, str], *, also_secret: Mapping[str, str] | None = None) -> Address:
    """
    The address of *url*, with the secrets of both sets of headers; *also_secret* is not checked.

    Raises:
        UsageError: The URL or a header cannot be sent; the text says what to write, and shows no header's value.
    """
    _check_url(url)
    for name, value in headers.items():
        check_header(name, value)
    check_one_authorization(url, headers)
    secrets = url_secrets(url)
    for name, value in {**(also_secret or {}), **headers}.items():
        if not _PLAIN_HEADERS.fullmatch(name):
            secrets += (value, value.rpartition(" ")[2])  # the token of "Bearer TOKEN"
    return Address(url=url, shown=shown_url(url), secrets=tuple(secrets))


def in_app(url: str) -> str:
    # Frameworks that check the host accept this one.
    return f"http://localhost{url}" if isinstance(url, str) and url.startswith("/") else url


def _check_url(url: str) -> None:
    if not isinstance(url, str):
        raise UsageError(
            f"RagClient takes the endpoint's URL as a str, not {type(url).__name__}. "
            f"Write RagClient({EXAMPLE!r}); a function goes to RagClient.from_callable(function)."
        )
    if not url.strip():
        raise UsageError(f"the endpoint's URL is empty. Write it in full, such as {EXAMPLE}.")
    masked = _masked(url)
    if problem := _problem(url, masked):
        raise UsageError(f"the endpoint's URL {masked!r} has {problem}")


def _problem(url: str, masked: str) -> str:
    if any(character.isspace() or not character.isprintable() for character in url):
        repaired = "".join(character for character in masked if character.isprintable() and character != " ")
        return f"white space or a control character in it. Write {repaired} or, inside the query string, %20."
    scheme, separator, _ = url.partition("://")
    if not separator and url.startswith("/"):
        return f"no host. Write it in full, such as {EXAMPLE}; a path is enough for an app in this process."
    if not separator:
        rest = re.sub(r"^https?:/*", "", masked, flags=re.IGNORECASE).lstrip("/")
        return f"no scheme. Write http://{rest} or https://{rest}."
    if scheme.lower() not in {"http", "https"}:
        rest = masked.partition("://")[2]
        return f"the scheme {scheme!r}; only http and https can be asked. Write http://{rest} or https://{rest}."
    return _problem_of_server(url)


def _problem_of_server(url: str) -> str:
    try:
        parts = urlsplit(url)
        host = parts.hostname
    except ValueError:
        return "a host that cannot be read. Write an IPv6 address in brackets: http://[::1]:8000/query."
    if not host:
        return f"no host. Write it in full, such as {EXAMPLE}."
    if not all(0 < len(label) < 64 for label in host.rstrip(".").split(".")):
        return "a host name with an empty part, or one of more than 63 characters. Check it."
    try:
        wrong_port = parts.port == 0
    except ValueError:
        wrong_port = True
    if wrong_port:
        return (
            f"a port that is not a number from 1 to 65535. Write it as in {EXAMPLE}; an IPv6 address goes in "
            "brackets, and a '/' or '@' in a password as %2F or %40."
        )
    return ""


def _masked(url: str) -> str:
    # A possibly malformed URL for a text, without everything up to the last `@`, which could be userinfo.
    head, mark, query = url.partition("#")[0].partition("?")
    head = re.sub(r"^([a-z][a-z0-9+.-]*://)?.*@", r"\1", head, flags=re.IGNORECASE | re.DOTALL)
    return head + mark + shown_query(query)


def base_of(url: str) -> str:
    """The base of a server's routes: its question route without a final `/query`, with its query string."""
    parts = urlsplit(url)
    path = parts.path.rstrip("/").removesuffix("/query")
    return parts._replace(path=path, fragment="").geturl()


def joined(base_url: str, path: str) -> str:
    parts = urlsplit(base_url)
    return parts._replace(path=parts.path.rstrip("/") + path, fragment="").geturl()
