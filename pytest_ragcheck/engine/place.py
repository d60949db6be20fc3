"""The place on disk that the processes of a run share, and the word that the run was stopped, which is left there."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

FOLDER = ".ragcheck"
"""Below the folder of the result files."""

_STOPPED = "stopped"


def stop(folder: Path) -> None:
    """Tells the processes of the run that nobody wants further records."""
    with suppress(OSError):  # there is no such folder where no question was asked, or none can be made
        (folder / _STOPPED).touch()


def is_stopped(folder: Path) -> bool:
    """Whether the run was stopped."""
    return (folder / _STOPPED).exists()


def take_back_stop(folder: Path) -> None:
    """Takes back that the run was stopped."""
    (folder / _STOPPED).unlink(missing_ok=True)
