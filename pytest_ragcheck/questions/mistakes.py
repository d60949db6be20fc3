"""Mistakes of a question file, gathered so that an author sees all of them in one run."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(slots=True)
class Mistakes:
    """All mistakes of one file."""

    shown_path: str
    """The file as its author knows it: relative to the root, with forward slashes."""

    found: list[tuple[int, str]] = field(default_factory=list)

    def add(self, line: int, text: str) -> None:
        """Notes a mistake on *line*; *text* says what and what to do."""
        self.found.append((line, text))

    def texts(self) -> list[str]:
        """One text a mistake, `file:line: ...`, in the order of the lines; each once."""
        in_order = sorted(self.found, key=lambda mistake: mistake[0])
        return list(dict.fromkeys(f"{self.shown_path}:{line}: {text}" for line, text in in_order))


@dataclass(frozen=True, slots=True)
class Site:
    """Where mistakes are noted, and of what: the file, its defaults or one of its questions."""

    mistakes: Mistakes
    subject: str
    """The first words of every mistake, such as `question 'refund-window'`."""

    def mistake(self, line: int, predicate: str) -> None:
        """Notes `subject predicate`: what is wrong with the subject, then what to do."""
        self.mistakes.add(line, f"{self.subject} {predicate}")
