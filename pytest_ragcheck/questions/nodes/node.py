"""The tree of a YAML or JSON text, with the line of each value, and the mistakes in it."""

# Both formats have the same tree, which keeps each scalar as typed: the field decides whether `1972`, `no` or
# `2024-01-01` is a text, a number or a flag.

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

from pytest_ragcheck.redaction.printable import printable

MAX_DEPTH = 100
"""Maximum levels of nesting; a question file needs six, and Python's stack allows about 900."""

NULLS = frozenset({"", "~", "null", "Null", "NULL"})

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
    """All mistakes of a question file."""

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
