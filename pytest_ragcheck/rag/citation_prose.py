"""Separates the prose of an answer from code, formulas, images, JSON and definitions of footnotes."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from pytest_ragcheck.rag.citation_targets import expanded, named_pattern

_NO_PROSE = named_pattern("no_prose")
# Matches every text that `_NO_PROSE` matches, unless it begins with an indent, in a tenth of the time.
_MAY_BE_NO_PROSE = re.compile(r"[`$\\]|~~~|!\[|[\"']\s*:\s*\[|\n[ \t]|\[[ xX]\]")
_INDENTS = (" ", "\t")
_BRACKET = re.compile(r"[\[(（【［]")
_IMAGE_LABEL = re.compile(r"!\[[^\[\]\n]{0,300}\]\[([^\[\]\n]{1,200})\]")
_DEFINITION = named_pattern("definition")
_LINK = named_pattern("link")
_LINE = re.compile(r"[^\r\n]+")
_LIST_HEADING = named_pattern("list_heading")
_LISTED = named_pattern("listed")


@dataclass(frozen=True, slots=True)
class Definition:
    """A footnote, or an entry in a list of sources."""

    place: tuple[int, int]
    label: str
    text: str
    heading: tuple[int, int] | None = None
    """The place of the line above the list; None for a definition outside of a list."""
    is_footnote: bool = False

    @property
    def address(self) -> str:
        """The address, if the definition is that of a Markdown link; otherwise empty."""
        link = None if self.is_footnote or self.heading else _LINK.fullmatch(self.text)
        return link["address"] if link else ""


def prose_of(text: str) -> str:
    """
    The text with spaces in place of code, formulas, images, arrays of JSON and the boxes of task lists.

    Code in a line stays if it has no bracket, because it has no marker and may be the name in `(source: ...)`.
    """
    if not _MAY_BE_NO_PROSE.search(text) and text[:1] not in _INDENTS:
        return text

    def replaced(match: re.Match[str]) -> str:
        return match[0] if match["ticks"] and not _BRACKET.search(match[0]) else " " * len(match[0])

    return _NO_PROSE.sub(replaced, text)


def used_definitions(text: str, prose: str) -> list[Definition]:
    """All footnotes, and other definitions and lists if markers or images of the text refer to one in them."""
    found = list(_defined(prose))
    if not found:
        return []
    used = set(_IMAGE_LABEL.findall(text))
    for inside in re.findall(r"\[([^\[\]\n]{1,200})\]", blanked(prose, (each.place for each in found))):
        used.update(expanded(inside) or (inside.strip().removeprefix("^"),))
    lists = {each.heading for each in found if each.label in used}
    return [each for each in found if each.is_footnote or each.heading in lists]


def blanked(text: str, places: Iterable[tuple[int, int]]) -> str:
    pieces: list[str] = []
    last = 0
    for start, end in sorted(places):
        pieces += (text[last:start], " " * (end - max(start, last)))
        last = max(end, last)
    return "".join((*pieces, text[last:]))


def _defined(prose: str) -> Iterator[Definition]:
    for match in _DEFINITION.finditer(prose):
        footnote = match[0].lstrip(" \t-*").startswith("[^")
        yield Definition(match.span(), match["label"].strip(" ^"), match["text"].strip(), is_footnote=footnote)
    heading: tuple[int, int] | None = None
    for line in _LINE.finditer(prose):
        entry = _LISTED.match(line[0]) if heading else None
        if _LIST_HEADING.fullmatch(line[0].strip(" \t#*_:：")):
            heading = line.span()
        elif entry:
            label = entry["mark"] or entry["number"]
            yield Definition(line.span(), label, entry["text"].strip(), heading=heading)
        elif line[0].strip():
            heading = None
