"""
How often the gate `regression` turns red with nothing changed, and with a drop of a known size.

    python -m tests.benchmarks.gate_simulation [RUNS] [SEED] [QUESTIONS...]

Each set has as many questions as is said; the judge gives each of two metrics with normal noise of the deviation that
is said around the question's own level, and a question fails below 0.7. A newly failing question is asked twice more.
The baseline knows the verdicts of so many runs as is said. Beside the gate stand the one paired test that suits the
change, alone at the same 1 % (of the mean of one metric, or of the flips), and the test that is told the noise.
"""

from __future__ import annotations

import math
import random
import sys
from dataclasses import dataclass
from functools import cache
from statistics import NormalDist
from typing import TYPE_CHECKING

from pytest_ragcheck.metrics.score import Score
from pytest_ragcheck.questions.question import Question
from pytest_ragcheck.record import Record
from pytest_ragcheck.summary.baseline import Baseline, BaselineRow
from pytest_ragcheck.summary.comparison import Change, Comparison
from pytest_ragcheck.summary.looks import LOOKS_AGAIN
from pytest_ragcheck.summary.regression import Regression, regression
from pytest_ragcheck.summary.sign_flips import wilson
from pytest_ragcheck.verdict import Verdict

if TYPE_CHECKING:
    from collections.abc import Iterator

SIZES = (30, 100, 300)
NOISES = (0.05, 0.15)
MEAN_DROPS = (0.02, 0.05, 0.1)
RATE_DROPS = (0.05, 0.1)
HISTORIES = (1, 10)
METRICS = ("answer_correctness", "groundedness")
THRESHOLD = 0.7
ERROR_RATE = 0.01


def main(arguments: list[str]) -> int:
    """Prints the table."""
    runs = int(arguments[0]) if arguments else 200
    seed = int(arguments[1]) if len(arguments) > 1 else 1
    print(f"seed {seed}")
    print("| questions | noise | runs known | change | runs | red | 95 % interval | one test | told the noise |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- | --- |")
    for size in map(int, arguments[2:] or SIZES):
        for noise in NOISES:
            for change in CHANGES:
                print(_row(size, noise, change, runs, seed), flush=True)
    return 0


def _row(size: int, noise: float, change: Planned, runs: int, seed: int) -> str:
    # What is to be rare takes more runs to be shown so.
    times = runs if change.is_one else 5 * runs
    chance = random.Random(f"{seed} {size} {noise} {change.known} {change.title}")
    red = alone = 0
    for _ in range(times):
        found = _weighed(chance, size, noise, change)
        red += found.worse
        alone += (found.means[0].p if change.drop else found.flips_p) <= ERROR_RATE
    low, high = wilson(red, times)
    cells: list[object] = [size, noise, change.known, change.title, times]
    cells += [f"{red / times:.4f}", f"{low:.4f} to {high:.4f}"]
    if change.is_one:
        cells += [f"{alone / times:.3f}", f"{_best(size, noise, change):.3f}"]
    else:
        cells += ["", ""]
    return f"| {' | '.join(map(str, cells))} |"


@dataclass(frozen=True, slots=True, kw_only=True)
class Planned:
    """What changes from one run to the next."""

    title: str
    known: int
    """Of how many runs the baseline knows the verdicts."""

    drop: float = 0.0
    """By how much the level of every question drops."""

    broken: float = 0.0
    """The share of questions that fails from now on."""

    @property
    def is_one(self) -> bool:
        """Whether anything changes at all."""
        return bool(self.drop or self.broken)


def _changes() -> Iterator[Planned]:
    for known in HISTORIES:
        yield Planned(title="nothing", known=known)
        # What a history says of single questions does not bear on the means.
        yield from (Planned(title=f"mean -{drop:g}", known=1, drop=drop) for drop in MEAN_DROPS if known == 1)
        for broken in RATE_DROPS:
            yield Planned(title=f"pass rate -{100 * broken:g} %", known=known, broken=broken)


CHANGES = tuple(_changes())


def _weighed(chance: random.Random, size: int, noise: float, change: Planned) -> Regression:
    """What comes of one run after its baseline."""
    changes = []
    hurt = set(chance.sample(range(size), round(size * change.broken)))
    for number in range(size):
        level = _level(chance)
        before = _asked(chance, level, noise)
        verdicts = [_verdict(before), *(_verdict(_asked(chance, level, noise)) for _ in range(change.known - 1))]
        now_level = 0.3 if number in hurt else level - change.drop
        now = _asked(chance, now_level, noise)
        again: list[str] = []
        if _verdict(before) is Verdict.PASS and _verdict(now) is Verdict.FAIL:
            while len(again) < LOOKS_AGAIN and set(again) <= {"FAIL"}:
                again.append(_verdict(_asked(chance, now_level, noise)).value)
        question = _question(number)
        row = _row_before(question, before, verdicts)
        changes.append(Change(before=row, now=_record(question, now, tuple(again)), reworded=False))
    return regression(_comparison(changes), error_rate=ERROR_RATE, tolerance=0.01)


def _level(chance: random.Random) -> float:
    """Of ten questions eight are good, one is near the threshold and one is bad."""
    kind = chance.random()
    return 0.9 if kind < 0.8 else 0.7 if kind < 0.9 else 0.4


def _asked(chance: random.Random, level: float, noise: float) -> dict[str, float]:
    return {metric: min(1.0, max(0.0, chance.gauss(level, noise))) for metric in METRICS}


def _verdict(scores: dict[str, float]) -> Verdict:
    return Verdict.PASS if min(scores.values()) >= THRESHOLD else Verdict.FAIL


def _row_before(question: Question, scores: dict[str, float], verdicts: list[Verdict]) -> BaselineRow:
    return BaselineRow(
        dataset_name=question.dataset_name,
        id=question.id,
        question=question.question,
        verdict=verdicts[0],
        metrics=scores,
        passes=verdicts.count(Verdict.PASS),
        fails=verdicts.count(Verdict.FAIL),
    )


def _record(question: Question, scores: dict[str, float], again: tuple[str, ...]) -> Record:
    return Record(
        question=question,
        verdict=_verdict(scores),
        scores={metric: Score(value) for metric, value in scores.items()},
        thresholds=dict.fromkeys(METRICS, THRESHOLD),
        asked_again=again,
    )


@cache
def _question(number: int) -> Question:
    return Question(dataset_name="simulated", id=str(number), question=str(number))


def _comparison(changes: list[Change]) -> Comparison:
    def of(before: Verdict, now: Verdict) -> tuple[Change, ...]:
        return tuple(each for each in changes if (each.before.verdict, each.now.verdict) == (before, now))

    return Comparison(
        baseline=Baseline(name="simulated", rows={each.before.key: each.before for each in changes}),
        newly_failing=of(Verdict.PASS, Verdict.FAIL),
        expected_failing=(),
        still_failing=of(Verdict.FAIL, Verdict.FAIL),
        newly_passing=of(Verdict.FAIL, Verdict.PASS),
        still_passing=of(Verdict.PASS, Verdict.PASS),
        not_measured=(),
        missing=(),
        not_run=(),
        new=(),
    )


def _best(size: int, noise: float, change: Planned) -> float:
    """The power at 1 % of the test of one known shift of the mean of both metrics, whose noise is known."""
    # What breaks falls from its level, 0.83 in the mean, to 0.3: a shift of single questions, as one of the mean.
    shift = change.drop or change.broken * 0.53
    spread = noise * math.sqrt(2) / math.sqrt(len(METRICS))
    needed = NormalDist().inv_cdf(1 - ERROR_RATE)
    return NormalDist().cdf(shift * math.sqrt(size) / spread - needed)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
