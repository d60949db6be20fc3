"""A browser for the pages of the tests here."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol
from urllib.parse import quote

import pytest

from pytest_ragcheck.report.html.page import page_of
from pytest_ragcheck.report.view import view_of
from tests.browser import Shown
from tests.chromium import Tab, needs_browser, open_tab
from tests.report.results import written

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from pytest_ragcheck.report.files.results_reader import Results


class Show(Protocol):
    """Shows the report of some results, and returns the page; further words are those of its address."""

    def __call__(self, results: Results, **address: str) -> Shown: ...


@pytest.fixture(scope="session")
def tab() -> Iterator[Tab]:
    """A tab of a browser that is started once."""
    needs_browser()
    with open_tab() as tab:
        yield tab


@pytest.fixture
def page(tab: Tab, tmp_path: Path) -> Show:
    def show(results: Results, **address: str) -> Shown:
        path = written(tmp_path / "report.html", page_of(view_of(results)))
        tab.open(path, "&".join(f"{name}={quote(value)}" for name, value in address.items()))
        return Shown(tab.run("document.documentElement.outerHTML"))

    return show
