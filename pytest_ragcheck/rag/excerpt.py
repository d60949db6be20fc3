"""The first part of a reply's body, fit for one line of a terminal."""

from __future__ import annotations

import html
import re

LONGEST = 300
"""Characters of an excerpt, at most."""

_HTML_START = re.compile(r"\s*(<!--.*?-->\s*)*<(!doctype\s+html|html|head|body)\b", re.IGNORECASE | re.DOTALL)
_TITLE = re.compile(r"<title[^>]*>(.*?)</title>", re.IGNORECASE | re.DOTALL)
_UNSEEN = re.compile(r"<(script|style)\b.*?(</\1>|\Z)|<!--.*?(-->|\Z)|<[^>]*>", re.IGNORECASE | re.DOTALL)


def excerpt(text: str, longest: int = LONGEST) -> str:
    """The start of the text on one line, without control characters, at most *longest* characters."""
    # Four times as much is enough to fill the line even where it begins with much white space.
    line = " ".join(text[: longest * 4].split())
    line = "".join(character if character.isprintable() else "\N{REPLACEMENT CHARACTER}" for character in line)
    return line if len(line) <= longest else line[: longest - 1].rstrip() + "…"


def is_html(text: str) -> bool:
    """True where the text begins as an HTML page does."""
    return _HTML_START.match(text) is not None


def quoted(text: str) -> str:
    """An excerpt as it stands in a message: JSON bare, HTML by its title, other text in quotes; `no body` if empty."""
    if is_html(text):
        title = _TITLE.search(text)
        words = excerpt(html.unescape(title.group(1) if title else _UNSEEN.sub(" ", text)), 120)
        return f'HTML page "{words}"' if words else "HTML page without text"
    line = excerpt(text)
    if not line:
        return "no body"
    return line if line[0] in "{[" else f'"{line}"'
