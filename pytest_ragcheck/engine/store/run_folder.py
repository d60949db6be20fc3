"""Holds the folder that the processes of a run share, and the file in it that stops the run."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

FOLDER = ".ragcheck"
"""Subfolder of the folder of the result files."""

_STOPPED = "stopped"


def make_home(home: Path) -> None:
    """
    Create the folder of all runs of an agent, which version control ignores.

    Raises:
        OSError: The folder cannot be written.
    """
    home.mkdir(parents=True, exist_ok=True)
    (home.parent / ".gitignore").write_text("*\n", encoding="utf-8")


def stop(folder: Path) -> None:
    """Stop the processes of the run, because no further records are wanted."""
    with suppress(OSError):  # the folder is missing if no question was asked or if it cannot be created
        (folder / _STOPPED).touch()


def is_stopped(folder: Path) -> bool:
    """Return True if the run was stopped."""
    return (folder / _STOPPED).exists()


def take_back_stop(folder: Path) -> None:
    """Undo `stop`."""
    (folder / _STOPPED).unlink(missing_ok=True)
