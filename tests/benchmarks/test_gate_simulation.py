"""The simulation of the gate runs, its noise has the stated size, and the page shows its rows."""

from __future__ import annotations

import random
from collections import defaultdict
from typing import TYPE_CHECKING

import pytest

from tests.benchmarks.gate_models import NULL, Model, World, broken
from tests.benchmarks.gate_results import RESULTS, Tally, read_results
from tests.benchmarks.gate_simulation import NEEDED, PARTS, Cell, cells, main, simulated
from tests.benchmarks.gate_tables import tables
from tests.docs.pages import DOCS

if TYPE_CHECKING:
    from pathlib import Path

RESULTS_OF_THE_PAGE = read_results(RESULTS)
PAGE = (DOCS / "explanation" / "gate-simulation.md").read_text(encoding="utf-8")


def cell(model: Model, size: int, known: int) -> Cell:
    """A cell of unchanged runs, or of the model's change."""
    return Cell(part="nothing", model=model, size=size, known=known)


def null(title: str) -> Model:
    """The model of the table with the title."""
    return next(each for each in NULL if each.title.startswith(title))


def red_runs(of: Cell, times: int) -> int:
    """How many runs of the cell are red."""
    return sum(simulated(of, number).red for number in range(times))


@pytest.mark.exhaustive
def test_an_interrupted_command_goes_on_and_ends_with_the_same_results(tmp_path: Path) -> None:
    chosen = ["--part", "changed", "--model", "6 broken, free wording, judge", "--size", "30", "--results"]
    for name, runs in (("once", ["5"]), ("twice", ["2", "5"])):
        for times in runs:
            assert main([*chosen, str(tmp_path / name), "--runs", times]) == 0
    once, twice = (read_results(tmp_path / name) for name in ("once", "twice"))
    assert once == twice
    (tally,) = once.values()
    assert (tally.runs, tally.red) == (5, 5)
    # Five of five: the interval of Wilson from 0.5655 to 1.
    assert tally.ends == pytest.approx((0.5655, 1.0), abs=0.0001)


@pytest.mark.parametrize("size", [20, 50])
def test_days_that_all_looks_of_a_run_share_are_no_false_alarms(size: int) -> None:
    # A gate that takes the looks of one run for independent is red in 32 of 100 such runs at 50 questions.
    assert red_runs(cell(null("each bad on 5 % of days"), size, 5), 100) <= 4


def test_the_same_answers_are_neither_judged_nor_flipped_by_a_noisy_judge() -> None:
    runs = [simulated(cell(null("judge 0.15, same answers"), 100, 2), number) for number in range(20)]
    assert not any(run.red or run.judgements or run.asks for run in runs)


def test_the_number_stated_is_seen_and_one_fewer_is_not() -> None:
    for known, needed in NEEDED:
        assert red_runs(cell(broken(needed)[0], 100, known), 20) >= 15
        assert red_runs(cell(broken(needed - 1)[0], 100, known), 20) <= 5


def test_the_judges_noise_is_as_wide_as_its_model_says() -> None:
    world = World(model=Model(title="", judge_sd=0.1, metrics=1), size=1, known=1, chance=random.Random(1))
    world.answers["answer"] = 0.5
    scores = [world.judge("answer", 0)[0] for _ in range(2000)]
    mean = sum(scores) / len(scores)
    assert mean == pytest.approx(0.5, abs=0.01)
    assert (sum((score - mean) ** 2 for score in scores) / len(scores)) ** 0.5 == pytest.approx(0.1, abs=0.005)


def test_the_page_shows_the_tables_of_the_results() -> None:
    missing = [line for line in tables(RESULTS_OF_THE_PAGE) if line and line not in PAGE.splitlines()]
    assert not missing


def test_the_results_have_every_cell_of_the_command() -> None:
    # The cells of `stated` depend on drops that unchanged runs state; to find them takes the time of a benchmark.
    assert {cell.key for part in PARTS if part != "stated" for cell in cells(part)} == {
        key for key in RESULTS_OF_THE_PAGE if key[0] != "stated"
    }


def test_no_rate_of_unchanged_runs_is_above_the_promise() -> None:
    unchanged = {key: tally for key, tally in RESULTS_OF_THE_PAGE.items() if key[0] == "nothing"}
    by_model_and_size: dict[tuple[str, int | str], Tally] = defaultdict(Tally)
    for (_, title, size, _), tally in unchanged.items():
        by_model_and_size["", size] += tally
        by_model_and_size[title, ""] += tally
    assert not {name: str(tally) for name, tally in by_model_and_size.items() if tally.ends[1] > 0.01}
    certain = {key: tally for key, tally in unchanged.items() if tally.runs >= 1000}
    assert {key[2] for key in certain} >= {20, 50, 100}
    assert not {key: str(tally) for key, tally in certain.items() if tally.ends[1] > 0.013}
    # Fewer runs do not show the rate of a cell, but they would show one that is far too high.
    assert not {key: str(tally) for key, tally in unchanged.items() if tally.ends[0] > 0.01}


def test_no_cell_without_a_change_may_have_more_false_alarms_than_stated() -> None:
    above = {key: tally for key, tally in RESULTS_OF_THE_PAGE.items() if key[0] == "nothing" and tally.ends[1] > 0.013}
    assert not above
    assert "now no interval reaches above 1.3 %" in PAGE
