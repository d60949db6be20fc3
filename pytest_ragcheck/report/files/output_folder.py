"""Checks before the run that result files can be written, and that they cannot replace the baseline."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from pytest_ragcheck.config.baseline_place import BASELINE_FILE
from pytest_ragcheck.errors import ResultsError, UsageError


def check_folder(folder: Path) -> None:
    """Raise a `ResultsError` if the folder, or the folder to be created, accepts no files; leave nothing behind."""
    existing = next(filter(os.path.lexists, (folder, *folder.parents)))
    if not existing.is_dir():
        raise ResultsError(f"{existing} is a file, and results go into a folder. Use another folder.", path=existing)
    try:
        tempfile.TemporaryFile(dir=existing).close()
    except OSError as error:
        raise not_written(folder, error) from None


def check_outside(path: Path, folder: Path, *, name: str) -> None:
    """Raise a `UsageError` for a baseline in the output folder, where a second run would compare with the first."""
    if without_links(path).is_relative_to(without_links(folder)):
        raise UsageError(
            f"{name}: it is in the output folder, whose files the next run replaces. "
            f"Save the run with ragcheck baseline save, which writes {BASELINE_FILE}."
        )


def without_links(path: Path) -> Path:
    """The path to which links lead, also links in a loop, for which `Path.resolve` raises a `RuntimeError`."""
    return Path(os.path.realpath(path))


def not_written(path: Path, error: OSError) -> ResultsError:
    return ResultsError(
        f"{path}: cannot be written ({error.strerror or error}). "
        "Free some space, allow writing there, or use another folder.",
        path=path,
    )
