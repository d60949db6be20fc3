"""Checks the folder of the result files before the run, and makes file names that every system allows."""

from __future__ import annotations

import hashlib
import os
import sys
import tempfile
import unicodedata
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

from pytest_ragcheck.config.readers import BASELINE_FILE
from pytest_ragcheck.errors import ResultsError, UsageError

_UNSAFE = frozenset('<>:"/\\|?*')

_LONGEST_NAME_BYTES = 180
"""File systems allow 255 bytes; `.partial_predictions.json`, a hash and a temporary suffix are appended."""

_DEVICES = frozenset({"CON", "PRN", "AUX", "NUL", *(f"{port}{n}" for port in ("COM", "LPT") for n in range(10))})
"""Names that Windows reserves for devices, also before a dot and further text."""


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


def safe_name(name: str) -> str:
    """
    The name as the prefix of a file name: the name itself if every system allows it.

    Otherwise forbidden characters are replaced, long names are cut, and a hash keeps different names apart.
    """
    kept = "".join(char if char.isprintable() and char not in _UNSAFE else "_" for char in name)
    # A leading dot hides the file.
    kept = kept.strip(". ").encode()[:_LONGEST_NAME_BYTES].decode("utf-8", "ignore")
    # Not every locale has all characters.
    encoding = sys.getfilesystemencoding()
    kept = kept.encode(encoding, "ignore").decode(encoding)
    if kept.partition(".")[0].strip().upper() in _DEVICES:
        kept = f"_{kept}"
    # Partial files have this ending, and some systems ignore the case.
    return kept if kept and kept == name and not kept.casefold().endswith(".partial") else _with_hash(kept, name)


def unique_names(names: Iterable[str]) -> list[str]:
    """The safe form of each name; names that are equal on some system get a hash."""
    safe = {name: safe_name(name) for name in names}
    folded = Counter(map(_folded, safe.values()))
    return [kept if folded[_folded(kept)] == 1 else _with_hash(kept, name) for name, kept in safe.items()]


def _folded(name: str) -> str:
    # The name without the differences that macOS and Windows ignore.
    return unicodedata.normalize("NFC", name).casefold()


def _with_hash(kept: str, name: str) -> str:
    return f"{kept or '_'}-{hashlib.sha256(name.encode('utf-8', 'surrogatepass')).hexdigest()[:8]}"
