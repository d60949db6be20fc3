"""The benchmark of the report performs the steps that it measures."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_ragcheck.report.html.page import page_of
from pytest_ragcheck.report.html.trend_page import trend_page
from pytest_ragcheck.report.view import view_of
from pytest_ragcheck.summary.trend import trend_of
from tests.benchmarks.report import STEPS, TREND_STEPS, measure
from tests.chromium import needs_browser, open_tab
from tests.report.html.test_trend_page import many_runs
from tests.report.many import many
from tests.report.results import written

if TYPE_CHECKING:
    from pathlib import Path


def test_every_step_changes_what_the_page_shows(tmp_path: Path) -> None:
    needs_browser()
    path = written(tmp_path / "report.html", page_of(view_of(many(200))))
    trend = written(tmp_path / "trend.html", trend_page(trend_of(many_runs(60, 3))))
    with open_tab() as tab:
        # A step that changed nothing would never end.
        assert list(measure(tab, path, rounds=1)) == ["open the page", *STEPS]
        assert list(measure(tab, trend, 1, TREND_STEPS)) == ["open the page", *TREND_STEPS]
