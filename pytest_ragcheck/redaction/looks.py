"""What gives a secret away that nobody named: its looks, or the place where it stands."""

from __future__ import annotations

import base64
import binascii
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import unquote_plus

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

REDACTED = "[redacted]"

_SECRET_PARAMETER = re.compile(
    r"(?:key|token|secret|signature|sig|passw(?:or)?d|pwd|auth|authorization|credentials?|session|sessionid|^code)$",
    re.IGNORECASE,
)
_SECRET_HEADER = re.compile(r"auth|cookie|key|token|secret|passw|sign|credential|session", re.IGNORECASE)
_LOOKS_RANDOM = re.compile(r"(?=.*\d)[\w+/=.~-]{20,}")
_RANDOM_RUN = re.compile(r"(?=[A-Za-z]*\d)[A-Za-z0-9]{12,}")
_PARAMETER = re.compile(r"([?&]([\w.-]{1,80})=)([^&\s\"'<>\\\[\]#]{6,})")


def looks_secret(value: str, shortest: int = 8) -> bool:
    """Whether a value that stands where a secret may stand is one, and not the next word of a sentence."""
    return (
        len(value) >= shortest and any(map(str.isdigit, value)) and any(map(str.isalpha, value)) and "://" not in value
    )


def is_secret_header(name: str) -> bool:
    """Whether nobody should read the values of headers of this name."""
    return _SECRET_HEADER.search(name) is not None


def is_secret_parameter(name: str, value: str) -> bool:
    """Whether nobody should read the value of a URL's parameter of this name; both as they stand in the URL."""
    if not value:
        return False
    return bool(_SECRET_PARAMETER.search(unquote_plus(name)) or _LOOKS_RANDOM.fullmatch(unquote_plus(value)))


def blank_parameters(text: str) -> str:
    """The text, in which the values of parameters whose names say that they are secret are blanked."""
    return _PARAMETER.sub(_blank_parameter, text)


def _blank_parameter(match: re.Match[str]) -> str:
    return f"{match[1]}{REDACTED}" if _SECRET_PARAMETER.search(match[2]) else match[0]


def _is_password(value: str) -> bool:
    return looks_secret(value, shortest=6)


def _is_basic_credential(value: str) -> bool:
    try:
        decoded = base64.b64decode(value + "=" * (-len(value) % 4), validate=True).decode("utf-8")
    except (binascii.Error, UnicodeDecodeError):
        return False
    return ":" in decoded and decoded.isprintable()


@dataclass(frozen=True, slots=True)
class Kind:
    """One kind of secret that its looks or its place give away."""

    hints: tuple[str, ...]
    """In lower case. Looking for them first saves the pattern's seconds on a long text that has none."""

    pattern: re.Pattern[str]
    """Group 1 says what stood there and stays, group 2 is what may be a secret."""

    proof: Callable[[str], bool] = bool
    """What group 2 must fulfil; it is no part of the pattern, so that nothing is read twice."""

    def blank(self, match: re.Match[str]) -> str:
        """What stands in place of a match."""
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


KINDS = (
    Kind(
        ("private key-----",),
        re.compile(r"()(-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY-----|\Z))"),
    ),
    Kind(
        ("@",),
        re.compile(r"(:(?:\\?/){2})([^\s/\"'<>\\\[\]?#]+)(?=@)"),
        lambda value: ":" in value or looks_secret(value, 16),
    ),
    Kind(
        ("authorization",),
        re.compile(rf"(authorization{_IS}(?:[A-Za-z][\w-]{{0,30}}\s{{1,4}})?)({_VALUE}+)", re.IGNORECASE),
        looks_secret,
    ),
    Kind(("bearer",), re.compile(r"(\bbearer\s{1,4})([\w.~+/=-]+)", re.IGNORECASE), looks_secret),
    Kind(("basic",), re.compile(r"(\bbasic\s{1,4})([A-Za-z0-9+/]+={0,2})", re.IGNORECASE), _is_basic_credential),
    Kind(
        ("cookie",),
        re.compile(rf"(cookie{_IS})([\w.-]+=[^\s;\"'\\\[\]]*(?:;\s?[\w.-]+=[^\s;\"'\\\[\]]*)*)", re.IGNORECASE),
        looks_secret,
    ),
    Kind(("passw", "pwd"), re.compile(rf"((?:passw(?:or)?d|pwd){_IS})({_VALUE}+)", re.IGNORECASE), _is_password),
    Kind(
        ("key", "token", "secret", "passphrase", "signature", "credential", "session"),
        re.compile(
            r"((?:(?:api|access|account|secret|private|subscription|encryption|signing|master|auth)[-_ ]?key|token|"
            rf"secret|passphrase|signature|credentials?|session[-_]?id){_IS})({_VALUE}+)",
            re.IGNORECASE,
        ),
        looks_secret,
    ),
    Kind(
        ("hooks.slack.com/", "/api/webhooks/"),
        re.compile(r"(hooks\.slack\.com/\w{4,20}/|/api/webhooks/\d{1,30}/)([\w/-]{20,})"),
    ),
    Kind(("_",), _key_of_service(_UNDERSCORED), _has_random_run),
    Kind(
        ("sk-", "xai-", "pplx-", "pypi-", "glpat-", "dapi", "xox", "aiza", "ya29.", "sg."),
        _key_of_service(_OTHERS),
        _has_random_run,
    ),
    Kind(("akia", "asia"), re.compile(r"\b()((?:AKIA|ASIA)[0-9A-Z]{16})\b")),
    # No start within what was read as one: else a text of nothing but beginnings takes quadratic time.
    Kind(("eyj",), re.compile(r"(?<![\w.-])()(eyJ[\w-]{8,}\.[\w-]{8,}(?:\.[\w-]*){1,3})")),
)
