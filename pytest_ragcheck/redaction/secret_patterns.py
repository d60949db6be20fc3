"""Finds secrets that are not known in advance, by their form or their context, and shows URLs without them."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Callable
from dataclasses import dataclass
from urllib.parse import unquote, unquote_plus, urlsplit

REDACTED = "[redacted]"


def is_redacted(*texts: str | None) -> bool:
    return any(REDACTED in text for text in texts if text)


_SECRET_PARAMETER = re.compile(
    r"(?:key|token|secret|signature|sig|passw(?:or)?d|pwd|auth|authorization|credentials?|session|sessionid|^code)$",
    re.IGNORECASE,
)
_SECRET_HEADER = re.compile(r"auth|cookie|key|token|secret|passw|sign|credential|session", re.IGNORECASE)
_LOOKS_RANDOM = re.compile(r"(?=.*\d)[\w+/=.~-]{20,}")
# Anchored at the start of a run, which keeps the time linear.
_RANDOM_RUN = re.compile(
    r"(?<![A-Za-z0-9])(?:(?=[A-Za-z]*\d)[A-Za-z0-9]{12}|A[KS]IA|glpat-(?=\D{0,19}\d)|(?=[a-z]*[A-Z]+[a-z])[A-Za-z]{30})"
)
_PLACEHOLDER = re.compile(r"\W{0,2}(?:[A-Z_]+|(?:(?:your|api)[-_]){0,2}(?:key|token|secret|pass(?:word)?))\W{0,2}")
# Such as 12-character, HMAC-SHA256 and /v2/token.
_ORDINARY = re.compile(r"\d+-[A-Za-z-]+|[A-Z]{2,9}-[A-Z-]{0,6}\d{1,5}(?:[-/][A-Z]+)?|[a-z.]*/[a-z\d/._-]+")
_SCHEME = re.compile(r"[a-z][a-z0-9+.-]*:/+", re.IGNORECASE)
_PARAMETER = re.compile(r"([?&%](?:amp;)?([\w.-]{1,80})(?:=|%3D))((?:(?!%(?:26|3F)\w+%3D)[^&\s\"'<>\\\[\]#]){6,})")


def looks_secret(value: str, shortest: int = 8) -> bool:
    """True if a value in the place of a secret looks like one, and not like a word of a sentence."""
    value = value.rstrip(".")
    has_both = any(map(str.isdigit, value)) and any(map(str.isalpha, value))
    return has_both and len(value) >= shortest and "://" not in value and not _ORDINARY.fullmatch(value)


def is_secret_header(name: str) -> bool:
    return _SECRET_HEADER.search(name) is not None


def header_secrets(name: str, value: str) -> list[str]:
    """The secrets in a header: the value, the token after its scheme, and the password or the cookies in it."""
    if not is_secret_header(name):
        return []
    words = value.split()
    decoded = _basic_credential(words[-1]) if words and words[0].lower() == "basic" else ""
    found = [*filter(None, (value, *words[1:], decoded, decoded.partition(":")[2]))]
    return found + cookie_secrets(re.findall("=([^;]+)", value) if "cookie" in name.lower() else [])


def cookie_secrets(values: list[str | None]) -> list[str]:
    """The values that are long enough for a session, unlike `lang=en`."""
    return [value for value in values if value and (looks_secret(value) or len(value) >= 16)]


def is_secret_parameter(name: str, value: str) -> bool:
    """True if a URL parameter is secret; name and value are URL-encoded."""
    if not value:
        return False
    return bool(_SECRET_PARAMETER.search(unquote_plus(name)) or _LOOKS_RANDOM.fullmatch(unquote_plus(value)))


def blank_parameters(text: str) -> str:
    return _PARAMETER.sub(_blank_parameter, text)


def _blank_parameter(match: re.Match[str]) -> str:
    is_secret = _SECRET_PARAMETER.search(match[2]) and not _PLACEHOLDER.fullmatch(match[3])
    return f"{match[1]}{REDACTED}" if is_secret else match[0]


def _basic_credential(value: str) -> str:
    try:
        decoded = base64.b64decode(value + "=" * (-len(value) % 4), validate=True).decode("utf-8")
    except (binascii.Error, UnicodeDecodeError):
        return ""
    return decoded if ":" in decoded and decoded.isprintable() else ""


@dataclass(frozen=True, slots=True)
class SecretPattern:
    hints: tuple[str, ...]
    """Every match contains one of these lower-case strings."""

    pattern: str
    """Group 1 is kept, group 2 is the possible secret. Compiled on first use."""

    proof: Callable[[str], object] = looks_secret
    """The condition on group 2."""

    def blank(self, match: re.Match[str]) -> str:
        return f"{match[1]}{REDACTED}" if self.proof(match[2]) else match[0]


# A value has no bracket, so that redacting a text twice changes nothing.
_QUOTE = r"(?:\\{0,8}[\"']|&(?:quot|#\w{2,3});|%22)"
_VALUE = r"((?<=[\"'])[^\s\"'`<>\\\[\]]+|(?![\w.]+\((?:[\"']|[^)\n]{0,99}\)))(?:(?!%22)[^\s\"'`,;&<>\\\[\]])+)"
_IS = rf"(?:{_QUOTE}?\s{{0,4}}(?:=>|[:=]|%3A|,(?= b'))\s{{0,4}}(?:b?{_QUOTE})?|\({_QUOTE}(?=\w{{16}}))"

PATTERNS = (
    SecretPattern(
        ("private key-----",),
        r"()(-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY-----|\Z))",
        re.compile(r"[\w+/]{30}").search,
    ),
    SecretPattern(
        ("@",),
        r"(:(?:\\?/){2})([^\s/\"'<>\\\[\]?#]+)(?=@)",
        lambda value: not _PLACEHOLDER.fullmatch(value.rpartition(":")[2]) if ":" in value else looks_secret(value, 16),
    ),
    SecretPattern(
        ("authorization",),
        rf"(?i)(authorization{_IS}(?!\S{{1,30}} \[)(?:[A-Za-z][\w-]{{0,30}}\s{{1,4}})?){_VALUE}",
    ),
    SecretPattern(("bearer",), r"(?i)(\bbearer\s{1,4})([\w.~+/=-]+)"),
    SecretPattern(("basic",), r"(?i)(\bbasic\s{1,4})([A-Za-z0-9+/]+={0,2})", _basic_credential),
    SecretPattern(
        ("cookie",),
        rf"(?i)(cookie{_IS}|[<-]cookie [\"']?)([\w.-]+=[^\s;\"'\\\[\]]*(?:;\s?[\w.-]+=[^\s;\"'\\\[\]]*)*)",
    ),
    SecretPattern(
        ("passw", "pwd"),
        rf"(?i)((?:passw(?:or)?d|pwd){_IS}){_VALUE}",
        lambda value: looks_secret(value, 6),
    ),
    SecretPattern(
        ("key", "token", "secret", "passphrase", "signature", "credential", "sess"),
        (
            # The first letters, because an alternation is slow at each character.
            r"(?i)((?=[acempst])(?:(?:api|access|account|secret|private|subscription|encryption|signing|master|auth)"
            rf"[-_ ]?key|token|secret|passphrase|signature|credentials?|sess(?:ion)?[-_]?id){_IS}){_VALUE}"
        ),
    ),
    SecretPattern(
        ("--", "curl", "auth=("),
        (
            r"((?<![\w-])(?:-(?:u|-user)(?=.\S{1,80}:)|--[\w-]{0,30}(?:-key|token|secret|password)|"
            r"auth=\([\"'][^\"'\n]{1,80})(?:[\"'],)?[ =][\"']?)((?<=[\"'])[^\"'\n]+|[^\s\"']+)"
        ),
    ),
    SecretPattern(
        ("hooks.slack.com/", "/api/webhooks/"),
        r"(hooks\.slack\.com/\w{4,20}/|/api/webhooks/\d{1,30}/)([\w/-]{20,})",
        bool,
    ),
    # No match starts inside another, which keeps the time linear.
    SecretPattern(("eyj",), r"(?a)(?<![\w.-])()(eyJ[\w-]{8,}\.[\w-]{8,}(?:\.[\w-]*){1,3})", bool),
)
KEY = SecretPattern(
    (),
    (
        r"(?a)(?<![A-Za-z0-9])()((?:[rs]k_(?:live|test)_|whsec_|gsk_|lsv2_|hf_|npm_|dop_v1_|shpat_|github_pat_|"
        r"gh[oprsu]_|dckr_pat_|r8_|jina_|ntn_|pcsk_|glsa_|sk-|xai-|pplx-|pypi-|glpat-|nvapi-|tvly-|xapp-|"
        r"xox[abeprs]-|dapi|AIza|ya29\.|SG\.|ATATT|bot\d{8,12}:AA|A[KS]IA(?=[0-9A-Z]{16}\b))[\w.-]{10,})"
    ),
    _RANDOM_RUN.search,
)
"""A key of a service, which is sought in long words. Most prose lacks these."""


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
    shown = []
    for pair in query.split("&"):
        name, equals, value = pair.partition("=")
        shown.append(name + equals + (REDACTED if is_secret_parameter(name, value) else value))
    return "&".join(shown)


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
