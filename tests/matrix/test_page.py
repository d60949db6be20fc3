"""The page of other plugins has the matrix's rows as the tests run them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from tests.matrix import test_matrix
from tests.matrix.rows import OTHER_PLUGINS, PYTESTS_OPTIONS, ROWS

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tests.matrix.rows import Row

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "other-plugins.md"


def table(rows: Iterable[Row]) -> str:
    """The rows as the page has them."""
    return "\n".join(map(_line, rows))


def _line(row: Row) -> str:
    ways = (row.outcome if way in row.ways else "-" for way in ("plain", "-n2"))
    options = f"`{' '.join(row.options)}`" if row.options else ""
    return "".join(f"| {cell} " if cell else "| " for cell in (row.name, options, *ways, row.note)) + "|"


def test_the_page_has_the_rows_of_the_matrix() -> None:
    page = PAGE.read_text(encoding="utf-8")
    for rows in (OTHER_PLUGINS, PYTESTS_OPTIONS):
        assert f"| --- |\n{table(rows)}\n\n" in page


def test_every_row_is_run() -> None:
    for row in ROWS:
        assert callable(getattr(test_matrix, row.test))
