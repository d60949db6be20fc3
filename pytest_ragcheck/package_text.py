"""Reads the text files of the package; a wheel has them in compressed files, one of which is for all commands."""

from __future__ import annotations

import json
from functools import cache
from importlib import import_module
from pathlib import Path

_PACKAGE = Path(__file__).parent


def package_text(name: str) -> str:
    """Return the text of a file by its path below the package, such as `report/html/page.css`."""
    folder, _, file = name.rpartition("/")
    for pack, key in ((folder, file), ("", name)):
        if (text := _packed(pack).get(key)) is not None:
            return text
    return (_PACKAGE / name).read_text(encoding="utf-8")


@cache
def _packed(folder: str) -> dict[str, str]:
    # The ending is the module that reads the file. Some builds of Python lack bz2; a run without questions needs zlib.
    for ending in ("zlib", "bz2"):
        path = _PACKAGE / folder / f"texts.json.{ending}"
        if path.is_file():
            texts: dict[str, str] = json.loads(import_module(ending).decompress(path.read_bytes()))
            return texts
    return {}
