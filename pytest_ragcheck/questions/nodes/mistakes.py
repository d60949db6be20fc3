"""Collects the mistakes of a question file, so that the author sees all of them in one run."""

from __future__ import annotations

from dataclasses import dataclass, field

from pytest_ragcheck.redaction.printable import printable


@dataclass(slots=True)
class Mistakes:
    """All mistakes of one file."""

    shown_path: str
    """The path relative to the root, with forward slashes."""

    found: list[tuple[int, str]] = field(default_factory=list)

    def add(self, line: int, text: str) -> None:
        """Adds a mistake on *line*; *text* says what is wrong and what to do."""
        self.found.append((line, text))

    def texts(self) -> list[str]:
        """One printable text a mistake, `file:line: ...`, in the order of the lines, each once."""
        in_order = sorted(self.found, key=lambda mistake: mistake[0])
        return list(dict.fromkeys(printable(f"{self.shown_path}:{line}: {text}") for line, text in in_order))


@dataclass(frozen=True, slots=True)
class Site:
    """The part of a file that is being read: the whole file, its defaults or one question."""

    mistakes: Mistakes
    subject: str
    """The first words of every mistake, such as `question 'refund-window'`."""

    def mistake(self, line: int, predicate: str) -> None:
        """Adds the mistake `subject predicate`; the predicate ends with what to do."""
        self.mistakes.add(line, f"{self.subject} {predicate}")
