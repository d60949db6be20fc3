"""
Simulates how often the gate turns red without a change, and with a change of a known size.

    python -m tests.benchmarks.gate_simulation [--part PART] [--runs N] [--certain] [--size N ...] [--known N]
        [--model TEXT] [--jobs N] [--results FILE] [--tables]

Each run has saved runs, a run of today, and the gate's own session, whose requests a simulated system and judge serve.
The results file has a line for each cell and is written as the runs are made: the command goes on where it ended, and
makes only the runs that a cell lacks. After a change of the procedure, begin with a new file.
`--certain` goes on to 10,000 runs in each cell with a rate whose interval reaches above 1.3 %.
`--tables` prints the tables of docs/explanation/gate-simulation.md from the results file alone.
Beside the gate stand three tests of the last saved run and today at 1 %: the paired t test, the test of McNemar, and,
for changes, a test of the mean that is told the noise: its level is taken from runs of the same model without a change.
"""

from __future__ import annotations

import argparse
import math
import os
import random
import sys
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING

from pytest_ragcheck.summary.metric_statistics import student_quantile
from tests.benchmarks.gate_models import NULL, OUTSIDE, Model, World, broken
from tests.benchmarks.gate_results import RESULTS, Tally, read_results, write_results
from tests.benchmarks.gate_tables import tables
from tests.summary.gate.procedure.outside import gate

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pytest_ragcheck.summary.gate.procedure.compared_question import ComparedQuestion, Look
    from tests.benchmarks.gate_results import Results

PARTS = ("nothing", "outside", "changed", "stated", "confirmed")
SIZES, HISTORIES = (20, 50, 100, 300, 1000), (1, 2, 5)
NEEDED = (1, 6), (2, 4), (5, 3)
"""Saved runs, and how many broken questions are red beside them."""

ERROR_RATE = 0.01

LOST = Model(title="a document lost", document_size=10, lost_document=True)
MEANS = Model(title="", judge_sd=0.1, free_wording=True)
STATED = replace(MEANS, judge="unbounded")

_HIGHEST, _CERTAIN = 0.013, 10_000
_CHUNK_QUESTIONS = 25_000
"""Questions of the runs that one job makes before their results are written."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """One rate of a table."""

    part: str
    model: Model
    size: int
    known: int

    @property
    def key(self) -> tuple[str, str, int, int]:
        """The key of the results."""
        return self.part, self.model.title, self.size, self.known


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """The result of one simulated run."""

    red: bool
    t_red: bool
    mcnemar_red: bool
    drop: float
    """The drop of the raw mean, for a test that knows the noise."""

    visible_drop: float | None
    warned: bool
    """True if the run warns of documents that share noise."""

    asks: int
    judgements: int


def cells(part: str) -> list[Cell]:
    """The rates of one part."""
    if part == "changed":
        found = _changed()
    elif part == "stated":
        found = _stated()
    elif part == "confirmed":
        one = Model(title="1 broken", broken=1)
        noisy = replace(one, title="1 broken, judge 0.15", judge_sd=0.15)
        found = ((model, 100, 1) for model in (*NULL, *OUTSIDE, one, noisy))
    else:
        models = NULL if part == "nothing" else OUTSIDE
        found = ((model, size, known) for model in models for size in SIZES for known in HISTORIES)
    return [Cell(part=part, model=model, size=size, known=known) for model, size, known in found]


def _changed() -> Iterator[tuple[Model, int, int]]:
    for known, count in NEEDED:
        yield from ((model, size, known) for model in broken(count) for size in (30, 100, 200))
    yield from ((model, 200, 1) for model in (LOST, LOST.with_lenient_judge()))
    for drop, size, known in ((0.02, 200, 5), (0.05, 100, 1), (0.1, 50, 1)):
        dropped = replace(MEANS, title=f"every answer -{drop:g}, judge 0.1", drop=drop)
        yield from ((model, size, known) for model in (dropped, dropped.with_lenient_judge()))
    refuses = Model(title="1 of 3 refused", broken_share=1 / 3, broken_level=0.0)
    for model in (refuses, Model(title="1 of 10 wrong", broken_share=0.1)):
        yield from ((each, size, 1) for each in (model, model.with_lenient_judge()) for size in (25, 100))


def _stated() -> Iterator[tuple[Model, int, int]]:
    for known, needed in NEEDED:
        yield from ((broken(count)[0], 100, known) for count in (needed - 1, needed))
    for size, known in ((10, 1), (20, 1), (50, 1), (100, 1), (200, 1), (10, 5), (50, 5), (200, 5)):
        drop = _stated_drop(size, known)
        yield replace(STATED, title=f"every answer -{drop:.3f}, as stated", drop=drop), size, known


def _stated_drop(size: int, known: int) -> float:
    """The drop that unchanged runs say would be seen, in the median."""
    cell = Cell(part="", model=STATED, size=size, known=known)
    drops = [simulated(cell, number).visible_drop for number in range(100)]
    return median(drop for drop in drops if drop is not None)


def simulated(cell: Cell, number: int) -> Run:
    """One run of the cell; the same number gives the same run."""
    world = World(model=cell.model, size=cell.size, known=cell.known, chance=random.Random(f"{number} {cell.key}"))
    questions = world.questions()
    findings = gate(questions, world.serve, name="confirmed" if cell.part == "confirmed" else "regression")
    asks, judgements, lowest = world.asks, world.judgements, cell.model.threshold
    saved = [[_asserted(each, run.looks[0]) for run in each.known] for each in questions]
    # The other tests know no recorded answer, and judge each of them again.
    now = [
        _asserted(each, each.now) if each.now.fresh else world.judge(each.now.answer or "", cell.known)
        for each in questions
    ]
    differences = [_mean(b) - _mean(a[-1]) for a, b in zip(saved, now, strict=True)]
    flips = [(min(a[-1]) >= lowest, min(b) >= lowest) for a, b in zip(saved, now, strict=True)]
    told = cell.part == "changed"
    return Run(
        red=findings.red,
        t_red=_t_red(differences),
        mcnemar_red=_mcnemar_red(down=flips.count((True, False)), up=flips.count((False, True))),
        drop=_mean([_mean([*map(_mean, a)]) - _mean(b) for a, b in zip(saved, now, strict=True)]) if told else 0.0,
        visible_drop=None if findings.mean is None else findings.mean.visible_drop,
        warned=cell.part == "outside" and findings.documents_share_noise,
        asks=asks,
        judgements=judgements,
    )


def _asserted(question: ComparedQuestion, look: Look) -> list[float]:
    return [look.scores[metric] for metric in question.thresholds]


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)


def _t_red(differences: Sequence[float]) -> bool:
    n, mean = len(differences), _mean(differences)
    deviation = math.sqrt(sum((each - mean) ** 2 for each in differences) / (n - 1))
    return mean * math.sqrt(n) < -student_quantile(1 - ERROR_RATE, n - 1) * deviation


def _mcnemar_red(*, down: int, up: int) -> bool:
    n = down + up
    return sum(math.comb(n, k) for k in range(down, n + 1)) <= ERROR_RATE * 2**n if n else False


@cache
def _told_level(cell: Cell) -> float:
    """The drop that its runs without a change exceed in one of 100."""
    unchanged = replace(cell, model=replace(cell.model, broken=0, broken_share=0.0, lost_document=False, drop=0.0))
    runs = sorted(simulated(unchanged, number).drop for number in range(-400, 0))
    return runs[math.ceil((1 - ERROR_RATE) * len(runs)) - 1]


def tallied(cell: Cell, first: int, times: int) -> Tally:
    """So many runs of the cell, from the run of this number on."""
    level = _told_level(cell) if cell.part == "changed" else math.inf
    runs = [simulated(cell, number) for number in range(first, first + times)]
    return Tally(
        runs=times,
        red=sum(run.red for run in runs),
        t_red=sum(run.t_red for run in runs),
        mcnemar_red=sum(run.mcnemar_red for run in runs),
        told_red=sum(run.drop > level for run in runs),
        asks=sum(run.asks for run in runs),
        judgements=sum(run.judgements for run in runs),
        warned=sum(run.warned for run in runs),
    )


def simulate(chosen: Sequence[Cell], path: Path, *, runs: int, certain: bool, jobs: int) -> None:
    """Makes the runs that the cells lack, and writes the results as they come."""
    results = read_results(path)

    def run(to_run: Sequence[Cell], wanted: int) -> None:
        while lacking := [(cell, done) for cell in to_run if (done := _runs(results, cell)) < wanted]:
            sizes = [
                min(wanted - done, max(10, _CHUNK_QUESTIONS // (cell.size * cell.known))) for cell, done in lacking
            ]
            for (cell, _), tally in zip(lacking, pool.map(tallied, *zip(*lacking, strict=True), sizes), strict=True):
                results[cell.key] = results.get(cell.key, Tally()) + tally
                write_results(path, results)

    with ProcessPoolExecutor(jobs, initializer=os.nice, initargs=(19,)) as pool:
        run(chosen, runs)
        if certain:
            # A cell that has begun is run to the end: stopping at a low rate would make all rates lower.
            near = [each for each in chosen if _runs(results, each) > runs or results[each.key].ends[1] > _HIGHEST]
            run(near, _CERTAIN)


def _runs(results: Results, cell: Cell) -> int:
    return results.get(cell.key, Tally()).runs


def main(arguments: list[str]) -> int:
    """Simulates, and prints a line for each cell, or the tables."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.gate_simulation")
    parser.add_argument("--part", choices=PARTS, action="append")
    parser.add_argument("--runs", type=int, default=200)
    parser.add_argument("--certain", action="store_true")
    parser.add_argument("--model", default="")
    parser.add_argument("--size", type=int, nargs="+")
    parser.add_argument("--known", type=int)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--results", type=Path, default=RESULTS)
    parser.add_argument("--tables", action="store_true")
    given = parser.parse_args(arguments)
    if given.tables:
        print(*tables(read_results(given.results)), sep="\n")
        return 0
    chosen = [
        cell
        for part in given.part or PARTS
        for cell in cells(part)
        if given.model in cell.model.title
        and (given.size is None or cell.size in given.size)
        and given.known in (None, cell.known)
    ]
    simulate(chosen, given.results, runs=given.runs, certain=given.certain, jobs=given.jobs)
    results = read_results(given.results)
    for cell in chosen:
        print(*cell.key, results[cell.key], sep=" | ")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
