from __future__ import annotations

import subprocess
from pathlib import Path

from pytest_ragcheck.frozen import frozen
from pytest_ragcheck.summary.predictions_reader import Unusable

_LIMIT_SECONDS = 60


@frozen
class InGit:
    rev: str
    path: Path
    """The path of the file in the work tree, where it need not exist."""

    def read_bytes(self) -> bytes:
        """
        The content of the file in the revision.

        Raises:
            Unusable: The revision has no such file, or git is not installed.
        """
        folder, place = _folder_and_place(self.path)
        return _output(folder, "show", f"{self.rev}:./{place}")


def versions(file: InGit) -> list[InGit]:
    """
    The file in each commit up to its revision that changed it, oldest first.

    The revision may be a range such as `v1..main`. Merges follow the first parent, the main branch.

    Raises:
        Unusable: There is no such version, or git is not installed.
    """
    folder, place = _folder_and_place(file.path)
    options = ("--first-parent", "-m", "--diff-filter=AMT", "--reverse", "--format=%h")
    found = _output(folder, "log", *options, file.rev, "--", place).decode("ascii", "replace").split()
    if not found:
        raise Unusable(f"no commit of {file.rev} has it. Give git:REV:PATH of a file that is committed there.")
    return [InGit(rev=rev, path=file.path) for rev in found]


def _folder_and_place(path: Path) -> tuple[Path, str]:
    folder = next(folder for folder in path.parents if folder.is_dir())
    return folder, path.relative_to(folder).as_posix()


def _output(folder: Path, *arguments: str) -> bytes:
    try:
        done = subprocess.run(  # noqa: S603 - its arguments are the user's own
            ["git", "-C", str(folder), *arguments],  # noqa: S607 - whichever git the user has
            capture_output=True,
            check=False,
            timeout=_LIMIT_SECONDS,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise Unusable(f"git cannot be run: {error}. Give the path of a file.") from None
    if done.returncode:
        said = done.stderr.decode("utf-8", "replace").strip().partition("\n")[0] or "no reason given"
        raise Unusable(
            f"git does not have it ({said}). Give git:REV:PATH or git:REV:./PATH of a file that is committed there; "
            "a shallow clone has to fetch REV first."
        )
    return done.stdout
