"""Turns names into prefixes of file names that are safe and distinct on every system."""

from __future__ import annotations

import hashlib
import sys
import unicodedata
from collections import Counter
from collections.abc import Iterable

_UNSAFE = frozenset('<>:"/\\|?*')

_LONGEST_NAME_BYTES = 180
"""File systems allow 255 bytes; `.partial_predictions.json`, a hash and a temporary suffix are appended."""

_DEVICES = frozenset({"CON", "PRN", "AUX", "NUL", *(f"{port}{n}" for port in ("COM", "LPT") for n in range(10))})
"""Names that Windows reserves for devices, also before a dot and further text."""


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
