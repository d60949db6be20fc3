"""Finds the pages and the questions that come with the package."""

from __future__ import annotations

import bz2
import json
from pathlib import Path

_PACKAGE = Path(__file__).parents[1]
_CHECKOUT = _PACKAGE.parent


def shipped_pages() -> dict[str, str]:
    """
    Return the text of each page of the documentation by its path below `docs`, such as `how-to/cost.md`.

    The pages are those of the installed package, or of a checkout; empty without both.
    """
    archive, docs = _PACKAGE / "pages.json.bz2", _CHECKOUT / "docs"
    if archive.is_file():
        pages: dict[str, str] = json.loads(bz2.decompress(archive.read_bytes()))
        return pages
    if not (docs / "index.md").is_file():
        return {}
    return {path.relative_to(docs).as_posix(): path.read_text(encoding="utf-8") for path in sorted(docs.rglob("*.md"))}


def questions_file() -> Path | None:
    """Return the question file about the pages: of the installed package, or of a checkout; None without both."""
    folders = (_PACKAGE / "demo", _CHECKOUT / "examples" / "first_run")
    return next((path for folder in folders if (path := folder / "ragcheck.rag.yaml").is_file()), None)
