"""Collects the mistakes of a question file, so that the author sees all of them in one run."""

from __future__ import annotations

from dataclasses import dataclass, field

from pytest_ragcheck.redaction.printable import printable

_SHOWN_LINES = 5
_SHOWN_ALL = 3
"""Maximum number of mistakes of one kind that are all shown."""


@dataclass(slots=True)
class Mistakes:
    shown_path: str
    """The path relative to the root, with forward slashes."""

    found: list[tuple[int, str, str]] = field(default_factory=list)
    """The line, the text with its remedy, and the kind of each mistake; many of one kind are shown as one."""

    def texts(self) -> list[str]:
        """
        Return printable texts, `file:line: ...`, in the order of their lines, each once.

        More than three mistakes of one kind are shown as the first and the number of the others.
        """
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
