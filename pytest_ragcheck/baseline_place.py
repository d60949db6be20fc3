"""Where a baseline is, as a user writes it: the path of a file, or `git:REV:PATH`."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

_IN_GIT = "git:"


@dataclass(frozen=True, slots=True, kw_only=True)
class BaselinePlace:
    """A file, in the work tree or in a revision."""

    path: str
    rev: str | None = None
    """A git revision that has the file; None where the file itself is meant."""

    @classmethod
    def from_text(cls, text: str) -> BaselinePlace:
        """What the text names; a part of `git:REV:PATH` that is missing is empty."""
        if not text.startswith(_IN_GIT):
            return cls(path=text)
        rev, _, path = text.removeprefix(_IN_GIT).partition(":")
        return cls(path=path, rev=rev)

    def seen_from(self, folder: Path) -> BaselinePlace:
        """The same, its path relative to the folder if it is not absolute."""
        return replace(self, path=str(folder / self.path))

    def __str__(self) -> str:
        return self.path if self.rev is None else f"{_IN_GIT}{self.rev}:{self.path}"
