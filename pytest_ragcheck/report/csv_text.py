"""Writes rows as CSV without cells that a spreadsheet would run as formulas."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from typing import Any

_FORMULA = ("=", "+", "-", "@", "\t", "\r")


def csv_text(columns: Sequence[str], rows: Sequence[Mapping[str, Any]]) -> str:
    """The heading and a line for each row; a text that begins like a formula gets an apostrophe in front."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(map(_without_formula, columns))
    writer.writerows([_without_formula(row.get(column, "")) for column in columns] for row in rows)
    return text.getvalue()


def _without_formula(cell: Any) -> Any:
    return f"'{cell}" if isinstance(cell, str) and cell.startswith(_FORMULA) else cell
