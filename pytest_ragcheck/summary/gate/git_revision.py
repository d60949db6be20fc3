"""A file as a git revision has it."""

from __future__ import annotations

import subprocess
from dataclasses import dataclass
from datetime import datetime, timezone
from typing import TYPE_CHECKING

from pytest_ragcheck.summary.predictions_reader import Unusable

if TYPE_CHECKING:
    from pathlib import Path

_LIMIT_SECONDS = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class InGit:
    """One file of one revision of the repository that its path lies in."""

    rev: str
    """A commit, tag or branch."""

    path: Path
    """Where the file is in a work tree; it need not be there now."""

    def read_bytes(self) -> bytes:
        """
        What the file holds in the revision.

        Raises:
            Unusable: git does not have it, or there is no git.
        """
        folder = next(folder for folder in self.path.parents if folder.is_dir())
        place = f"{self.rev}:./{self.path.relative_to(folder).as_posix()}"
        try:
            done = _git(folder, "show", place)
        except (OSError, subprocess.TimeoutExpired) as error:
            raise Unusable(f"git cannot be run: {error}. Give the path of a file.") from None
        if done.returncode:
            said = done.stderr.decode("utf-8", "replace").strip().partition("\n")[0] or "no reason given"
            raise Unusable(
                f"git does not have it ({said}). Give git:REV:PATH of a file that is committed there; "
                "a shallow clone has to fetch REV first."
            )
        return done.stdout


def committed(path: Path) -> datetime | None:
    """When the file's last change was committed; None where git does not know, or it has changed since."""
    try:
        changed = _git(path.parent, "diff", "--quiet", "HEAD", "--", path.name)
        last = _git(path.parent, "log", "-1", "--format=%ct", "--", path.name)
    except (OSError, subprocess.TimeoutExpired):
        return None
    seconds = last.stdout.decode("ascii", "replace").strip()
    return None if changed.returncode or not seconds.isdigit() else datetime.fromtimestamp(int(seconds), timezone.utc)


def _git(folder: Path, *arguments: str) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(  # noqa: S603 - its arguments are the user's own
        ["git", "-C", str(folder), *arguments],  # noqa: S607 - whichever git the user has
        capture_output=True,
        check=False,
        timeout=_LIMIT_SECONDS,
    )
