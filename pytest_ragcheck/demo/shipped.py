"""Finds the pages and the questions that come with the package."""

from __future__ import annotations

from pathlib import Path

_PACKAGE = Path(__file__).parents[1]
_CHECKOUT = _PACKAGE.parent


def pages_folder() -> Path | None:
    """Return the folder with the documentation: of the installed package, or of a checkout; None without both."""
    return _first(_PACKAGE / "pages", _CHECKOUT / "docs", holds="index.md")


def questions_file() -> Path | None:
    """Return the question file about the pages: of the installed package, or of a checkout; None without both."""
    name = "ragcheck.rag.yaml"
    folder = _first(_PACKAGE / "demo", _CHECKOUT / "examples" / "first_run", holds=name)
    return folder and folder / name


def _first(*folders: Path, holds: str) -> Path | None:
    return next((folder for folder in folders if (folder / holds).is_file()), None)
