"""Escapes what a terminal, a CI runner or UTF-8 would not show, and decodes the escapes of servers."""

from __future__ import annotations

import re
import sys
from array import array
from bisect import bisect_left

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


_MOST_PASSES = 4
"""Escapes inside escapes of another notation are read up to this depth."""

_HEX = "[0-9A-Fa-f]"
_BYTE = r"(?:%(?:25)*|\\+x)"
_REFERENCE = "&(?:amp;)*"
# Patterns are compiled on first use, because many runs need none of them.
_ESCAPE = (
    # Percent-encoding and Python's bytes: an ASCII byte, or the bytes of one character in UTF-8.
    rf"(?P<bytes>{_BYTE}[0-7]{_HEX}|{_BYTE}[C-Fc-f]{_HEX}(?:{_BYTE}[89ABab]{_HEX}){{1,3}})"
    rf"|\\+u(?P<high>[Dd][89ABab]{_HEX}{{2}})\\+u(?P<low>[Dd][C-Fc-f]{_HEX}{{2}})"
    rf"|\\+u({_HEX}{{4}})|\\+U({_HEX}{{8}})|\\+u\{{({_HEX}{{1,8}})\}}|{_REFERENCE}\#[Xx]({_HEX}{{1,8}});"
    rf"|{_REFERENCE}\#(?P<decimal>[0-9]{{1,9}});|{_REFERENCE}(?P<name>amp|lt|gt|quot|apos);"
    r"|\\+(?P<letter>[bfnrt\"'/])|(?P<backslashes>\\+)"
)
_BYTE_OF_CHARACTER = rf"{_BYTE}({_HEX}{{2}})"
_NAMED = {"amp": "&", "lt": "<", "gt": ">", "quot": '"', "apos": "'"}
_LETTERS = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}

_HEX_OF_ALPHANUMERIC = "(?:3[0-9]|[46][1-9A-Fa-f]|[57][0-9Aa])"
_PERCENT_ENCODED = rf"%(?:25)*{_HEX_OF_ALPHANUMERIC}"
_BACKSLASHED = rf"\\(?:u00|x|u\{{0*|U000000){_HEX_OF_ALPHANUMERIC}"
_REFERENCED = (
    rf"{_REFERENCE}#(?:[Xx]0*{_HEX_OF_ALPHANUMERIC}"
    "|0*(?:4[89]|5[0-7]|6[5-9]|[78][0-9]|90|9[7-9]|1[01][0-9]|12[0-2]));"
)


def has_escaped_alphanumeric(text: str) -> bool:
    """True if an ASCII letter or digit is escaped, which no encoder needs to do."""
    # Searching for a character is much faster than matching a pattern.
    return (
        ("%" in text and re.search(_PERCENT_ENCODED, text) is not None)
        or ("\\" in text and re.search(_BACKSLASHED, text) is not None)
        or ("&" in text and re.search(_REFERENCED, text) is not None)
    )


class Unescaped:
    """
    A text with its escapes decoded, its backslashes removed, and each `+` replaced by a blank.

    If a text has a secret, escaped in whole or in part, then its unescaped text has the unescaped secret.
    Backslashes are removed, because one before an escape cannot be told from a part of the escape.
    """

    def __init__(self, text: str) -> None:
        self._passes: list[_Pass] = []
        while len(self._passes) < _MOST_PASSES:
            one = _Pass(text)
            if not one.places:
                break
            self._passes.append(one)
            text = one.text
        self.text = text.replace("+", " ")

    def source(self, start: int, end: int) -> tuple[int, int]:
        for one in reversed(self._passes):
            start, end = one.source(start), one.source(end)
        return start, end


class _Pass:
    def __init__(self, text: str) -> None:
        self.places = array("q")
        """Places of the escaped characters in the text that was read."""
        self._shorter = array("q", [0])
        """Characters saved before each of these places; the last number is for the whole text."""
        self.text = re.sub(_ESCAPE, self._character, text)

    def source(self, place: int) -> int:
        return place + self._shorter[bisect_left(self.places, place)]

    def _character(self, match: re.Match[str]) -> str:
        start, end = match.span()
        shorter = self._shorter[-1]
        character = _character(match)
        self.places.append(start - shorter)
        self._shorter.append(shorter + end - start - len(character))
        return character


def _character(match: re.Match[str]) -> str:
    notation, value = match.lastgroup, match[match.lastindex or 0]
    if notation == "bytes":
        return bytes.fromhex("".join(re.findall(_BYTE_OF_CHARACTER, value))).decode("utf-8", "replace")[0]
    if notation == "low":
        return chr(0x10000 + (int(match["high"], 16) - 0xD800 << 10) + int(value, 16) - 0xDC00)
    if notation == "name":
        return _NAMED[value]
    if notation == "letter":
        return _LETTERS.get(value, value)
    if notation == "backslashes":
        return ""
    code = int(value, 10 if notation == "decimal" else 16)
    return chr(code) if code <= sys.maxunicode else "\N{REPLACEMENT CHARACTER}"
