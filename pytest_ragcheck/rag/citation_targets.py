"""Reads the targets of a citation marker: numbers, and names or addresses of documents."""

from __future__ import annotations

import re
from collections.abc import Callable

from pytest_ragcheck.package_text import package_text

IsDocument = Callable[[str], bool]
"""True for a name that may be a document of the system."""

_WIDEST_RANGE = 20
"""A wider range, such as `[1-100]`, is an interval."""

_TEXTS = dict(
    line.split(" = ", 1)
    for line in package_text("rag/citations.txt").replace("\n    ", "").splitlines()
    if line[:1] not in ("", "#")
)


def named_pattern(name: str) -> re.Pattern[str]:
    return re.compile(_text(name))


def _text(name: str) -> str:
    return re.sub("<([A-Z_]+)>", lambda found: _text(found[1]), _TEXTS[name])


_OTHER_WORD = named_pattern("other_word")
_NUMBERS = named_pattern("numbers")
_SEPARATOR = named_pattern("separator")
_MOST_PARTS = 5
"""Most parts of a list that form one name, such as `Salt, Pepper and Oil.pdf`."""

_RANGE = re.compile(r"(\d{1,3})\^?(?:\s*[–—-]\s*\^?(\d{1,3}))?")
_PREFIX = named_pattern("prefix")
_NO_NAMES = frozenset({"none", "n/a", "unknown", "above", "below"})
_LOCATOR = named_pattern("locator")
_CHUNK = re.compile(r"(?:chunk|passage)\s*:?\s*\d+", re.IGNORECASE)
_FILE = named_pattern("file")
_PLACE_AT_END = named_pattern("place_at_end")
_ADDRESS = re.compile(r"https?://\S+", re.IGNORECASE)
_MESSAGE_AND_RESULT = re.compile(r"\d{1,3}:(\d{1,3})")
_INDEXES = named_pattern("indexes")
_LIST_MARK = re.compile(r"^\s*(?:[-*•]|\d{1,2}[.)])\s+")
_NUMBERED_NAME = re.compile(r"(\d{1,3})\s*[:：]\s*(.+)")


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


def bracket_targets(inside: str, is_document: IsDocument) -> tuple[str, ...]:
    """
    The targets in brackets of any kind; empty if the text is no citation.

    In `【4:0†terms.md】` the numbers are those of the message and of the result, from 0. In `[ID:0]` of RAGFlow and
    `[ref_id:0]` of Azure it is that of the result, unless it is an id.
    """
    inside, dagger, name = map(str.strip, inside.partition("†"))
    if dagger and is_source(name, is_document):
        return (name,)
    if place := dagger and _MESSAGE_AND_RESULT.fullmatch(inside):
        return (str(int(place[1]) + 1),)
    if _INDEXES.fullmatch(inside):
        return tuple(each if is_document(each) else str(int(each) + 1) for each in re.findall(r"\d+", inside))
    if numbers := expanded(inside):
        return numbers
    if _PREFIX.match(inside) and not is_document(_SEPARATOR.split(inside)[0].strip()):
        return named_targets(inside, is_document)
    parts = _parts(inside, is_document)
    known = all(part.isdecimal() or is_source(part, is_document) for part in parts)
    years = all(len(part) > 3 and part.isdecimal() and not is_document(part) for part in parts)
    return parts if known and not years else ()


def named_targets(inside: str, is_document: IsDocument) -> tuple[str, ...]:
    """The targets after a word such as `source:`, which makes any name a target; `see:` and `source` do not."""
    prefix = None if is_document(inside.strip()) else _PREFIX.match(inside)
    rest = (inside[prefix.end() :] if prefix else inside).strip(" []")
    if numbers := expanded(rest):
        return numbers
    if numbered := _NUMBERED_NAME.fullmatch(rest):
        number, name = numbered.groups()
        return (name,) if is_document(name) or _is_file(name) else (number,)
    if is_document(rest):
        return (rest,)
    parts = (part for part in _parts(rest, is_document) if part.casefold() not in _NO_NAMES)
    if prefix and not prefix["colon"]:
        return tuple(part for part in parts if expanded(part) or is_document(part))
    if prefix and _OTHER_WORD.fullmatch(prefix["word"]):
        return tuple(part for part in parts if expanded(part) or is_source(part, is_document))
    return tuple(parts)


def documents_in(inside: str, is_document: IsDocument) -> tuple[str, ...]:
    """The targets in round brackets without a word such as `source`; empty if the first is no known document."""
    parts = _parts(inside, is_document)
    return tuple(filter(is_document, parts)) if parts and is_document(parts[0]) else ()


def listed_targets(inside: str, is_document: IsDocument) -> tuple[str, ...]:
    """The numbers, documents, files and addresses after `Sources:`, in its line and in the list below."""
    targets: dict[str, None] = {}
    for line in inside.split("\n"):
        entry = _LIST_MARK.sub("", line).strip(" \t\r*_")
        named = (part for part in _parts(entry, is_document) if is_source(part, is_document))
        targets.update(dict.fromkeys(expanded(entry) or named))
    return tuple(targets)


def is_source(name: str, is_document: IsDocument) -> bool:
    """True for a document, the name of a file and an address."""
    return is_document(name) or _is_file(name) or _ADDRESS.fullmatch(name) is not None


def _parts(text: str, is_document: IsDocument) -> tuple[str, ...]:
    # The names of a list, without pages, sections and lines; other text after a file is a place.
    # `doc_1` is a number, and `Terms and Conditions.pdf` two names, unless a document has that id.
    names: dict[str, None] = {}
    separators = [each.span() for each in _SEPARATOR.finditer(text)]
    starts, ends = [0, *(end for _, end in separators)], [*(start for start, _ in separators), len(text)]
    first, has_file = 0, False
    while first < len(starts):
        wholes = [text[starts[first] : end].strip(" \t\"'*_`<>[]") for end in ends[first : first + _MOST_PARTS]]
        known = next((at for at in reversed(range(len(wholes))) if is_document(wholes[at])), None)
        name = _PLACE_AT_END.sub(r"\1", wholes[0]) if known is None else wholes[known]
        first += 1 + (known or 0)
        if not name or _LOCATOR.fullmatch(name) or (has_file and not is_source(name, is_document)):
            continue
        has_file = has_file or _is_file(name)
        if not _CHUNK.fullmatch(name) or all(map(str.isdecimal, names)):
            prefix = _PREFIX.match(name) if known is None else None
            names[name[prefix.end() :] if prefix else name] = None
    return tuple(names)


def _is_file(name: str) -> bool:
    return _FILE.fullmatch(name.partition("#")[0]) is not None
