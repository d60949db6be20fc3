"""Puts a number before a noun, and a text on one line."""

from __future__ import annotations


def counted(count: int, noun: str) -> str:
    """`1 answer`, `2 answers`, `1,200 answers` and so on."""
    return f"{count:,} {noun}" + "s" * (count != 1)


def one_line(text: str, most: int) -> str:
    line = " ".join(text.split())
    return line if len(line) <= most else f"{line[: most - 3]}..."
