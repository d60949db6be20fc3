"""Reads the text files of the package; a wheel has one compressed file for each folder of texts."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

_PACKAGE = Path(__file__).parent


def package_text(name: str) -> str:
    """Return the text of a file by its path below the package, such as `report/html/page.css`."""
    folder, _, file = name.rpartition("/")
    text = _packed(folder).get(file)
    return (_PACKAGE / name).read_text(encoding="utf-8") if text is None else text


@cache
def _packed(folder: str) -> dict[str, str]:
    path = _PACKAGE / folder / "texts.json.bz2"
    if not path.is_file():
        return {}
    import bz2  # some builds of Python lack it, and a run without questions reads no packed text

    texts: dict[str, str] = json.loads(bz2.decompress(path.read_bytes()))
    return texts
