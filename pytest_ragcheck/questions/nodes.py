"""
What a YAML or JSON text holds, with the line of everything.

Both formats are read into the same tree, which keeps each scalar as its author typed it: whether `1972`, `no` or
`2024-01-01` is a text, a number or a flag is for the field to say that it stands in.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

MAX_DEPTH = 100
"""Levels of lists and mappings inside each other; a question file needs six, and Python's stack bears about 900."""

NULLS = frozenset({"", "~", "null", "Null", "NULL"})


class Unreadable(Exception):
    """
    The text cannot be read on from here.

    Args:
        line: From 1.
        text: What is wrong and what to do, as a sentence's end after "the file".
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
    """As typed, quotes and escapes resolved."""

    quoted: bool
    """It cannot be but a text: in quotes, a YAML block or tagged `!!str`."""

    literal: bool = False
    """A JSON true or false, whose author cannot have meant a text."""

    @property
    def is_null(self) -> bool:
        """Nothing is given."""
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
    """In the file's order; a key that is given twice stands here twice."""


Node: TypeAlias = Scalar | ListNode | MappingNode


class Entry(NamedTuple):
    """One key of a mapping with its value; of a list's item, the list's key with the item."""

    key: str
    line: int
    value: Node


def too_deep(line: int) -> Unreadable:
    """The error for a text that nests its values beyond `MAX_DEPTH`."""
    return Unreadable(
        line, f"nests values more than {MAX_DEPTH} levels deep. Write them flatter, or look for a missing bracket."
    )
