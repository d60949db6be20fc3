"""Writes a report into a file."""

from __future__ import annotations

from pathlib import Path

from pytest_ragcheck.errors import UsageError
from pytest_ragcheck.report.files.results_reader import Results
from pytest_ragcheck.report.view import view_of


def write_report(results: Results, path: Path, kind: str, *, append: bool = False) -> None:
    """Write or append the report as `html`, `markdown`, `csv` or `jsonl`."""
    write_text(path, _rendered(results, kind), append=append)


def write_text(path: Path, text: str, *, append: bool = False) -> None:
    """Write or append the text; a missing folder is created, and a failure is a `UsageError`."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        # A lone surrogate in a model's text must not prevent the report.
        with path.open("a" if append else "w", encoding="utf-8", errors="backslashreplace", newline="\n") as file:
            file.write(text)
    except OSError as error:
        raise UsageError(f"{path}: cannot be written ({error.strerror}). Choose another file.") from None


def _rendered(results: Results, kind: str) -> str:
    # Import only the modules of the chosen kind.
    if kind == "html":
        from pytest_ragcheck.report.html.page import page_of

        return page_of(view_of(results))
    if kind == "markdown":
        from pytest_ragcheck.report.markdown import markdown_of

        return markdown_of(view_of(results))
    from pytest_ragcheck.report.files.table_export import export_csv, export_jsonl

    return export_csv(results) if kind == "csv" else export_jsonl(results)
