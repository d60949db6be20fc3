"""Finds the citation markers in an answer, and passes over texts that only look like one."""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING

from pytest_ragcheck.rag.citation_targets import (
    SOURCE_WORDS,
    URL,
    bracket_targets,
    corner_targets,
    expanded,
    is_file,
    named_targets,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

_CHARACTERS_READ = 100_000
_CONTEXTS_READ = 500_000
_MOST_MARKERS = 1_000
_MARKER = re.compile(
    r"\[(?P<label>(?:[^\[\]\n]|\[[^\[\]\n]{0,200}\]){1,200})\]\((?P<url>[^()\s]{1,2000})(?:\s+[\"'][^\"'\n]{0,200}[\"'])?\)"
    r"|[【［](?P<corner>[^【】［］\n]{1,200})[】］]"
    r"|\[(?P<bracket>[^\[\]\n]{1,200})\]"
    rf"|\((?P<round>(?:{SOURCE_WORDS})(?:\s*[:：]|\s+\#?(?=\d))[^()\n]{{1,200}})\)",
    re.IGNORECASE,
)
_MAY_CITE = re.compile(rf"[\[【［]|\((?:{SOURCE_WORDS})\b", re.IGNORECASE)

_NO_PROSE = re.compile(
    r"^(?P<fence>[ \t]*(?:`{3,}|~{3,})).*?(?:^(?P=fence)[`~]*[ \t]*$|\Z)"  # fenced code
    r"|(?:(?<=\n\n)|\A)(?:(?:    |\t)[^\n]*(?:\n|\Z))+"  # indented code
    r"|(?P<ticks>`+)(?!`).{1,2000}?(?<!`)(?P=ticks)(?!`)"  # code in a line
    r"|\$\$.{1,2000}?\$\$|(?<![\w$])\$[^\s$][^$\n]{0,200}(?<=[^\s$])\$(?![\w$])"  # formulas
    r"|!\[[^\[\]\n]{0,300}\]\([^()\n]{0,2000}\)"  # images
    r"|^[ \t]*(?:[-*+]|\d{1,3}[.)])[ \t]+\[[ xX]\](?=\s)",  # task lists
    re.MULTILINE | re.DOTALL,
)
_DEFINITION = re.compile(
    r"^[ \t]*(?:[-*][ \t]+)?\[\^?(?P<label>[^\[\]\n]{1,50})\]:[ \t]*(?P<text>[^\n]+)$", re.MULTILINE
)
_LIST_HEADING = re.compile(
    rf"^[ \t#*_]*(?:{SOURCE_WORDS}|bibliography|footnotes?)[ \t]*[:：]?[*_]*[ \t]*:?[ \t]*$", re.IGNORECASE
)
_LISTED = re.compile(
    r"^[ \t]*(?:[-*][ \t]+)?(?:\[\^?(?P<mark>\d{1,3})\]|(?P<number>\d{1,3})[.)])[ \t:–—-]*(?P<text>\S[^\n]*)$"
)

_NAME_BEFORE = re.compile(r"([\w.]+)((?:\[[^\[\]\n]{1,50}\])*)$")
_VARIABLE = re.compile(r"\[[A-Za-z_]\w*\]")
_CODE_NAME = re.compile(r"_|^[a-z]\d?$|(?:^|\.)(?:args?|argv|arr|array|data|dict|items|list|matrix|rows|tuple|vec)$")
_CODE_AFTER = re.compile(r"\s*(?:==?|\+=|-=)|\.[a-z_]\w*|\(")
_INTERVAL_BEFORE = re.compile(
    r"(?:\b(?:interval|range|domain|between|values? in|array|list|tuple|vector|set|ids?|indices|intervall|intervalle"
    r"|intervalo|bereich|диапазон\w*|интервал\w*)(?:\s+(?:of|is|from|in|de|von))?\s*:?|[∈=]|[\"']:)\s*$",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Marker:
    """One citation marker of an answer, such as `[1, 2]` or `(source: terms.md)`."""

    text: str
    """The marker as written."""

    start: int
    end: int
    """Its place in the answer."""

    targets: tuple[str, ...]
    """What it refers to, at least one: numbers in digits, and names or addresses of documents."""

    label: str = ""
    """The words of a Markdown link, which belong to the sentence; empty for other markers."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MarkedText:
    """The markers of an answer."""

    markers: tuple[Marker, ...] = ()
    """In their order."""

    definitions: Mapping[str, str]
    """By label, the text of each footnote or list entry that a marker refers to."""

    left_out: tuple[tuple[int, int], ...] = ()
    """The places of these definitions and of the heading above a list, which are no sentences of the answer."""

    def blanked(self, answer: str) -> str:
        """Return the answer with spaces in the places of its markers and definitions; it keeps its length."""
        places = list(self.left_out)
        for marker in self.markers:
            label = marker.start + (marker.text.index(marker.label) if marker.label else 0)
            places += ((marker.start, label), (label + len(marker.label), marker.end))
        return _blanked(answer, places)


@dataclass(frozen=True, slots=True)
class _Definition:
    """A footnote, or an entry in a list of sources."""

    place: tuple[int, int]
    label: str
    text: str
    heading: tuple[int, int] | None = None
    """The place of the line above the list."""
    is_footnote: bool = False


def find_markers(answer: str, contexts: Sequence[str], *, is_document: Callable[[str], bool]) -> MarkedText:
    """
    Return the citation markers of the answer.

    A marker in code, in a formula or in an image, a task list, an index such as `rows[0]`, an interval, and a marker
    that a context has after or before the same words, are not citations.

    Args:
        answer: The text of the answer; its first 100,000 characters and 1,000 markers are read.
        contexts: The contexts of the answer, from which it may quote; 500,000 characters are read.
        is_document: True for a name that may be one of the system's documents, known or not.
    """
    text = answer[:_CHARACTERS_READ]
    if not _MAY_CITE.search(text):
        return MarkedText(definitions={})
    prose = _NO_PROSE.sub(lambda match: " " * len(match[0]), text)
    used = _used_definitions(prose)
    left_out = tuple(dict.fromkeys(place for each in used for place in (each.place, each.heading) if place))
    prose = _blanked(prose, left_out)
    definitions = {each.label: each.text for each in used}
    quotes = " \0 ".join(" ".join(context.split()) for context in contexts)[:_CONTEXTS_READ]
    markers = tuple(
        marker
        for found in islice(_MARKER.finditer(prose), _MOST_MARKERS)
        if (marker := _marker(found, definitions, is_document)) is not None
        and not _is_index_or_interval(prose, marker)
        and not _is_quoted(prose, marker, quotes)
    )
    return MarkedText(markers=markers, definitions=definitions, left_out=left_out)


def _marker(found: re.Match[str], definitions: Mapping[str, str], is_document: Callable[[str], bool]) -> Marker | None:
    label = ""
    if (url := found["url"]) is not None:
        inner = found["label"].strip("[] ")
        targets = expanded(inner) or ((url,) if is_document(url) or URL.fullmatch(url) or is_file(url) else ())
        label = "" if expanded(inner) else inner
    elif (corner := found["corner"]) is not None:
        targets = corner_targets(corner)
    elif (inside := found["round"]) is not None:
        targets = named_targets(inside, is_document)
    else:
        inside = found["bracket"].strip()
        is_defined = inside.removeprefix("^") in definitions
        targets = (inside.removeprefix("^"),) if is_defined else bracket_targets(inside, is_document)
    if not targets:
        return None
    return Marker(text=found[0], start=found.start(), end=found.end(), targets=targets, label=label)


def _defined(prose: str) -> Iterator[_Definition]:
    """Each footnote, and each entry of a numbered list of sources."""
    for match in _DEFINITION.finditer(prose):
        footnote = match[0].lstrip(" \t-*").startswith("[^")
        yield _Definition(match.span(), match["label"].strip(), match["text"].strip(), is_footnote=footnote)
    place = 0
    heading: tuple[int, int] | None = None
    for line in prose.splitlines(keepends=True):
        text = line.rstrip("\n")
        span = (place, place + len(text))
        entry = _LISTED.match(text) if heading else None
        if _LIST_HEADING.match(text):
            heading = span
        elif entry:
            yield _Definition(span, entry["mark"] or entry["number"], entry["text"].strip(), heading=heading)
        elif text.strip():
            heading = None
        place += len(line)


def _used_definitions(prose: str) -> list[_Definition]:
    """The definitions that markers refer to, and all footnotes."""
    found = list(_defined(prose))
    if not found:
        return []
    used: set[str] = set()
    for inside in re.findall(r"\[([^\[\]\n]{1,200})\]", _blanked(prose, (each.place for each in found))):
        used.update(expanded(inside) or (inside.strip().removeprefix("^"),))
    lists = {each.heading for each in found if each.heading is not None and each.label in used}
    return [each for each in found if each.is_footnote or each.label in used or each.heading in lists]


def _blanked(text: str, places: Iterable[tuple[int, int]]) -> str:
    """The text with spaces in these places."""
    pieces: list[str] = []
    last = 0
    for start, end in sorted(places):
        pieces += (text[last:start], " " * (end - max(start, last)))
        last = max(end, last)
    return "".join((*pieces, text[last:]))


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


def _is_quoted(prose: str, marker: Marker, quotes: str) -> bool:
    """True if a context has the marker too, after the same two words or before them."""
    if marker.text not in quotes:
        return False
    before, after = prose[max(0, marker.start - 100) : marker.start], prose[marker.end : marker.end + 100]
    last, first = before.split()[-2:], after.split()[:2]
    gap, following = " " * before.endswith((" ", "\n")), " " * after.startswith((" ", "\n"))
    sought = [f"{' '.join(last)}{gap}{marker.text}"] if len(last) == 2 else []
    sought += [f"{marker.text}{following}{' '.join(first)}"] if len(first) == 2 else []
    return any(each in quotes for each in sought)
