"""`ragcheck docs`: the pages, by the names that error texts have."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable

    Ragcheck = Callable[..., tuple[int, str, str]]

DOCS = Path(__file__).parents[2] / "docs"


def test_without_a_name_all_pages_are_listed_with_their_titles(ragcheck: Ragcheck) -> None:
    status, printed, _ = ragcheck("docs")
    assert status == 0
    names = [line.split()[0] for line in printed.splitlines()]
    assert names == sorted(path.relative_to(DOCS).with_suffix("").as_posix() for path in DOCS.rglob("*.md"))
    assert "reference/errors/endpoint " in printed
    assert "  Errors of a baseline\n" in printed


@pytest.mark.parametrize("name", ["reference/errors/baseline", "errors/baseline", "baseline", "baseline.md"])
def test_a_page_is_printed_by_as_much_of_its_name_as_tells_it_from_others(name: str, ragcheck: Ragcheck) -> None:
    status, printed, _ = ragcheck("docs", name)
    assert status == 0
    assert printed.startswith("# Errors of a baseline\n")
    assert "[Gate on regressions](how-to/gate-on-regressions)" in printed


def test_a_name_that_several_pages_end_in_is_wrong_usage(ragcheck: Ragcheck) -> None:
    assert ragcheck("docs", "endpoint") == (
        2,
        "",
        ("ragcheck docs: 'endpoint' could be reference/endpoint, reference/errors/endpoint. Write more of it.\n"),
    )


def test_a_name_of_no_page_is_wrong_usage(ragcheck: Ragcheck) -> None:
    text = "ragcheck docs: 'endpoints' is no page. ragcheck docs lists them.\n"
    assert ragcheck("docs", "endpoints") == (2, "", text)
