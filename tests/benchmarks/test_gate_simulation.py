"""The simulation of the gate: it runs, its noise is what it says, and the page shows its rows."""

from __future__ import annotations

import random
import re
from typing import TYPE_CHECKING

import pytest

from tests.benchmarks.gate_models import NULL, Model, World, broken
from tests.benchmarks.gate_simulation import Cell, cells, main, simulated
from tests.docs.pages import DOCS

if TYPE_CHECKING:
    from collections.abc import Iterable

PAGE = (DOCS / "explanation" / "statistics.md").read_text(encoding="utf-8")


def model(title: str) -> Model:
    """The model of the table with the title."""
    return next(each for each in NULL if each.title.startswith(title))


def red_runs(cell: Cell, times: int) -> int:
    """How many runs of the cell are red."""
    chance = random.Random(1)
    return sum(simulated(cell, chance).findings.red for _ in range(times))


def test_a_row_has_the_rate_its_interval_and_the_tests_beside_it(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--part", "changed", "--model", "6 broken, free wording, judge", "--size", "30", "--runs", "5"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 2 + 1
    # Five of five: Wilson's interval from 0.5655 to 1.
    assert lines[2].startswith("| 6 broken, free wording, judge +0.03 | 30 | 1 | 5 | 1.0000 | 0.5655 to 1.0000 |")


@pytest.mark.parametrize("size", [20, 50])
def test_days_that_all_looks_of_a_run_share_are_no_false_alarms(size: int) -> None:
    # A gate that takes the looks of one run for independent is red in 32 of 100 such runs at 50 questions.
    cell = Cell(model=model("each bad on 5 % of days"), size=size, known=5)
    assert red_runs(cell, 100) <= 4


def test_the_same_answers_are_neither_judged_nor_flipped_by_a_noisy_judge() -> None:
    cell = Cell(model=model("judge 0.15, same answers"), size=100, known=2)
    runs = [simulated(cell, random.Random(seed)) for seed in range(20)]
    assert not any(run.findings.candidates or run.findings.red or run.judgements or run.asks for run in runs)


def test_the_number_stated_is_seen_and_one_fewer_is_not() -> None:
    for known, needed in ((1, 6), (2, 4), (5, 3)):
        assert red_runs(Cell(model=broken(needed)[0], size=100, known=known), 20) >= 15
        assert red_runs(Cell(model=broken(needed - 1)[0], size=100, known=known), 20) <= 5


def test_the_judges_noise_is_as_wide_as_its_model_says() -> None:
    world = World(model=Model(title="", judge_sd=0.1, metrics=1), size=1, known=1, chance=random.Random(1))
    world.answers["answer"] = 0.5
    scores = [world.judge("answer", 0)[0] for _ in range(2000)]
    mean = sum(scores) / len(scores)
    assert mean == pytest.approx(0.5, abs=0.01)
    assert (sum((score - mean) ** 2 for score in scores) / len(scores)) ** 0.5 == pytest.approx(0.1, abs=0.005)


def rows_of(heading: str) -> list[list[str]]:
    """The cells of the table under the heading, without its head."""
    section = re.split(r"(?m)^#+ ", PAGE.partition(f"# {heading}\n")[2])[0]
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in section.splitlines() if line[:1] == "|"]
    return rows[2:]


def titles(part: Iterable[Cell]) -> set[tuple[str, str]]:
    """Model and number of saved runs of each cell."""
    return {(cell.model.title, str(cell.known)) for cell in part}


def test_the_page_shows_every_model_of_the_command() -> None:
    assert {(row[0], row[1]) for row in rows_of("Nothing changed")} == titles(cells("nothing"))
    assert {(row[0], row[2]) for row in rows_of("Something changed")} == titles(cells("changed"))
    assert {row[0] for row in rows_of("One question is enough: `confirmed`")} == {
        cell.model.title for cell in cells("confirmed")
    }


def test_no_row_of_the_page_is_above_the_promise_by_more_than_chance() -> None:
    counts = [re.fullmatch(r"(\d+)/(\d+)", cell) for row in rows_of("Nothing changed") for cell in row[2:]]
    assert all(counts)
    pairs = [(int(found[1]), int(found[2])) for found in counts if found is not None]
    # The pooled rate holds the promise, and no cell denies it at 1 in 10,000 (the Poisson tail at 1 %).
    assert sum(red for red, _ in pairs) / sum(runs for _, runs in pairs) <= 0.01
    for red, runs in pairs:
        assert red <= 0.01 * runs + 4 * max(1.0, (0.01 * runs) ** 0.5)
