"""The tree of a YAML or JSON text, with the line of each value, its mistakes, and the functions that read values."""

# Both formats have the same tree, which keeps each scalar as typed: the field decides whether `1972`, `no` or
# `2024-01-01` is a text, a number or a flag.
#
# A function that reads returns None, or no items, if there is no entry. It adds a mistake for a value of another kind,
# and returns None or the valid part of a list. A file with mistakes has no questions, so that result has no effect.

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from pytest_ragcheck.redaction.printable import SURROGATE, printable

MAX_DEPTH = 100
"""Maximum levels of nesting; a question file needs six, and Python's stack allows about 900."""

NULLS = frozenset({"", "~", "null", "Null", "NULL"})
MAX_COUNT = 999_999_999

# JSON's numbers and YAML's `.7`. Digits with leading zeros, such as a postcode, are a text.
_NUMBER = re.compile(r"-?(?:(?:0|[1-9][0-9]*)(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][-+]?[0-9]+)?")
_INTEGER = re.compile(r"-?(?:0|[1-9][0-9]*)")
_YES = ("true", "yes", "on", "ja", "wahr", "oui", "vrai", "si", "sí", "vero", "verdadero")
_NO = ("false", "no", "off", "nein", "falsch", "nee", "non", "faux", "falso")
FLAGS = {each: each in _YES for each in (*_YES, *_NO)}
_NOT_FINITE = frozenset({"NaN", "Infinity", "-Infinity", ".nan", ".inf", "-.inf"})

_SHOWN_LINES = 5
_SHOWN_ALL = 3
"""Maximum number of mistakes of one kind that are all shown."""


class Unreadable(Exception):
    """
    The rest of the text cannot be read.

    Args:
        line: From 1.
        text: The mistake and its remedy, as the end of a sentence that begins with "the file".
    """

    def __init__(self, line: int, text: str) -> None:
        super().__init__(line, text)
        self.line = line
        self.text = text


@dataclass(frozen=True, slots=True)
class Scalar:
    line: int
    text: str
    """The text as typed, with quotes and escapes resolved."""

    quoted: bool
    """True if the value can only be a text: in quotes, a YAML block, or tagged `!!str`."""

    literal: bool = False
    """True for a JSON true, false or NaN, which cannot be meant as a text."""

    @property
    def is_null(self) -> bool:
        return not self.quoted and self.text in NULLS


@dataclass(frozen=True, slots=True)
class ListNode:
    line: int
    items: list[Node]


@dataclass(frozen=True, slots=True)
class MappingNode:
    line: int
    entries: list[Entry]
    """The entries in the file's order; a repeated key has an entry each time."""


Node = Scalar | ListNode | MappingNode


class Entry(NamedTuple):
    """A key of a mapping with its value, or the key of a list with one of the list's items."""

    key: str
    line: int
    value: Node


def too_deep(line: int) -> Unreadable:
    return Unreadable(
        line, f"nests values more than {MAX_DEPTH} levels deep. Write them flatter, or look for a missing bracket."
    )


@dataclass(slots=True)
class Mistakes:
    shown_path: str
    """The path relative to the root, with forward slashes."""

    found: list[tuple[int, str, str]] = field(default_factory=list)
    """The line, the text with its remedy, and the kind of each mistake; many of one kind are shown as one."""

    def texts(self) -> list[str]:
        """Printable texts, `file:line: ...`, in the order of their lines, each once, and few of one kind."""
        ordered = dict.fromkeys(sorted(self.found, key=lambda mistake: mistake[0]))
        lines: dict[str, list[int]] = {}
        for line, _, kind in ordered:
            lines.setdefault(kind, []).append(line)
        texts: dict[str, None] = {}
        folded: set[str] = set()
        for line, text, kind in ordered:
            is_folded = len(lines[kind]) > _SHOWN_ALL
            if not (is_folded and kind in folded):
                more = _more(lines[kind][1:]) if is_folded else ""
                texts[printable(f"{self.shown_path}:{line}: {text}{more}")] = None
                folded.add(kind)
        return list(texts)


def _more(others: list[int]) -> str:
    lines = list(dict.fromkeys(map(str, others)))
    shown = ", ".join(lines[:_SHOWN_LINES]) + " and others" * (len(lines) > _SHOWN_LINES)
    return f" {len(others)} more of this kind: line{'s' if len(lines) > 1 else ''} {shown}."


@dataclass(frozen=True, slots=True)
class Site:
    """The part of a file that is being read: the whole file, its defaults or one question."""

    mistakes: Mistakes
    subject: str
    """The first words of every mistake, such as `question 'refund-window'`."""

    def mistake(self, line: int, predicate: str, *, kind: str = "") -> None:
        """Add the mistake `subject predicate`, which ends with its remedy; its kind is the predicate by default."""
        self.mistakes.found.append((line, f"{self.subject} {predicate}", kind or predicate))


def described(node: Node) -> str:
    if isinstance(node, ListNode):
        return "a list"
    if isinstance(node, MappingNode):
        return "a mapping"
    if node.is_null:
        return "nothing"
    if not node.quoted and (_NUMBER.fullmatch(node.text) or node.text.lower() in FLAGS or node.text in _NOT_FINITE):
        return node.text if len(node.text) <= 60 else f"{node.text[:60]}..."
    return f"the text {shortened(node.text)}"


def shortened(text: str) -> str:
    return repr(text if len(text) <= 60 else f"{text[:60]}...")


def wrong_value(site: Site, entry: Entry, wanted: str) -> None:
    kind = f"another value under {entry.key!r}"
    site.mistake(entry.line, f"has {described(entry.value)} under {entry.key!r}. Write {wanted}.", kind=kind)


def read_text(site: Site, entry: Entry | None, wanted: str = "a text") -> str | None:
    """The text as typed, even if it is `1972` or `no`; never blank."""
    if entry is None:
        return None
    node = entry.value
    if not isinstance(node, Scalar) or node.is_null or node.literal:
        wrong_value(site, entry, "it in quotes, or null" if isinstance(node, Scalar) and node.literal else wanted)
        return None
    if not node.text.strip():
        site.mistake(entry.line, f"has a blank text under {entry.key!r}. Fill it in, or delete it.")
        return None
    return sound_text(site, entry, node.text)


def sound_text(site: Site, entry: Entry, text: str) -> str | None:
    """None for a text with a lone surrogate, which UTF-8 cannot encode."""
    if not text.isascii() and (surrogate := SURROGATE.search(text)):
        site.mistake(
            entry.line,
            f"has the lone surrogate \\u{ord(surrogate[0]):04x}, half a character, under {entry.key!r}. "
            "Write the whole character or delete it.",
        )
        return None
    return text


def one_or_more(entry: Entry | None) -> list[Entry]:
    """The items of a list; a single value counts as a list of one."""
    if entry is None:
        return []
    if not isinstance(entry.value, ListNode):
        return [entry]
    return [Entry(entry.key, item.line, item) for item in entry.value.items]


def read_texts(site: Site, entry: Entry | None) -> tuple[str, ...]:
    wanted = "a text or a list of texts"
    texts = (read_text(site, item, wanted) for item in one_or_more(entry))
    return tuple(filter(None, texts))


def read_flag(site: Site, entry: Entry | None) -> bool | None:
    if entry is None:
        return None
    node = entry.value
    if isinstance(node, Scalar) and is_flag(node):
        return FLAGS[node.text.lower()]
    wrong_value(site, entry, "true or false, without quotes")
    return None


def is_flag(node: Node) -> bool:
    return isinstance(node, Scalar) and not node.quoted and node.text.lower() in FLAGS


def read_whole_number(site: Site, entry: Entry, *, minimum: int) -> int | None:
    number = number_in(entry.value)
    # To JSON, 3 and 3.0 are one number.
    if number is not None and number.is_integer() and minimum <= number <= MAX_COUNT:
        return int(number)
    wrong_value(site, entry, f"a whole number from {minimum} to {MAX_COUNT}")
    return None


def read_threshold(site: Site, entry: Entry, *, is_maximum: bool = False) -> float | None:
    number = number_in(entry.value)
    if number is not None and (0 < number < math.inf if is_maximum else 0 <= number <= 1):
        return number
    wrong_value(site, entry, "a number above 0, such as 2" if is_maximum else "a number from 0 to 1, such as 0.7")
    return None


def number_in(node: Node) -> float | None:
    """The number in *node*, infinite if it is too large for a float; None if there is none."""
    if isinstance(node, Scalar) and not node.quoted and _NUMBER.fullmatch(node.text):
        return float(node.text)
    return None


def without_repeats(site: Site, node: MappingNode) -> dict[str, Entry]:
    by_key: dict[str, Entry] = {}
    for entry in node.entries:
        if entry.key in by_key:
            first = by_key[entry.key].line
            site.mistake(entry.line, f"has the key {shortened(entry.key)} twice, first on line {first}. Keep one.")
        else:
            by_key[entry.key] = entry
    return by_key


def json_mapping(site: Site, node: MappingNode) -> dict[str, Any]:
    entries = without_repeats(site, node).values()
    return {entry.key: _json_value(site, entry) for entry in entries if sound_text(site, entry, entry.key) is not None}


def _json_value(site: Site, entry: Entry) -> Any:
    node = entry.value
    if isinstance(node, MappingNode):
        return json_mapping(site, node)
    if isinstance(node, ListNode):
        return [_json_value(site, item) for item in one_or_more(entry)]
    return _json_scalar(site, entry, node)


def _json_scalar(site: Site, entry: Entry, node: Scalar) -> Any:
    if node.is_null:
        return None
    if not node.quoted:
        if node.text in {"true", "True", "TRUE", "false", "False", "FALSE"}:
            return node.text.lower() == "true"
        if _INTEGER.fullmatch(node.text) and len(node.text) <= 1000:
            return int(node.text)
        number = number_in(node)
        if number is not None and math.isfinite(number):
            return number
        if number is not None or node.text in _NOT_FINITE:
            wrong_value(site, entry, "a finite number, or a text in quotes")
    return sound_text(site, entry, node.text)
