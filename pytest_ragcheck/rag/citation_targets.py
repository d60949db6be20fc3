"""Reads what a citation marker refers to: numbers, and names or addresses of documents."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

_WIDEST_RANGE = 20
"""A wider range, such as `[1-100]`, is an interval."""

SOURCE_WORDS = (
    r"sources?|references?|refs?|citations?|cited|docs?|documents?|passages?|contexts?|chunks?|see|quellen?|fuentes?"
    r"|fontes?|fonti?|bronn?en?|источники?|источника|来源|出典|출처"
)
_NUMBERS = re.compile(r"\^?#?\d{1,3}(?:\s*(?:[,;&–—-]|and)\s*\^?#?\d{1,3})*", re.IGNORECASE)
_RANGE = re.compile(r"(\d{1,3})(?:\s*[–—-]\s*\^?(\d{1,3}))?")
_PREFIX = re.compile(rf"(?:{SOURCE_WORDS})(?:\s*[:：]\s*|[\s#_]+(?=\d))", re.IGNORECASE)
_LOCATOR = re.compile(
    r"(?:pp?|pages?|pg|sec|sections?|chapters?|ch|lines?|paragraphs?|para|§+|seiten?|s|стр)\.?\s*\d+(?:[.–—-]\d+)*"
    r"|l\d+(?:[–—-]l?\d+)?|\d{1,4}[–—-]\d{1,4}",
    re.IGNORECASE,
)
_FILE = re.compile(
    r"[^\s,;:|]{1,150}\.(?:adoc|csv|docx?|epub|html?|json|log|md|mdx|odt|pdf|pptx?|rst|rtf|tex|txt|xlsx?|xml|ya?ml)",
    re.IGNORECASE,
)
URL = re.compile(r"https?://\S+", re.IGNORECASE)
_NUMBERED_NAME = re.compile(r"(\d{1,3})\s*[:：]\s*(.+)")
_LINES = re.compile(r"(?<=[A-Za-z]):\d+(?:[–—-]\d+)?$")


def expanded(text: str) -> tuple[str, ...]:
    """The numbers of a list such as `1, 3-5`; empty if the text is anything else."""
    if not _NUMBERS.fullmatch(text.strip()):
        return ()
    numbers: list[str] = []
    for first, last in _RANGE.findall(text):
        if last and not 0 <= int(last) - int(first) <= _WIDEST_RANGE:
            return ()
        numbers += map(str, range(int(first), int(last or first) + 1))
    return tuple(numbers)


def bracket_targets(inside: str, is_document: Callable[[str], bool]) -> tuple[str, ...]:
    """The targets in square brackets; empty if the text is no citation."""
    if numbers := expanded(inside):
        return numbers
    if "†" in inside:
        return corner_targets(inside)
    if _PREFIX.match(inside) and not is_document(inside):
        return named_targets(inside, is_document)
    parts = _parts(inside)
    if parts and all(part.isdigit() or is_document(part) or is_file(part) or URL.fullmatch(part) for part in parts):
        return () if all(len(part) > 3 and part.isdigit() and not is_document(part) for part in parts) else parts
    return ()


def named_targets(inside: str, is_document: Callable[[str], bool]) -> tuple[str, ...]:
    """The targets after a word such as `source:`, which makes any name a target."""
    prefix = _PREFIX.match(inside)
    rest = (inside[prefix.end() :] if prefix else inside).strip(" []")
    if numbers := expanded(rest):
        return numbers
    if numbered := _NUMBERED_NAME.fullmatch(rest):
        number, name = numbered.groups()
        return (name,) if is_document(name) or is_file(name) else (number,)
    return (rest,) if is_document(rest) else _parts(rest)


def corner_targets(inside: str) -> tuple[str, ...]:
    """The targets of `【1†source】`, `【4:0†terms.md】` (message and result, from 0), `【terms.md】` and `【1】`."""
    number, dagger, name = (part.strip() for part in inside.partition("†"))
    if dagger and is_file(name):
        return (name,)
    _, colon, result = number.rpartition(":")
    if colon and result.isdigit():
        return (str(int(result) + 1),)
    return expanded(number) or _parts(number)


def _parts(text: str) -> tuple[str, ...]:
    """The names of a list, without pages, sections and lines."""
    names: dict[str, None] = {}
    for part in re.split(r"[,;|]\s*|\s+(?:and|und|et|y|и)\s+", text):
        name = _LINES.sub("", part.strip(" \t\"'*_`<>"))
        if name and not _LOCATOR.fullmatch(name):
            prefix = _PREFIX.match(name)
            names[name[prefix.end() :] if prefix else name] = None
    return tuple(names)


def is_file(name: str) -> bool:
    """True if the name has the extension of a document."""
    return _FILE.fullmatch(name.partition("#")[0]) is not None
