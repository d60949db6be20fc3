"""What pytest-html shows of a question beside its failure text."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Any

from pytest_ragcheck.plugin.properties import PREFIX

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping


def complete_row(node_id: str, properties: Iterable[tuple[object, Any]], cells: list[Any]) -> None:
    """
    Writes the asserted scores into the question's row, and escapes its node id, which pytest-html does not.

    The last cell takes them: the others are what the report sorts, filters and links by, and a column of their own
    would have to be there before anybody knows whether questions run.
    """
    words = _scores({str(name): value for name, value in properties})
    for index, cell in enumerate(cells):
        if isinstance(cell, str) and 'class="col-testId"' in cell:
            cells[index] = cell.replace(node_id, escape(node_id))
        elif isinstance(cell, str) and 'class="col-links"' in cell and words:
            cells[index] = f"{cell.removesuffix('</td>')}<small>{escape(words)}</small></td>"


def _scores(properties: Mapping[str, Any]) -> str:
    """The asserted scores in a few words: `answer_correctness=1.00 groundedness=0.41`."""
    return " ".join(
        f"{name.removeprefix(PREFIX)}={value:.2f}"
        for name, value in properties.items()
        if name.startswith(PREFIX) and f"{name}.threshold" in properties
    )
