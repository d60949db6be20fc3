"""The tree of a YAML or JSON text, with the line of each value."""

# Both formats have the same tree, which keeps each scalar as typed: the field decides whether `1972`, `no` or
# `2024-01-01` is a text, a number or a flag.

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

MAX_DEPTH = 100
"""Maximum levels of nesting; a question file needs six, and Python's stack allows about 900."""

NULLS = frozenset({"", "~", "null", "Null", "NULL"})


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
    """A text, a number, true, false or null."""

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
    """A YAML sequence or JSON array."""

    line: int
    items: list[Node]


@dataclass(frozen=True, slots=True)
class MappingNode:
    """A YAML mapping or JSON object."""

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
    """The error for a text that nests its values beyond `MAX_DEPTH`."""
    return Unreadable(
        line, f"nests values more than {MAX_DEPTH} levels deep. Write them flatter, or look for a missing bracket."
    )
