"""Finds the citation markers in the prose of an answer, but not texts that only look like one."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from pytest_ragcheck.frozen import frozen, replace
from pytest_ragcheck.rag.citation_targets import (
    IsDocument,
    bracket_targets,
    documents_in,
    expanded,
    is_source,
    listed_targets,
    named_pattern,
    named_targets,
)

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


_MARKER = named_pattern("marker")
MAY_CITE = named_pattern("may_cite")
"""Matches every answer with a marker."""
_REFERENCE_LINK = named_pattern("reference_link")
_PAGE_OR_SCHEME = re.compile(r"[#/.]|(?!https?:)[a-z][a-z+.-]*:", re.IGNORECASE)
_WORD = re.compile(r"\w+")

_NAME_BEFORE = re.compile(r"([\w.]+)((?:\[[^\[\]\n]{1,50}\])*)$")
_VARIABLE = re.compile(r"\[[A-Za-z_]\w*\]")
_CODE_NAME = named_pattern("code_name")
_CODE_AFTER = re.compile(r"\s*(?:==?|\+=|-=)|\.[a-z_]\w*|[({]")
_INTERVAL_BEFORE = named_pattern("interval_before")


@frozen
class Marker:
    """One citation marker of an answer, such as `[1, 2]` or `(source: terms.md)`."""

    text: str
    """The marker as written."""

    start: int
    end: int
    """Its place in the answer."""

    targets: tuple[str, ...]
    """The references, at least one: numbers in digits, and names or addresses of documents."""

    label: str = ""
    """The words of a Markdown link, which belong to the sentence; empty for other markers."""


@frozen
class MarkedText:
    markers: tuple[Marker, ...] = ()
    definitions: Mapping[str, str]
    """The text of each footnote or list entry that a marker refers to, by label."""

    left_out: tuple[tuple[int, int], ...] = ()
    """The places of these definitions and of the headings above lists, no sentences of the answer."""

    def blanked(self, answer: str) -> str:
        """The answer with spaces in the places of its markers and definitions; it keeps its length."""
        places = list(self.left_out)
        for marker in self.markers:
            label = marker.start + (marker.text.index(marker.label) if marker.label else 0)
            places += ((marker.start, label), (label + len(marker.label), marker.end))
        return blanked(answer, places)


def find_markers(answer: str, contexts: Sequence[str], *, is_document: IsDocument) -> MarkedText:
    """
    The citation markers of the answer.

    Markers in code, formulas and images are no citations, nor are task lists, intervals, indexes such as `rows[0]`, and
    markers that a context has too, before or after the same words. The time grows in proportion to the length of
    the answer and of the contexts.
    """
    if not MAY_CITE.search(answer):
        return MarkedText(definitions={})
    prose = prose_of(answer)
    used = used_definitions(answer, prose)
    left_out = tuple(dict.fromkeys(place for each in used for place in (each.place, each.heading) if place))
    prose = blanked(prose, left_out)
    definitions = {each.label: each.text for each in used}
    links = {each.label: each.address for each in used if each.address}
    referring = list(_reference_links(prose, links))
    prose = blanked(prose, ((marker.start, marker.end) for marker in referring))
    # A link to a page such as #returns is no citation, even if its address is in a definition.
    elsewhere = {label for label, to in links.items() if _PAGE_OR_SCHEME.match(to) and not is_source(to, is_document)}
    markers = [
        marker
        for found in _MARKER.finditer(prose)
        if (marker := _marker(found, definitions, is_document)) is not None
        and not (marker.text.startswith("[") and marker.targets[0] in elsewhere)
        and not _is_index_or_interval(prose, marker)
    ]
    markers += (marker for marker in referring if is_source(marker.targets[0], is_document))
    if markers and (quotable := _surroundings(contexts)):
        markers = [marker for marker in markers if quotable.isdisjoint(_around(answer, marker.start, marker.end))]
    markers.sort(key=lambda marker: marker.start)
    markers = [replace(marker, text=answer[marker.start : marker.end]) for marker in markers]  # not as in the prose
    return MarkedText(markers=tuple(markers), definitions=definitions, left_out=left_out)


def _marker(found: re.Match[str], definitions: Mapping[str, str], is_document: IsDocument) -> Marker | None:
    label = ""
    if url := found["spaced"] or found["url"]:
        inner = found["label"].strip("[] ")
        targets = expanded(inner) or ((url,) if is_source(url, is_document) else ())
        label = "" if expanded(inner) or ("." in inner and inner in url) else inner  # a site or file
    elif inside := found["round"]:
        targets = named_targets(inside, is_document)
    elif inside := found["document"]:
        targets = documents_in(inside, is_document)
    elif (inside := found["listed"]) is not None:
        has_answer = _WORD.search(found.string, 0, found.start()) is not None
        targets = listed_targets(inside, is_document) if has_answer else ()
    elif inside := found["corner"]:
        targets = bracket_targets(inside, is_document)
    else:
        inside = found["bracket"].strip()
        is_defined = inside.removeprefix("^") in definitions
        targets = (inside.removeprefix("^"),) if is_defined else bracket_targets(inside, is_document)
        if "]" in inside:  # a range such as [1]–[3]
            targets = expanded(re.sub(r"[][]", "", inside)) or tuple(re.findall(r"\d+", inside))
    if not targets:
        return None
    start, end = _span(found)
    return Marker(text=found.string[start:end], start=start, end=end, targets=targets, label=label)


def _span(found: re.Match[str]) -> tuple[int, int]:
    # Without the break before a list.
    return found.start() + (found["listed"] is not None), found.end()


def _reference_links(prose: str, links: Mapping[str, str]) -> Iterator[Marker]:
    # Each Markdown link such as `[the terms][t]`, with the address of its definition; `[1][2]` is no link.
    for found in _REFERENCE_LINK.finditer(prose) if links else ():
        label = found["label"].strip()
        address = links.get(found["reference"].strip() or label)
        if address and not expanded(label):
            start, end = found.start(), found.end("reference") + 1
            yield Marker(text=prose[start:end], start=start, end=end, targets=(address,), label=label)


def _is_index_or_interval(prose: str, marker: Marker) -> bool:
    if not prose.startswith("[", marker.start) or prose.endswith(")", marker.start, marker.end):
        return False
    before, after = prose[max(0, marker.start - 60) : marker.start], prose[marker.end : marker.end + 20]
    first, *others = marker.targets
    if others and (first == "0" or _INTERVAL_BEFORE.search(before)):
        return True
    if marker.text.startswith("[^") or not first.isdigit():
        return False
    attached = _NAME_BEFORE.search(before)
    if attached is None:
        return before.endswith(")") and _CODE_AFTER.match(after) is not None
    name, indexes = attached.groups()
    if name.strip(".").isdigit():
        return False
    in_code = _CODE_NAME.search(name.strip(".")) or _VARIABLE.search(indexes) or _CODE_AFTER.match(after)
    return in_code is not None or first == "0"


def _surroundings(contexts: Iterable[str]) -> set[tuple[str, ...]]:
    found: set[tuple[str, ...]] = set()
    for context in contexts:
        for match in _MARKER.finditer(context):
            found.update(_around(context, *_span(match)))
            if match["label"]:
                found.update(_around(context, match.start(), match.end("label") + 1))
    return found


def _around(text: str, start: int, end: int) -> Iterator[tuple[str, ...]]:
    before, after = text[max(0, start - 100) : start], text[end : end + 100]
    last, first = _WORD.findall(before)[-2:], _WORD.findall(after)[:2]
    if len(last) == 2:
        yield (*last, before[-1:].strip(), text[start:end])
    if len(first) == 2:
        yield (text[start:end], after[:1].strip(), *first)
