"""Holds the folder that the processes of a run share, and the files in it that stop the run and mark its end."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

FOLDER = ".ragcheck"
"""Subfolder of the folder of the result files."""

UNWRITTEN = "unwritten"
"""A file in the folder of a run, until its results are written."""

STOP_FILE = "stopped"
"""A file in the folder of a run that was stopped, with the reason."""


def make_home(home: Path) -> None:
    """
    Create the folder of all runs of an agent, which version control ignores.

    Raises:
        OSError: The folder cannot be written.
    """
    home.mkdir(parents=True, exist_ok=True)
    (home.parent / ".gitignore").write_text("*\n", encoding="utf-8")


def unwritten(results: Path, agent: str) -> Iterator[Path]:
    """The marks of runs whose results are not in the folder of the agent's *results*."""
    return (results / FOLDER / agent).glob(f"*/{UNWRITTEN}")


def stop(folder: Path, reason: str) -> bool:
    """
    Stop the processes of the run, because no further records are wanted; *reason* says why, in one line.

    Returns:
        False if the run was stopped before; the earlier reason stays.
    """
    try:
        with (folder / STOP_FILE).open("x", encoding="utf-8") as file:
            file.write(reason)
    except FileExistsError:
        return False
    except OSError:  # the folder is missing if no question was asked or if it cannot be created
        pass
    return True


def stop_reason(folder: Path) -> str | None:
    """Why the run was stopped, which is empty on a full disk; None if it was not stopped."""
    try:
        for _ in range(10):
            if reason := (folder / STOP_FILE).read_text(encoding="utf-8"):
                return reason
            time.sleep(0.01)  # another process may be about to write it
    except OSError:
        return None
    return ""
