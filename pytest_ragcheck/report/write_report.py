"""Writes a report, or the results as one flat table with a row for each question, into a file."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from pytest_ragcheck.errors import UsageError
from pytest_ragcheck.report.files.results_reader import Results, all_rows
from pytest_ragcheck.report.view import view_of
from pytest_ragcheck.summary.predictions_reader import key_of

_FIRST = (
    *("dataset_name", "question_id", "question", "expected_answer", "prediction", "verdict", "reason", "error_kind"),
    *("blame", "latency_seconds", "first_token_seconds", "n_contexts", "tags"),
)
"""The first columns of the table; the metrics follow."""

_FORMULA = ("=", "+", "-", "@", "\t", "\r")


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
    return export_csv(results) if kind == "csv" else export_jsonl(results)


def export_csv(results: Results) -> str:
    rows = list(flat_rows(results))
    metrics = dict.fromkeys(name for row in rows for name in row if name not in _FIRST)
    return csv_text([*_FIRST, *metrics], rows)


def export_jsonl(results: Results) -> str:
    """A JSON object for each line; metrics without a measurement are absent."""
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in flat_rows(results))


def flat_rows(results: Results) -> Iterator[dict[str, Any]]:
    for row in all_rows(results.predictions):
        asked = results.asked.get(key_of(row), {})
        own = {
            "expected_answer": asked.get("expected_answer"),
            "verdict": row.get("verdict", "ERROR"),
            "reason": row.get("reason", row.get("message", "")),
            "error_kind": row.get("kind"),
            "n_contexts": len(row["contexts"]) if "contexts" in row else None,
            "tags": " ".join(asked.get("tags", ())) or None,
        }
        found = {**{name: own[name] if name in own else row.get(name) for name in _FIRST}, **row.get("metrics", {})}
        yield {name: value for name, value in found.items() if value is not None}


def csv_text(columns: Sequence[str], rows: Sequence[Mapping[str, Any]]) -> str:
    """The heading and a line for each row; a text that begins like a formula gets an apostrophe in front."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(map(_without_formula, columns))
    writer.writerows([_without_formula(row.get(column, "")) for column in columns] for row in rows)
    return text.getvalue()


def _without_formula(cell: Any) -> Any:
    return f"'{cell}" if isinstance(cell, str) and cell.startswith(_FORMULA) else cell
