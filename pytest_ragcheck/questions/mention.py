"""What `must_mention` and `must_not_mention` look for."""

from __future__ import annotations

import re
import unicodedata
import warnings

FLAGS = "gimsuyx"
"""What is written behind regular expressions somewhere; here `i` alone may be."""

_REGEX = re.compile(rf"/(?P<pattern>.+)/(?P<flags>[{FLAGS}]*)", re.DOTALL)

# A letter or digit of a script that sets words apart by spaces: Latin, Greek, Cyrillic, Hebrew, Arabic, Indic.
# Thai, Han and kana do not, and Korean hangs particles on its words: beside them no boundary can be asked for.
# As two ranges and case-sensitive: a negated class of all the others takes 9 ms to compile, this 0.3.
_WORD = r"(?=\w)[\x00-\u0dff\u1e00-\u1fff]"
_AT_WORD = re.compile(_WORD)


def is_regex(mention: str) -> bool:
    """Whether *mention* is a regular expression in slashes; a plain text can always be compiled."""
    return _REGEX.fullmatch(mention) is not None


def compile_mention(mention: str) -> re.Pattern[str]:
    """
    The pattern that finds *mention* in an answer, to be used with `search` on an NFC-normalised answer.

    A plain text is found whatever its case, with any white space where it has some, and only as whole words: where
    it begins or ends with a letter or digit, none may stand beside it (`30 days` is not in `130 days`).
    `/.../` is a regular expression of Python's `re`; `/.../i` ignores case.

    Raises:
        ValueError: The regular expression is invalid, or has a flag other than `i`.
    """
    regex = _REGEX.fullmatch(mention)
    if regex is not None:
        return _compile_regex(mention, regex["pattern"], regex["flags"])
    words = unicodedata.normalize("NFC", mention).split()
    body = r"\s+".join(re.escape(word) for word in words)
    before = rf"(?-i:(?<!{_WORD}))" if words and _AT_WORD.match(words[0]) else ""
    after = rf"(?-i:(?!{_WORD}))" if words and _AT_WORD.match(words[-1][-1]) else ""
    return re.compile(before + body + after, re.IGNORECASE)


def _compile_regex(mention: str, pattern: str, flags: str) -> re.Pattern[str]:
    shown = " ".join(mention.split())[:60]  # not its repr, which doubles every backslash
    if flags not in {"", "i"}:
        raise ValueError(f"the regular expression {shown} has the flags {flags!r}. Use 'i' or none.")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # `re` warns of what a later Python may read otherwise
            return re.compile(unicodedata.normalize("NFC", pattern), re.IGNORECASE if flags else 0)
    except re.error as error:
        raise ValueError(f"the regular expression {shown} is invalid: {error}. Correct it.") from error
    except (OverflowError, RecursionError) as error:
        raise ValueError(f"the regular expression {shown} is too large: {error}. Write a smaller one.") from error
