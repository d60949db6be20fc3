"""Names as the beginnings of file names: safe on every system, and no two of them one."""

from __future__ import annotations

import hashlib
import unicodedata
from collections import Counter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

_UNSAFE = frozenset('<>:"/\\|?*')

_LONGEST_NAME_BYTES = 180
"""File systems take 255 bytes; `.partial_predictions.json`, a hash and a temporary file's ending come to it."""

_DEVICES = frozenset({"CON", "PRN", "AUX", "NUL", *(f"{port}{n}" for port in ("COM", "LPT") for n in range(10))})
"""What Windows takes for a device, whatever follows the first dot."""


def safe_name(name: str) -> str:
    """
    The name as the beginning of a file name, on every system: the name itself where that can be.

    Otherwise what cannot stand there is replaced or cut, and a hash of the name added, so that no two names meet.
    """
    kept = "".join(char if char.isprintable() and char not in _UNSAFE else "_" for char in name)
    # A file that begins with a dot is hidden.
    kept = kept.strip(". ").encode()[:_LONGEST_NAME_BYTES].decode("utf-8", "ignore")
    if kept.partition(".")[0].strip().upper() in _DEVICES:
        kept = f"_{kept}"
    return kept if kept and kept == name else _with_hash(kept, name)


def unique_names(names: Iterable[str]) -> list[str]:
    """The safe form of each name; those that some systems do not tell apart get a hash of their name."""
    safe = {name: safe_name(name) for name in names}
    folded = Counter(map(_folded, safe.values()))
    return [kept if folded[_folded(kept)] == 1 else _with_hash(kept, name) for name, kept in safe.items()]


def _folded(name: str) -> str:
    """Without what macOS and Windows do not distinguish."""
    return unicodedata.normalize("NFC", name).casefold()


def _with_hash(kept: str, name: str) -> str:
    return f"{kept or '_'}-{hashlib.sha256(name.encode('utf-8', 'surrogatepass')).hexdigest()[:8]}"
