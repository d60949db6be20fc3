"""Keeps secrets out of everything that is shown or written."""

from __future__ import annotations

import base64
import binascii
import html
import json
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, quote_plus, unquote, unquote_plus, urlsplit

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

REDACTED = "[redacted]"

_SHORTEST_SECRET = 4
"""A shorter known value would blank out ordinary text."""

_SHORTEST_INSIDE_A_WORD = 8
"""A shorter known value, such as the password `test`, is no secret inside of `latest`."""

_LONGEST_REMEMBERED = 10_000
_MOST_REMEMBERED = 500_000
"""
Of texts up to that length so many characters are remembered, with what stands for them.

The same come again and again: names and keys in every row, passages in several answers, and all that a record holds
when it is made, when it is stored and when it is written.
"""

_CHARACTERS_OF_AN_ENTRY = 100
"""What remembering takes beside the text, in characters."""

_SECRET_PARAMETER = re.compile(
    r"(?:key|token|secret|signature|sig|passw(?:or)?d|pwd|auth|authorization|credentials?|session|sessionid|^code)$",
    re.IGNORECASE,
)
_SECRET_HEADER = re.compile(r"auth|cookie|key|token|secret|passw|sign|credential|session", re.IGNORECASE)
_LOOKS_RANDOM = re.compile(r"(?=.*\d)[\w+/=.~-]{20,}")
_RANDOM_RUN = re.compile(r"(?=[A-Za-z]*\d)[A-Za-z0-9]{12,}")
_ESCAPED_BY_GO = {ord(char): f"\\u{ord(char):04x}" for char in "<>&"}
_LONE_SURROGATE = re.compile("[\ud800-\udfff]")


def looks_secret(value: str, shortest: int = 8) -> bool:
    """Whether a value that stands where a secret may stand is one, and not the next word of a sentence."""
    return (
        len(value) >= shortest and any(map(str.isdigit, value)) and any(map(str.isalpha, value)) and "://" not in value
    )


def is_secret_header(name: str) -> bool:
    """Whether nobody should read the values of headers of this name."""
    return _SECRET_HEADER.search(name) is not None


def _is_password(value: str) -> bool:
    return looks_secret(value, shortest=6)


def _is_basic_credential(value: str) -> bool:
    try:
        decoded = base64.b64decode(value + "=" * (-len(value) % 4), validate=True).decode("utf-8")
    except (binascii.Error, UnicodeDecodeError):
        return False
    return ":" in decoded and decoded.isprintable()


@dataclass(frozen=True, slots=True)
class _Kind:
    """One kind of secret that its looks or its place give away."""

    hints: tuple[str, ...]
    """In lower case. Looking for them first saves the pattern's seconds on a long text that has none."""

    pattern: re.Pattern[str]
    """Group 1 says what stood there and stays, group 2 is what may be a secret."""

    proof: Callable[[str], bool] = bool
    """What group 2 must fulfil; it is no part of the pattern, so that nothing is read twice."""

    def blank(self, match: re.Match[str]) -> str:
        return f"{match[1]}{REDACTED}" if self.proof(match[2]) else match[0]


# No value may hold a bracket, so that text which was redacted once stays as it is.
_VALUE = r"[^\s\"'`,;&<>\\\[\]]"
_IS = r"(?:\\{0,2}[\"'])?\s{0,4}(?:=>|[:=])\s{0,4}(?:\\{0,2}[\"'])?"
# How the keys of well-known services begin. Prose has no underscore: one look tells that none of the first is there.
_UNDERSCORED = (
    "sk_live_", "sk_test_", "rk_live_", "rk_test_", "whsec_", "gsk_", "lsv2_", "hf_", "npm_", "dop_v1_", "shpat_",
    "github_pat_", "ghp_", "gho_", "ghu_", "ghs_", "ghr_",
)  # fmt: skip
_OTHERS = (
    "sk-", "xai-", "pplx-", "pypi-", "glpat-", "dapi", "xoxa-", "xoxb-", "xoxe-", "xoxp-", "xoxr-", "xoxs-", "AIza",
    "ya29.", "SG.",
)  # fmt: skip


def _key_of_service(prefixes: Iterable[str]) -> re.Pattern[str]:
    return re.compile(rf"(?<![A-Za-z0-9])()((?:{'|'.join(map(re.escape, prefixes))})[\w.-]{{10,}})", re.ASCII)


def _has_random_run(value: str) -> bool:
    return _RANDOM_RUN.search(value) is not None


_KINDS = (
    _Kind(
        ("private key-----",),
        re.compile(r"()(-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY-----|\Z))"),
    ),
    _Kind(
        ("@",),
        re.compile(r"(:(?:\\?/){2})([^\s/\"'<>\\\[\]?#]+)(?=@)"),
        lambda value: ":" in value or looks_secret(value, 16),
    ),
    _Kind(
        ("authorization",),
        re.compile(rf"(authorization{_IS}(?:[A-Za-z][\w-]{{0,30}}\s{{1,4}})?)({_VALUE}+)", re.IGNORECASE),
        looks_secret,
    ),
    _Kind(("bearer",), re.compile(r"(\bbearer\s{1,4})([\w.~+/=-]+)", re.IGNORECASE), looks_secret),
    _Kind(("basic",), re.compile(r"(\bbasic\s{1,4})([A-Za-z0-9+/]+={0,2})", re.IGNORECASE), _is_basic_credential),
    _Kind(
        ("cookie",),
        re.compile(rf"(cookie{_IS})([\w.-]+=[^\s;\"'\\\[\]]*(?:;\s?[\w.-]+=[^\s;\"'\\\[\]]*)*)", re.IGNORECASE),
        looks_secret,
    ),
    _Kind(("passw", "pwd"), re.compile(rf"((?:passw(?:or)?d|pwd){_IS})({_VALUE}+)", re.IGNORECASE), _is_password),
    _Kind(
        ("key", "token", "secret", "passphrase", "signature", "credential", "session"),
        re.compile(
            r"((?:(?:api|access|account|secret|private|subscription|encryption|signing|master|auth)[-_ ]?key|token|"
            rf"secret|passphrase|signature|credentials?|session[-_]?id){_IS})({_VALUE}+)",
            re.IGNORECASE,
        ),
        looks_secret,
    ),
    _Kind(
        ("hooks.slack.com/", "/api/webhooks/"),
        re.compile(r"(hooks\.slack\.com/\w{4,20}/|/api/webhooks/\d{1,30}/)([\w/-]{20,})"),
    ),
    _Kind(("_",), _key_of_service(_UNDERSCORED), _has_random_run),
    _Kind(
        ("sk-", "xai-", "pplx-", "pypi-", "glpat-", "dapi", "xox", "aiza", "ya29.", "sg."),
        _key_of_service(_OTHERS),
        _has_random_run,
    ),
    _Kind(("akia", "asia"), re.compile(r"\b()((?:AKIA|ASIA)[0-9A-Z]{16})\b")),
    # No start within what was read as one: else a text of nothing but beginnings takes quadratic time.
    _Kind(("eyj",), re.compile(r"(?<![\w.-])()(eyJ[\w-]{8,}\.[\w-]{8,}(?:\.[\w-]*){1,3})")),
)

_PARAMETER = re.compile(r"([?&]([\w.-]{1,80})=)([^&\s\"'<>\\\[\]#]{6,})")


class Redactor:
    """
    Replaces secrets in texts and in whole JSON documents.

    Args:
        secrets: Known secret values. Each is also found where it is percent-encoded, in base64 (as HTTP's Basic
            scheme sends a `user:password`), or escaped for JSON or HTML. One of less than 4 characters is not
            looked for, one of less than 8 only where it is a word by itself.
    """

    def __init__(self, secrets: Iterable[str] = ()) -> None:
        forms = {form for secret in secrets for form in _forms(secret.strip())}
        longest_first = sorted(forms, key=lambda form: (-len(form), form))
        self._remembered: dict[str, str] = {}
        self._characters = 0
        self._anywhere = [form for form in longest_first if len(form) >= _SHORTEST_INSIDE_A_WORD]
        self._words = [
            (form, re.compile(rf"(?<!\w){re.escape(form)}(?!\w)"))
            for form in longest_first
            if len(form) < _SHORTEST_INSIDE_A_WORD
        ]

    def text(self, text: str) -> str:
        """The text without secrets, and without lone surrogates, which no UTF-8 file can hold."""
        known = self._remembered.get(text)
        if known is None:
            known = self._redacted(text)
            # An equal text of a class of its own is not to come out for a plain one.
            if type(text) is str and len(text) <= _LONGEST_REMEMBERED:
                self._remember(text, known)
        return known

    def _remember(self, text: str, known: str) -> None:
        self._characters += len(text) + _CHARACTERS_OF_AN_ENTRY
        if self._characters > _MOST_REMEMBERED:
            self._remembered.clear()
            self._characters = 0
        self._remembered[text] = known

    def _redacted(self, text: str) -> str:
        for form in self._anywhere:
            text = text.replace(form, REDACTED)
        for form, pattern in self._words:
            if form in text:
                text = pattern.sub(REDACTED, text)
        lowered = text.lower()
        for kind in _KINDS:
            # Every text of every result comes here: `any` with a generator takes three times as long.
            for hint in kind.hints:
                if hint in lowered:
                    text = kind.pattern.sub(kind.blank, text)
                    break
        if "=" in text:
            text = _PARAMETER.sub(_blank_parameter, text)
        return text if text.isascii() else _LONE_SURROGATE.sub("\N{REPLACEMENT CHARACTER}", text)

    def document(self, value: Any) -> Any:
        """A copy of what JSON can hold, in which every string, keys too, went through `text`; the rest as text."""
        # Those that rows are made of come first: every value of every result comes here.
        if type(value) is str:
            return self.text(value)
        if value is None or isinstance(value, bool | int) or (isinstance(value, float) and math.isfinite(value)):
            return value
        if type(value) is dict or isinstance(value, Mapping):
            return {self.text(str(key)): self.document(item) for key, item in value.items()}
        if isinstance(value, list | tuple):
            return [self.document(item) for item in value]
        return self.text(str(value))


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
        if _is_secret_parameter(name, value):
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


def _forms(secret: str) -> set[str]:
    if len(secret) < _SHORTEST_SECRET:
        return set()
    sendable = secret.encode("utf-8", "replace")
    percent = {quote(sendable, safe=""), quote(sendable), quote_plus(sendable)}
    lower_case = {re.sub("%..", lambda match: match[0].lower(), form) for form in percent}
    encoded = {code(sendable).decode("ascii").rstrip("=") for code in (base64.b64encode, base64.urlsafe_b64encode)}
    in_html = html.escape(secret)
    in_json = {json.dumps(secret)[1:-1], json.dumps(secret, ensure_ascii=False)[1:-1]}
    slashed = {form.replace("/", "\\/") for form in in_json}
    # As the encoders of other languages write them: Go's of JSON, Jinja's and Django's of HTML.
    others = {form.translate(_ESCAPED_BY_GO) for form in in_json} | {in_html.replace("&#x27;", "&#39;")}
    twice = {quote(form, safe="") for form in percent}
    in_python = {repr(secret)[1:-1], repr(sendable)[2:-1]}
    forms = {secret, in_html, *percent, *twice, *lower_case, *encoded, *in_json, *slashed, *others, *in_python}
    return {form for form in forms if form not in REDACTED}


def _blank_parameter(match: re.Match[str]) -> str:
    return f"{match[1]}{REDACTED}" if _SECRET_PARAMETER.search(match[2]) else match[0]


def _is_secret_parameter(name: str, value: str) -> bool:
    if not value:
        return False
    return bool(_SECRET_PARAMETER.search(unquote_plus(name)) or _LOOKS_RANDOM.fullmatch(unquote_plus(value)))


def _shown_pair(pair: str) -> str:
    name, _, value = pair.partition("=")
    return f"{name}={REDACTED}" if _is_secret_parameter(name, value) else pair
