"""How far the passages that a sentence cites support it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class SentenceSupport:
    """Which of the passages that a sentence cites support it."""

    supported: bool
    """True if all of them together do."""

    alone: frozenset[int] = frozenset()
    """The numbers of those that do without the others."""

    needed: frozenset[int] = frozenset()
    """The numbers of those without which the others do not."""
