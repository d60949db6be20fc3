"""Finds the pages and the questions that come with the package."""

from __future__ import annotations

import bz2
import json
from pathlib import Path

_PACKAGE = Path(__file__).parents[1]
_CHECKOUT = _PACKAGE.parent
QUESTIONS = "ragcheck.rag.yaml"
"""The name of the question file about the pages."""


def shipped_texts() -> dict[str, str]:
    """
    The text of each page by its path below `docs`, such as `how-to/cost.md`, and the text of `QUESTIONS`.

    The texts come from the installed package or a checkout; empty without both.
    """
    archive, docs = _PACKAGE / "pages.json.bz2", _CHECKOUT / "docs"
    if archive.is_file():
        texts: dict[str, str] = json.loads(bz2.decompress(archive.read_bytes()))
        return texts
    if not (docs / "index.md").is_file():
        return {}
    paths = {path.relative_to(docs).as_posix(): path for path in sorted(docs.rglob("*.md"))}
    paths[QUESTIONS] = _CHECKOUT / "examples" / "first_run" / QUESTIONS
    return {name: path.read_text(encoding="utf-8") for name, path in paths.items()}
