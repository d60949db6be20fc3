"""The simulation of the gate: that it runs, and that its page shows all of its rows."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from tests.benchmarks.gate_simulation import MEAN_DROPS, NOISES, RATE_DROPS, SIZES, main
from tests.docs.pages import DOCS

if TYPE_CHECKING:
    import pytest


def cells(text: str) -> list[tuple[str, ...]]:
    """Questions, noise and change of each row of the table."""
    return re.findall(r"(?m)^\| (\d+) \| (0\.\d+) \| ([^|]+) \|", text)


def test_the_page_shows_the_rows_that_the_command_prints(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["1", "7"]) == 0
    printed = capsys.readouterr().out
    assert len(cells(printed)) == len(SIZES) * len(NOISES) * (1 + len(MEAN_DROPS) + len(RATE_DROPS))
    page = (DOCS / "explanation" / "statistics.md").read_text(encoding="utf-8")
    assert cells(page) == cells(printed)


def test_nothing_changed_is_red_in_one_of_100_runs_at_most_as_the_page_says() -> None:
    page = (DOCS / "explanation" / "statistics.md").read_text(encoding="utf-8")
    rates = re.findall(r"\| nothing \| (0\.\d+) \|", page)
    assert len(rates) == len(SIZES) * len(NOISES)
    assert max(map(float, rates)) <= 0.01
