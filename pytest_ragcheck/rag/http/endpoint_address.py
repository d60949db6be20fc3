"""Checks the address and the headers of an endpoint, and shows the address without its secrets."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import field
from urllib.parse import urlsplit

from pytest_ragcheck.errors import UsageError
from pytest_ragcheck.frozen import frozen
from pytest_ragcheck.redaction import Redactor, shown_query, shown_url, url_secrets

_NAME = re.compile(r"[!#$%&'*+.^`|~\w-]+", re.ASCII)
_VALUE = re.compile(r"[\x21-\x7e]([\x20-\x7e\t]*[\x21-\x7e])?|")

_BODY_HEADERS = {"content-length", "transfer-encoding"}
"""Headers that mark the end of a request; only the HTTP library's values keep the connection."""

_FROM_ENVIRONMENT = re.compile(r"\{env:([^{}]*)\}")


@frozen
class FilledHeaders:
    headers: Mapping[str, str] = field(repr=False)
    secrets: Sequence[str] = field(repr=False)
    """The values that came from the environment."""


def fill_in(headers: Iterable[tuple[str, str]], environment: Mapping[str, str]) -> FilledHeaders:
    """
    The headers with each `{env:NAME}` replaced by its variable.

    Raises:
        UsageError: A variable is not set, or a header cannot be sent.
    """
    filled: dict[str, str] = {}
    secrets: list[str] = []
    for name, value in headers:
        if re.fullmatch(r"(\w+ )?(\$|%|\$?\{)[A-Za-z_]\w*[}%]?", value):
            raise UsageError(f"the value of {name} is the name of a variable. Write {{env:NAME}} to insert its value.")
        variables = list(dict.fromkeys(_FROM_ENVIRONMENT.findall(value)))
        for variable in variables:
            if not environment.get(variable):
                raise UsageError(
                    f"{name} needs the environment variable {variable!r}, which is not set or empty. "
                    f"Set it, or take the header out."
                )
        secrets += [environment[variable] for variable in variables]
        filled[name] = _FROM_ENVIRONMENT.sub(lambda match: environment[match[1]], value)
        named = f"the environment's {' and '.join(map(repr, variables))}" if variables else "the value"
        check_header(name, filled[name], source=named)
    return FilledHeaders(headers=filled, secrets=secrets)


def check_header(name: str, value: str, *, source: str = "the place it comes from") -> None:
    """Raise a `UsageError` if the header cannot be sent; no text shows its value, which comes from the *source*."""
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise UsageError(f"the header name {name!r} cannot be sent. Use letters, digits and '-' only.")
    if name.lower() in _BODY_HEADERS:
        raise UsageError(f"the header {name!r} cannot be set: it follows from the body of each request. Take it out.")
    if not isinstance(value, str):
        raise UsageError(f"the value of the header {name!r} is {type(value).__name__}, not str. Write it as text.")
    if not _VALUE.fullmatch(value):
        raise UsageError(
            f"the value of the header {name!r} cannot be sent: it has a line break, another control character, "
            "a character beyond ASCII, or white space at an end (its value is not shown). "
            f"Check {source}: a secret read from a file often ends in a line break."
        )


def check_one_authorization(url: str, headers: Iterable[str], *, shown: str = "the endpoint's URL") -> None:
    """Raise a `UsageError` for an `Authorization` header with a user in the URL: the library would drop the header."""
    named = next((name for name in headers if name.lower() == "authorization"), None)
    parts = urlsplit(url)
    if named is not None and (parts.username or parts.password):
        raise UsageError(
            f"the header {named!r} cannot be sent with the user name and password in {shown}, which are sent as the "
            "same header. Take one of them out."
        )


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
    if not separator:
        if url.startswith("/"):
            return f"no host. Write it in full, such as {EXAMPLE}; a path is enough for an app in this process."
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
    with suppress(ValueError):
        if parts.port != 0:
            return ""
    return (
        f"a port that is not a number from 1 to 65535. Write it as in {EXAMPLE}; an IPv6 address goes in "
        "brackets, and a '/' or '@' in a password as %2F or %40."
    )


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
