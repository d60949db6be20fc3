from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

from pytest_ragcheck.frozen import frozen

BASELINE_FILE = "ragcheck-baseline.json"
"""The default baseline of a run, in pytest's root folder."""

_IN_GIT = "git:"


@frozen
class BaselinePlace:
    path: Path
    rev: str | None = None
    """None for the work tree."""

    given: str = ""
    """The text, if it begins with `git:`."""

    @classmethod
    def from_text(cls, text: str) -> BaselinePlace:
        """Raises a ValueError for a text that begins with `git:` but is not `git:REV:PATH`."""
        if not text.startswith(_IN_GIT):
            return cls(path=Path(text))
        rev, _, path = text.removeprefix(_IN_GIT).partition(":")
        if not rev.strip() or rev.startswith("-") or not path.strip():
            raise ValueError("is not git:REV:PATH; write, for example, git:origin/main:tests/baseline.json")
        return cls(path=Path(path), rev=rev, given=text)

    def resolved_in(self, folder: Path) -> BaselinePlace:
        """The place with an absolute path; as in git, a path begins at the top of the repository, or with `./` here."""
        if self.rev is not None and not self.given.removeprefix(f"{_IN_GIT}{self.rev}:").startswith(("./", "../")):
            folder = next((each for each in (folder, *folder.parents) if (each / ".git").exists()), folder)
        return replace(self, path=Path(os.path.normpath(folder / self.path)))

    def __str__(self) -> str:
        return self.given or self.path.as_posix()
