"""Searches answers for mentions: plain texts, or regular expressions in slashes."""

from __future__ import annotations

import re
import unicodedata
import warnings
from html import unescape
from typing import TYPE_CHECKING

from pytest_ragcheck.errors import MeasurementError

if TYPE_CHECKING:
    from pytest_ragcheck.concurrency.search_process import SearchProcess

SEARCH_SECONDS = 5.0
"""Time limit of one regular expression on one answer."""

_REPEAT_SECONDS = 1.0
"""The time limit after the expression was stopped once."""

FLAGS = "gimsuyx"
"""Flags of regular expressions in other languages; only `i` is valid here."""

_REGEX = re.compile(rf"/(?P<pattern>.+)/(?P<flags>[{FLAGS}]*)", re.DOTALL)

# Letters and digits of scripts with spaces between words; Thai, Han, kana and Korean have no word boundaries.
# The vowel signs of Indian scripts are no letters for `re`.
_WORD = r"(?:(?=[^\W_])[\x00-\u0dff\u1e00-\u1fff]|[\u0900-\u0963\u0966-\u0dff])"
_BEFORE = (
    (rf"_|{_WORD}", rf"(?<!{_WORD})(?<![^\W_]_)"),
    (r"\d{1,3}(?!\d)", r"(?<!\d[.,])"),
    ("-", rf"(?<!{_WORD})"),
    (r"\S+@", r"(?<!\w[.+-])"),
)
_AFTER = (
    (rf"(?:_|{_WORD})$", rf"(?!{_WORD})(?!_[^\W_])(?!\+\+|#(?!\w))"),
    (r"\d$", r"(?![.,]\d)"),
    (r"((^|\s)(--|/)|@|://)\S*$", r"(?![.-]\w)"),
)
"""By the start or the end of a text, a condition on the text around it."""

_JOINT = re.compile("(?<=[^\0-\u0dff])(?!$)|(?<!^)(?=[^\0-\u0dff])")
_MARKUP = r"(?:[*_`]|</?\w+(?: [^<>]*)?>)*"
_ALIKE: dict[int, int | str | None] = {
    **{each: unicodedata.normalize("NFKC", chr(each)) for each in (*range(0x2080, 0x208A), *range(0xFB00, 0xFFEF))},
    **str.maketrans("\u2010\u2011\u2012\u2013\u2212\u2018\u2019\u02bc\u201c\u201d\u201e«»", '-----\'\'\'"""""'),
    **dict.fromkeys(map(ord, "\u00ad\u0640\u200b\u200c\u200d\u2060\ufeff")),
    0xDF: "ss",
}
"""Nothing for invisible characters; the characters of the keyboard for those that models write."""


def is_regex(mention: str) -> bool:
    """True for a regular expression in slashes, which may be invalid; a plain text always compiles."""
    return _REGEX.fullmatch(mention) is not None


def is_mentioned(mention: str, answer: str, search: SearchProcess, *, within_seconds: float = SEARCH_SECONDS) -> bool:
    """
    True if the answer contains *mention*, as `compile_mention` defines.

    Raises:
        MeasurementError: The regular expression took longer.
    """
    pattern = compile_mention(mention)
    if not is_regex(mention):
        return pattern.search(searched(answer)) is not None
    text = unicodedata.normalize("NFC", answer)
    if mention in search.stopped:
        within_seconds = min(within_seconds, _REPEAT_SECONDS)
    try:
        return search.is_found(pattern.pattern, pattern.flags, text, within_seconds=within_seconds)
    except TimeoutError:
        search.stopped.add(mention)
        raise MeasurementError(
            f"the regular expression {_shown(mention)} was stopped after {within_seconds:g} s "
            f"on an answer of {len(answer):,} characters. Write one in which no text can be matched in many ways, "
            "such as /a+b/ for /(a|aa)+b/."
        ) from None


def searched(text: str) -> str:
    """The text in which plain texts are searched."""
    return unicodedata.normalize("NFC", unescape(text).replace("\\_", "_").translate(_ALIKE))


def compile_mention(mention: str) -> re.Pattern[str]:
    """
    The pattern that finds *mention* by `search` in an answer, or for a plain text in the `searched` answer.

    A plain text matches in any case, with any white space, hyphen and quotation mark, and only as whole words, numbers,
    addresses, paths and options: `30 days` is in `_30 days_` and `**30** days`, and not in `130 days` or `2.30 days`.

    `/.../` is a regular expression of Python's `re`; `/.../i` ignores case.

    Raises:
        ValueError: The regular expression is invalid, or has a flag other than `i`.
    """
    regex = _REGEX.fullmatch(mention)
    if regex is not None:
        return _compile_regex(mention, regex["pattern"], regex["flags"])
    text = " ".join(searched(mention).split())
    # In scripts without spaces, Markdown emphasises parts of words: **30**日.
    body = rf"{_MARKUP}\s+{_MARKUP}".join(_JOINT.sub(r"(?:\*\*|</?[a-z]+>)?", re.escape(word)) for word in text.split())
    before = "".join(border for start, border in _BEFORE if re.match(start, text))
    after = "".join(border for end, border in _AFTER if re.search(end, text))
    return re.compile(f"(?-i:{before}){body}(?-i:{after})", re.IGNORECASE)


def _compile_regex(mention: str, pattern: str, flags: str) -> re.Pattern[str]:
    shown = _shown(mention)
    if flags not in {"", "i"}:
        raise ValueError(f"the regular expression {shown} has the flags {flags!r}. Use 'i' or none.")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # `re` warns of syntax that a later Python may change
            return re.compile(unicodedata.normalize("NFC", pattern), re.IGNORECASE if flags else 0)
    except re.error as error:
        raise ValueError(f"the regular expression {shown} is invalid: {error}. Correct it.") from error
    except (OverflowError, RecursionError) as error:
        raise ValueError(f"the regular expression {shown} is too large: {error}. Write a smaller one.") from error


def _shown(mention: str) -> str:
    return " ".join(mention.split())[:60]  # not its repr, which doubles every backslash
