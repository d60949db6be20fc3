"""Writes numbers, counts, names and texts in short forms for one line of a report."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Literal

from pytest_ragcheck.redaction.printable import printable

_LEAST_CUT = 20


def unequal(value: float, limit: float, sign: Literal["<", ">"]) -> str:
    """`0.41 < 0.70` or `3.201 > 2.125`; see `distinct` for the decimals."""
    shown = distinct(value, limit)
    if shown[0] == shown[1]:
        shown[0] = f"{math.ceil(value * 1e6) / 1e6:.6f}"  # only a maximum has more digits
    return f" {sign} ".join(shown)


def distinct(*numbers: float) -> list[str]:
    """The numbers with 2 to 6 decimals: all of the last number, and enough to distinguish unequal ones."""
    shown: list[str] = []
    for digits in range(2, 7):
        shown = [f"{number:.{digits}f}" for number in numbers]
        if len(set(shown)) == len(set(numbers)) and float(shown[-1]) == round(numbers[-1], 6):
            break
    return shown


def cut(text: str, limit: int) -> str:
    """The text on one printable line, cut at *limit* if the count of the rest is shorter; `(empty)` for no text."""
    line = " ".join(text.split())
    if len(line) <= limit + _LEAST_CUT:
        return printable(line) or "(empty)"
    return f"{printable(line[:limit].rstrip())} ... (+{len(line) - limit:,} characters)"


def some(names: Iterable[str], most: int, *, joint: str = ", ") -> str:
    """The first names and the number of the others: `a, b, 3 more`."""
    listed = list(names)
    shown = ", ".join(listed[:most])
    return f"{shown}{joint}{len(listed) - most} more" if len(listed) > most else shown


_LEAD = 60
"""Characters before a difference, and the fewest that are to be seen from it on."""


def counted(count: int, noun: str) -> str:
    """`1 answer`, `2 answers`, `1,200 answers` and so on."""
    return f"{count:,} {noun}" + "s" * (count != 1)


def one_line(text: str, most: int) -> str:
    line = " ".join(text.split())
    return line if len(line) <= most else f"{line[: most - 3]}..."


def from_difference(text: str, other: str, most: int) -> str:
    """The text on one line, without its beginning if its first *most* characters hide the difference from the other."""
    line, compared = (" ".join(each.split()) for each in (text, other))
    pairs = enumerate(zip(line, compared, strict=False))
    same = next((n for n, (a, b) in pairs if a != b), min(len(line), len(compared)))
    if line == compared or same <= max(most - _LEAD, _LEAD) or max(len(line), len(compared)) <= most:
        return line
    start = same - _LEAD
    return f"... {line[max(start, line.find(' ', start, same) + 1) :]}"
