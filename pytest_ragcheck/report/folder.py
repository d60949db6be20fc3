"""Whether result files can be written into a folder, found out before there are any."""

from __future__ import annotations

import os
import tempfile
from typing import TYPE_CHECKING

from pytest_ragcheck.errors import ResultsError

if TYPE_CHECKING:
    from pathlib import Path


def check_folder(folder: Path) -> None:
    """
    Tries whether files can be made in the folder, or it can be made; leaves nothing behind.

    Raises:
        ResultsError: They cannot; the text says why and what to do.
    """
    existing = next(each for each in (folder, *folder.parents) if os.path.lexists(each))
    if not existing.is_dir():
        raise ResultsError(
            f"{existing} is a file, and results go into a folder. Choose another with --rag-output.", path=existing
        )
    try:
        tempfile.TemporaryFile(dir=existing).close()
    except OSError as error:
        raise not_written(folder, error) from None


def not_written(path: Path, error: OSError) -> ResultsError:
    """What is said of a file or folder that cannot be written."""
    return ResultsError(
        f"{path}: cannot be written ({error.strerror or error}). "
        f"Make room or give rights there, or choose another folder with --rag-output.",
        path=path,
    )
