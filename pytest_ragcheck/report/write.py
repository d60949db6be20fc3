"""Results -> a report in a file."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_ragcheck.errors import UsageError
from pytest_ragcheck.report.view import view_of

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from pytest_ragcheck.report.results import Results


def write_report(results: Results, path: Path, kind: str = "html") -> None:
    """
    Writes the report.

    Args:
        results: What is reported.
        path: The file; its folder is made where it is missing.
        kind: One of `KINDS`.

    Raises:
        UsageError: The file cannot be written.
    """
    _write(path, KINDS[kind](results), "w")


def add_markdown(results: Results, path: Path) -> None:
    """
    Adds the report in Markdown to what the file has: the summary of a step is one file for all that it does.

    Raises:
        UsageError: The file cannot be written.
    """
    _write(path, _markdown(results), "a")


def _write(path: Path, text: str, mode: str) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        # A lone surrogate of a model's text is no reason to have no report.
        with path.open(mode, encoding="utf-8", errors="backslashreplace", newline="\n") as file:
            file.write(text)
    except OSError as error:
        raise UsageError(f"{path}: cannot be written ({error.strerror}). Choose another file.") from None


def _html(results: Results) -> str:
    from pytest_ragcheck.report.html.page import page_of  # noqa: PLC0415 - one of several

    return page_of(view_of(results))


def _markdown(results: Results) -> str:
    from pytest_ragcheck.report.markdown import markdown_of  # noqa: PLC0415 - one of several

    return markdown_of(view_of(results))


def _csv(results: Results) -> str:
    from pytest_ragcheck.report.export import export_csv  # noqa: PLC0415 - one of several

    return export_csv(results)


def _jsonl(results: Results) -> str:
    from pytest_ragcheck.report.export import export_jsonl  # noqa: PLC0415 - one of several

    return export_jsonl(results)


KINDS: dict[str, Callable[[Results], str]] = {"html": _html, "markdown": _markdown, "csv": _csv, "jsonl": _jsonl}
"""By name what can be made of results."""
