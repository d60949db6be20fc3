"""Finds a known secret in the encodings in which servers and libraries repeat it."""

from __future__ import annotations

import base64
import re

_RUN_OR_CHARACTER = re.compile(r"\\+|[^\\]")
_NAMED = {"&": "amp", "<": "lt", ">": "gt", '"': "quot", "'": "apos"}
_SHORT = {"\b": "b", "\t": "t", "\n": "n", "\f": "f", "\r": "r"}
_BACKSLASHED = {*_SHORT, *"\"'/\\"}
_AMPERSAND = "&(?:amp;){0,2}"
_BACKSLASH = r"\\{1,4}"


def escaped_spellings(secret: str) -> str:
    """
    Return a regular expression for the secret with each character plain or escaped, in any mixture.

    A character may be percent-encoded, escaped for JSON, JavaScript or Python, or a reference of HTML, up to two more
    times over.
    """
    return "".join(_spellings(match[0]) for match in _RUN_OR_CHARACTER.finditer(secret))


def escape_hints(characters: str) -> list[str]:
    """Return the strings of which every text with an escape of one of the characters contains one."""
    hints = ["%", "\\u", "\\U", "\\x", "&#", ";#"]
    if not _BACKSLASHED.isdisjoint(characters):
        hints.append("\\")
    if not _NAMED.keys().isdisjoint(characters):
        hints.append("&")
    return [*hints, "+"] if " " in characters else hints


def base64_spellings(data: bytes) -> set[str]:
    """
    Return the base64 texts of which one occurs where *data* is encoded, alone or inside other data, once or twice.

    The first and the last character depend on the neighbouring bytes and are left out. Both alphabets are covered.
    """
    once = _parts(data)
    return once | {part for inner in once for part in _parts(inner.encode())}


def _parts(data: bytes) -> set[str]:
    found = {base64.b64encode(data).decode().rstrip("=")}
    for offset in range(3):
        encoded = base64.b64encode(bytes(offset) + data).decode()
        found.add(encoded[-(-8 * offset // 6) : 8 * (offset + len(data)) // 6])
    return found | {part.translate(str.maketrans("+/", "-_")) for part in found}


def _spellings(run: str) -> str:
    char, count = run[0], len(run)
    code = ord(char)
    data = char.encode("utf-8", "replace")
    units = char.encode("utf-16-be", "surrogatepass")
    found = [
        "".join(f"%(?:25){{0,2}}{_hex(f'{byte:02x}')}" for byte in data),
        "".join(rf"{_BACKSLASH}x{_hex(f'{byte:02x}')}" for byte in data),
        "".join(rf"{_BACKSLASH}u{_hex(units[at : at + 2].hex())}" for at in range(0, len(units), 2)),
        rf"{_BACKSLASH}(?:U{_hex(f'{code:08x}')}|u\{{0{{0,4}}{_hex(f'{code:x}')}\}})",
        f"{_AMPERSAND}#(?:0{{0,5}}{code}|[xX]0{{0,5}}{_hex(f'{code:x}')});",
    ]
    if char in _NAMED:
        found.append(f"{_AMPERSAND}{_NAMED[char]};")
    if char in _SHORT:
        found.append(f"{_BACKSLASH}{_SHORT[char]}")
    if char == " ":
        found.append(r"\+")
    plain = rf"\\{{0,4}}{char}" if char in "\"'/" else re.escape(char)
    # One quantifier for a run of backslashes, each of which may be doubled: several in a row would backtrack.
    times = f"{{{count},{4 * count}}}" if char == "\\" else ""
    return f"(?:{plain}|{'|'.join(found)}){times}"


def _hex(digits: str) -> str:
    return "".join(f"[{digit}{digit.upper()}]" if digit.isalpha() else digit for digit in digits)
