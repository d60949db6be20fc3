"""The simulation of the gate: that it runs, and that its page shows all of its rows."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from pytest_ragcheck.summary.sign_flips import wilson
from tests.benchmarks.gate_simulation import CHANGES, NOISES, SIZES, main
from tests.docs.pages import DOCS

if TYPE_CHECKING:
    import pytest


def cells(text: str) -> list[tuple[str, ...]]:
    """Questions, noise, history and change of each row of the table."""
    return re.findall(r"(?m)^\| (\d+) \| (0\.\d+) \| (\d+) \| ([^|]+) \|", text)


def test_the_page_shows_the_rows_that_the_command_prints(capsys: pytest.CaptureFixture[str]) -> None:
    page = (DOCS / "explanation" / "statistics.md").read_text(encoding="utf-8")
    assert "gate_simulation 1000\n" in page
    assert main(["1", "7"]) == 0
    printed = capsys.readouterr().out
    assert len(cells(printed)) == len(SIZES) * len(NOISES) * len(CHANGES)
    assert cells(page) == cells(printed)


def test_nothing_changed_is_red_in_one_of_100_runs_at_most_as_the_page_says() -> None:
    page = (DOCS / "explanation" / "statistics.md").read_text(encoding="utf-8")
    rows = re.findall(r"\| nothing \| (\d+) \| (0\.\d+) \|", page)
    assert len(rows) == len(SIZES) * len(NOISES) * sum(change.title == "nothing" for change in CHANGES)
    assert max(float(rate) for _, rate in rows) <= 0.01
    runs = sum(int(times) for times, _ in rows)
    low, high = wilson(round(sum(int(times) * float(rate) for times, rate in rows)), runs)
    (said,) = re.findall(r"of all ([\d,]+) \((0\.\d+) to (0\.\d+) %\)", page)
    assert said == (f"{runs:,}", f"{100 * low:.2f}", f"{100 * high:.2f}")
    assert high < 0.01
