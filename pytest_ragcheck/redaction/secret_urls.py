"""Finds the secrets in a URL, and shows the URL without them."""

from __future__ import annotations

import re
from urllib.parse import unquote, unquote_plus, urlsplit

from pytest_ragcheck.redaction.secret_patterns import REDACTED, is_secret_parameter

_SCHEME = re.compile(r"[a-z][a-z0-9+.-]*:/+", re.IGNORECASE)


def url_secrets(url: str) -> list[str]:
    """The user name, the password and the values of parameters that look secret in a URL, encoded and decoded."""
    parts = urlsplit(url)
    found = []
    userinfo, at, _ = parts.netloc.rpartition("@")
    if at:
        found += [userinfo, unquote(userinfo)]
        if password := userinfo.partition(":")[2]:
            found += [password, unquote(password)]
    for pair in parts.query.split("&"):
        name, _, value = pair.partition("=")
        if is_secret_parameter(name, value):
            found += [value, unquote_plus(value)]
    return list(dict.fromkeys(found))


def shown_url(url: str) -> str:
    """The URL without user name, password and fragment, and with secret parameters redacted."""
    start, mark, query = url.partition("#")[0].partition("?")
    return _without_userinfo(start) + mark + shown_query(query)


def shown_query(query: str) -> str:
    return "&".join(map(_shown_pair, query.split("&")))


def _without_userinfo(url: str) -> str:
    try:
        parts = urlsplit(url)
        if parts.netloc and parts.port != 0:
            return parts._replace(netloc=parts.netloc.rpartition("@")[2]).geturl()
    except ValueError:  # an incomplete IPv6 address, or an invalid port
        pass
    # An invalid URL loses everything that could be a user name or a password.
    before, at, after = url.rpartition("@")
    scheme = _SCHEME.match(before) if at else None
    return f"{scheme[0] if scheme else ''}{after}"


def _shown_pair(pair: str) -> str:
    name, _, value = pair.partition("=")
    return f"{name}={REDACTED}" if is_secret_parameter(name, value) else pair
