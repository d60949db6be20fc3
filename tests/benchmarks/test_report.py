"""The benchmark of the report does what it says that it measures."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_ragcheck.report.html.page import page_of
from pytest_ragcheck.report.view import view_of
from tests.benchmarks.report import STEPS, measure
from tests.chromium import needs_browser, open_tab
from tests.report.many import many
from tests.report.results import written

if TYPE_CHECKING:
    from pathlib import Path


def test_every_step_changes_what_the_page_shows(tmp_path: Path) -> None:
    needs_browser()
    path = written(tmp_path / "report.html", page_of(view_of(many(200))))
    with open_tab() as tab:
        # A step that changed nothing would never end.
        assert list(measure(tab, path, rounds=1)) == ["open the page", *STEPS]
