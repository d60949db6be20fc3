"""Reads the files in a folder of results."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path


def names(folder: Path) -> list[str]:
    """The names of its files, hidden ones too."""
    return sorted(path.name for path in folder.iterdir())


def content(path: Path) -> Any:
    """The JSON value of the file."""
    return json.loads(path.read_text(encoding="utf-8"))
