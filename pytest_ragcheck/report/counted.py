"""Puts a number before a noun."""

from __future__ import annotations


def counted(count: int, noun: str) -> str:
    """`1 answer`, `2 answers`, `1,200 answers` and so on."""
    return f"{count:,} {noun}" + "s" * (count != 1)
