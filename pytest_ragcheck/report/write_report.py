"""Writes a report into a file."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_ragcheck.errors import UsageError
from pytest_ragcheck.report.view import view_of

if TYPE_CHECKING:
    from pytest_ragcheck.report.files.results_reader import Results


def write_report(results: Results, path: Path, kind: str = "html") -> None:
    """
    Write the report.

    Args:
        results: The content.
        path: The file; a missing folder is created.
        kind: One of `KINDS`.

    Raises:
        UsageError: The file cannot be written.
    """
    write_text(path, KINDS[kind](results))


def add_markdown(results: Results, path: Path) -> None:
    """
    Append the report in Markdown, since all commands of a CI step share one summary file.

    Raises:
        UsageError: The file cannot be written.
    """
    write_text(path, _markdown(results), "a")


def write_text(path: Path, text: str, mode: str = "w") -> None:
    """
    Write or append the text of a report; a missing folder is created.

    Raises:
        UsageError: The file cannot be written.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        # A lone surrogate in a model's text must not prevent the report.
        with path.open(mode, encoding="utf-8", errors="backslashreplace", newline="\n") as file:
            file.write(text)
    except OSError as error:
        raise UsageError(f"{path}: cannot be written ({error.strerror}). Choose another file.") from None


def _html(results: Results) -> str:
    from pytest_ragcheck.report.html.page import page_of

    return page_of(view_of(results))


def _markdown(results: Results) -> str:
    from pytest_ragcheck.report.markdown import markdown_of

    return markdown_of(view_of(results))


def _csv(results: Results) -> str:
    from pytest_ragcheck.report.files.table_export import export_csv

    return export_csv(results)


def _jsonl(results: Results) -> str:
    from pytest_ragcheck.report.files.table_export import export_jsonl

    return export_jsonl(results)


KINDS: dict[str, Callable[[Results], str]] = {"html": _html, "markdown": _markdown, "csv": _csv, "jsonl": _jsonl}
"""The kinds of report, by name."""
