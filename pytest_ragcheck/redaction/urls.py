"""Secrets in a URL: which parts they are, and the URL without them."""

from __future__ import annotations

import re
from urllib.parse import unquote, unquote_plus, urlsplit

from pytest_ragcheck.redaction.looks import REDACTED, is_secret_parameter


def url_secrets(url: str) -> list[str]:
    """
    The parts of a URL that nobody else should read, as they stand and decoded.

    They are user and password, a user without a password, and the values of parameters that look secret.
    """
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
    """The URL as it may be shown: no user, no password, no fragment, secret-looking parameters blanked."""
    start, mark, query = url.partition("#")[0].partition("?")
    return _without_userinfo(start) + mark + shown_query(query)


def shown_query(query: str) -> str:
    """A URL's query-string as it may be shown: the values of parameters that look secret blanked."""
    return "&".join(map(_shown_pair, query.split("&")))


def _without_userinfo(url: str) -> str:
    try:
        parts = urlsplit(url)
        if parts.netloc and parts.port != 0:
            return parts._replace(netloc=parts.netloc.rpartition("@")[2]).geturl()
    except ValueError:  # half an IPv6 address, or a port that is none
        pass
    # Of what is no URL, all that could be user and password is cut.
    return re.sub(r"^([a-z][a-z0-9+.-]*:/+)?.*@", r"\1", url, flags=re.IGNORECASE | re.DOTALL)


def _shown_pair(pair: str) -> str:
    name, _, value = pair.partition("=")
    return f"{name}={REDACTED}" if is_secret_parameter(name, value) else pair
