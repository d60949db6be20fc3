"""
How often the gate turns red with nothing changed, and with a change of a known size.

    python -m tests.benchmarks.gate_simulation [--part PART] [--runs N] [--model TEXT] [--size N] [--known N] [--seed N]

Each run has saved runs, a run of today, and the gate's own session, whose requests a simulated system and judge serve.
PART is `nothing`, `outside`, `changed`, `stated` or `confirmed`. A cell is run again by its model, size and saved runs.
Beside the gate stand three tests of the last saved run and today at 1 %: the paired t test, the test of McNemar, and,
for changes, a test of the mean that is told the noise: its level is taken from runs of the same model without a change.
"""

from __future__ import annotations

import argparse
import math
import random
import sys
from dataclasses import dataclass, replace
from statistics import fmean, median, stdev
from typing import TYPE_CHECKING

from pytest_ragcheck.summary.gate.procedure.gate_requests import drive
from pytest_ragcheck.summary.gate.procedure.gate_session import gate
from pytest_ragcheck.summary.gate.wilson_interval import wilson
from pytest_ragcheck.summary.paired import student_quantile
from tests.benchmarks.gate_models import NULL, OUTSIDE, Model, World, broken

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pytest_ragcheck.summary.gate.procedure.gate_findings import GateFindings

SIZES, HISTORIES = (20, 50, 100, 300, 1000), (1, 2, 5)
ERROR_RATE = 0.01

LOST = Model(title="a document lost", document_size=10, lost_document=True)
MEANS = Model(title="", judge_sd=0.1, free_wording=True)
STATED = replace(MEANS, judge="unbounded")


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """One row of the table."""

    model: Model
    size: int
    known: int
    gate: str = "regression"


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """What came of one simulated run."""

    findings: GateFindings
    t_red: bool
    mcnemar_red: bool
    drop: float
    """By how much the raw mean dropped, as a test that is told the noise sees it."""

    asks: int
    judgements: int


def cells(part: str) -> Iterator[Cell]:
    """The rows of one part."""
    if part in ("nothing", "outside"):
        for model in NULL if part == "nothing" else OUTSIDE:
            yield from (Cell(model=model, size=size, known=known) for size in SIZES for known in HISTORIES)
    elif part == "changed":
        for known, count in ((1, 6), (2, 4), (5, 3)):
            yield from (Cell(model=m, size=n, known=known) for m in broken(count) for n in (30, 100, 200))
        yield from (Cell(model=m, size=200, known=1) for m in (LOST, LOST.with_lenient_judge()))
        for drop, size, known in ((0.02, 200, 5), (0.05, 100, 1), (0.1, 50, 1)):
            dropped = replace(MEANS, title=f"every answer -{drop:g}, judge 0.1", drop=drop)
            yield from (Cell(model=m, size=size, known=known) for m in (dropped, dropped.with_lenient_judge()))
        refuses = Model(title="1 of 3 refused", broken_share=1 / 3, broken_level=0.0)
        wrong = Model(title="1 of 10 wrong", broken_share=0.1)
        for model in (refuses, wrong):
            yield from (Cell(model=m, size=n, known=1) for m in (model, model.with_lenient_judge()) for n in (25, 100))
    elif part == "stated":
        for known, needed in ((1, 6), (2, 4), (5, 3)):
            yield from (Cell(model=broken(count)[0], size=100, known=known) for count in (needed - 1, needed))
        for size, known in ((20, 1), (50, 1), (100, 1), (200, 1), (50, 5), (200, 5)):
            drop = _stated_drop(size, known)
            model = replace(STATED, title=f"every answer -{drop:.3f}, as stated", drop=drop)
            yield Cell(model=model, size=size, known=known)
    else:
        confirmed = [Model(title="1 broken", broken=1), Model(title="1 broken, judge 0.15", broken=1, judge_sd=0.15)]
        yield from (Cell(model=model, size=100, known=1, gate="confirmed") for model in (*NULL, *OUTSIDE, *confirmed))


def _stated_drop(size: int, known: int) -> float:
    """The drop that unchanged runs say would be seen, in the median."""
    chance = random.Random(f"{size} {known}")
    means = [simulated(Cell(model=STATED, size=size, known=known), chance).findings.mean for _ in range(50)]
    return median(found.visible_drop for found in means if found is not None and found.visible_drop is not None)


def simulated(cell: Cell, chance: random.Random) -> Run:
    """One run of the cell."""
    world = World(model=cell.model, size=cell.size, known=cell.known, chance=chance)
    questions = world.questions()
    findings = drive(gate(questions, gate=cell.gate), world.serve)
    asks, judgements = world.asks, world.judgements
    model = cell.model
    now = [world.judge(question.now.answer or "", cell.known) for question in questions]
    saved = [[tuple(run.looks[0].scores.values()) for run in question.known] for question in questions]
    differences = [fmean(b) - fmean(a[-1]) for a, b in zip(saved, now, strict=True)]
    flips = [(min(a[-1]) >= model.threshold, min(b) >= model.threshold) for a, b in zip(saved, now, strict=True)]
    return Run(
        findings=findings,
        t_red=_t_red(differences),
        mcnemar_red=_mcnemar_red(down=flips.count((True, False)), up=flips.count((False, True))),
        drop=fmean(fmean(map(fmean, a)) - fmean(b) for a, b in zip(saved, now, strict=True)),
        asks=asks,
        judgements=judgements,
    )


def _t_red(differences: Sequence[float]) -> bool:
    deviation = stdev(differences)
    statistic = fmean(differences) * math.sqrt(len(differences))
    return statistic < -student_quantile(1 - ERROR_RATE, len(differences) - 1) * deviation


def _mcnemar_red(*, down: int, up: int) -> bool:
    n = down + up
    return sum(math.comb(n, k) for k in range(down, n + 1)) <= ERROR_RATE * 2**n if n else False


def _told_rate(cell: Cell, runs: Sequence[Run], times: int, seed: int) -> float:
    """How often the mean is below the level that its runs without a change reach in one of 100."""
    model = replace(cell.model, broken=0, broken_share=0.0, lost_document=False, drop=0.0)
    chance = random.Random(f"{seed} {cell} told")
    unchanged = sorted(simulated(replace(cell, model=model), chance).drop for _ in range(times))
    level = unchanged[math.ceil((1 - ERROR_RATE) * times) - 1]
    return fmean(run.drop > level for run in runs)


def row(cell: Cell, times: int, seed: int) -> str:
    """One row of the table."""
    chance = random.Random(f"{seed} {cell}")
    runs = [simulated(cell, chance) for _ in range(times)]
    red = sum(run.findings.red for run in runs)
    low, high = wilson(red, times)
    model = cell.model
    changed = bool(model.broken or model.broken_share or model.lost_document or model.drop)
    drops = [run.findings.mean.visible_drop for run in runs if run.findings.mean is not None]
    shown = [drop for drop in drops if drop is not None]
    needed = [run.findings.count.needed for run in runs if run.findings.count is not None]
    columns = (
        model.title,
        cell.size,
        cell.known,
        times,
        f"{red / times:.4f}",
        f"{low:.4f} to {high:.4f}",
        f"{fmean(run.t_red for run in runs):.3f}",
        f"{fmean(run.mcnemar_red for run in runs):.3f}",
        f"{_told_rate(cell, runs, max(times, 100), seed):.3f}" if changed else "",
        median(each for each in needed if each is not None) if any(needed) else "",
        f"{median(shown):.3f}" if shown else "",
        f"{fmean(run.asks for run in runs):.1f}",
        f"{fmean(run.judgements for run in runs):.0f}",
    )
    return f"| {' | '.join(map(str, columns))} |"


HEADER = (
    "model",
    "questions",
    "saved runs",
    "runs",
    "red",
    "95 % interval",
    "paired t",
    "McNemar",
    "told the noise",
    "broken seen from",
    "drop seen from",
    "asks",
    "judgements",
)


def main(arguments: list[str]) -> int:
    """Prints the table."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.gate_simulation")
    parser.add_argument("--part", choices=("nothing", "outside", "changed", "stated", "confirmed"), default="nothing")
    parser.add_argument("--runs", type=int, default=200)
    parser.add_argument("--model", default="")
    parser.add_argument("--size", type=int)
    parser.add_argument("--known", type=int)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args(arguments)
    print(f"| {' | '.join(HEADER)} |\n| {' | '.join('---' for _ in HEADER)} |")
    for cell in cells(given.part):
        chosen = given.size in (None, cell.size) and given.known in (None, cell.known)
        if chosen and given.model in cell.model.title:
            print(row(cell, given.runs, given.seed), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
