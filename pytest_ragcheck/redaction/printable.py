"""Escapes or replaces the parts of a text that a terminal, a CI runner or UTF-8 would not show."""

from __future__ import annotations

import re

# Tabs, line ends and the joiners of emoji and Persian are safe.
_UNSAFE = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u061c\u115f\u1160\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\u3164"
    "\ud800-\udfff\ufeff\ufff9-\ufffb\U000e0000-\U000e0fff]"
    # Azure's runner executes "##vso[" and "##[" anywhere in a line, GitHub's "::" at its start.
    r"|(?<=#)#(?=(?:vso)?\[)|^[^\S\n]*:(?=:\w)",
    re.IGNORECASE | re.MULTILINE,
)

SURROGATE = re.compile("[\ud800-\udfff]")
"""A surrogate in a text of Python, which is always a lone one."""


def printable(text: str) -> str:
    """The text with control characters, invisible characters and runner commands as Python escapes."""
    return _UNSAFE.sub(_escape, text)


def _escape(match: re.Match[str]) -> str:
    blanks, last = match[0][:-1], match[0][-1]
    escape = f"\\x{ord(last):02x}" if last in "#:" else last.encode("unicode_escape").decode("ascii")
    return blanks + escape


def sound(text: str) -> str:
    """The text without lone surrogates, which UTF-8 cannot encode."""
    return text if text.isascii() else SURROGATE.sub("\N{REPLACEMENT CHARACTER}", text)
