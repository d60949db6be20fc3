"""Fills in the user's headers from the environment, and checks them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field
from urllib.parse import urlsplit

from pytest_ragcheck.errors import UsageError
from pytest_ragcheck.frozen import frozen

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
