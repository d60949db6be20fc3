"""Reads the text files of the package, some of them compressed in a wheel."""

from __future__ import annotations

import zlib
from pathlib import Path

_PACKAGE = Path(__file__).parent
_GZIP = 31
"""The `wbits` of zlib for a gzip file; the module gzip takes 1 ms to import."""


def package_text(name: str) -> str:
    """Return the text of a file by its path below the package, such as `report/html/page.css`."""
    path = _PACKAGE / name
    packed = path.with_name(f"{path.name}.gz")
    if packed.is_file():
        return zlib.decompress(packed.read_bytes(), _GZIP).decode()
    return path.read_text(encoding="utf-8")
