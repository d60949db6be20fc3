"""Shows the asserted scores of a question in the report of pytest-html."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from html import escape
from typing import Any

from pytest_ragcheck.plugin.guests.junit_properties import PREFIX


def complete_row(node_id: str, properties: Iterable[tuple[object, Any]], cells: list[Any]) -> None:
    """
    Add the asserted scores to the row of a question, and escape its node id, which pytest-html does not.

    The scores go into the last cell. The report sorts and filters by the other cells, and a new column would also
    appear in runs without questions.
    """
    words = _scores({str(name): value for name, value in properties})
    for index, cell in enumerate(cells):
        if isinstance(cell, str) and 'class="col-testId"' in cell:
            cells[index] = cell.replace(node_id, escape(node_id))
        elif isinstance(cell, str) and 'class="col-links"' in cell and words:
            cells[index] = f"{cell.removesuffix('</td>')}<small>{escape(words)}</small></td>"


def _scores(properties: Mapping[str, Any]) -> str:
    return " ".join(
        f"{name.removeprefix(PREFIX)}={value:.2f}"
        for name, value in properties.items()
        if name.startswith(PREFIX) and f"{name}.threshold" in properties
    )
