"""Exports the results as one flat table, a row for each question."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from pytest_ragcheck.report.csv_text import csv_text
from pytest_ragcheck.report.files.results_reader import Results, all_rows
from pytest_ragcheck.summary.predictions_reader import key_of

_FIRST = (
    *("dataset_name", "question_id", "question", "expected_answer", "prediction", "verdict", "reason", "error_kind"),
    *("blame", "latency_seconds", "first_token_seconds", "n_contexts", "tags"),
)


def export_csv(results: Results) -> str:
    """A CSV row for each question; a cell without a measurement is empty."""
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
