"""
How often the gate `regression` turns red with nothing changed, and with a drop of a known size.

    python -m tests.benchmarks.gate_simulation [RUNS] [SEED]

Each set has as many questions as is said; the judge gives each of two metrics with normal noise of the deviation that
is said around the question's own level, and a question fails below 0.7. A newly failing question is asked twice more.
The best that a paired test could do knows the noise and tests the one mean, or the flips alone, at the same 1 %.
"""

from __future__ import annotations

import math
import random
import sys
from statistics import NormalDist

from pytest_ragcheck.metrics.score import Score
from pytest_ragcheck.questions.question import Question
from pytest_ragcheck.record import Record
from pytest_ragcheck.summary.baseline import Baseline, BaselineRow
from pytest_ragcheck.summary.comparison import Change, Comparison
from pytest_ragcheck.summary.regression import regression
from pytest_ragcheck.summary.sign_flips import wilson
from pytest_ragcheck.verdict import Verdict

SIZES = (30, 100, 300)
NOISES = (0.05, 0.15)
MEAN_DROPS = (0.02, 0.05, 0.1)
RATE_DROPS = (0.05, 0.1)
METRICS = ("answer_correctness", "groundedness")
THRESHOLD = 0.7
ERROR_RATE = 0.01


def main(arguments: list[str]) -> int:
    """Prints the table."""
    runs = int(arguments[0]) if arguments else 200
    seed = int(arguments[1]) if len(arguments) > 1 else 1
    print(f"{runs} runs each, 5 x as many with nothing changed, seed {seed}")
    print("| questions | noise | change | red | 95 % interval | best |")
    print("| --- | --- | --- | --- | --- | --- |")
    for size in SIZES:
        for noise in NOISES:
            rows = [("nothing", 0.0, 0.0)]
            rows += [(f"mean -{drop:g}", drop, 0.0) for drop in MEAN_DROPS]
            rows += [(f"pass rate -{100 * drop:g} %", 0.0, drop) for drop in RATE_DROPS]
            for title, drop, broken in rows:
                times = runs if drop or broken else 5 * runs
                chance = random.Random(f"{seed} {size} {noise} {title}")
                red = sum(_is_red(chance, size, noise, drop, broken) for _ in range(times))
                low, high = wilson(red, times)
                best = f"{_best(size, noise, drop, broken):.3f}" if drop or broken else ""
                print(
                    f"| {size} | {noise} | {title} | {red / times:.3f} | {low:.3f} to {high:.3f} | {best} |", flush=True
                )
    return 0


def _is_red(chance: random.Random, size: int, noise: float, drop: float, broken: float) -> bool:
    """Whether one run after one baseline is red; *drop* is of every question, *broken* is a share that fails now."""
    changes = []
    hurt = set(chance.sample(range(size), round(size * broken)))
    for number in range(size):
        level = _level(chance)
        before = _asked(chance, level, noise)
        now_level = 0.3 if number in hurt else level - drop
        now = _asked(chance, now_level, noise)
        again: list[str] = []
        if _verdict(before) is Verdict.PASS and _verdict(now) is Verdict.FAIL:
            while len(again) < 2 and set(again) <= {"FAIL"}:
                again.append(_verdict(_asked(chance, now_level, noise)).value)
        changes.append(_change(number, before, now, tuple(again)))
    return regression(_comparison(changes), error_rate=ERROR_RATE, tolerance=0.01).worse


def _level(chance: random.Random) -> float:
    """Of ten questions eight are good, one is near the threshold and one is bad."""
    kind = chance.random()
    return 0.9 if kind < 0.8 else 0.7 if kind < 0.9 else 0.4


def _asked(chance: random.Random, level: float, noise: float) -> dict[str, float]:
    return {metric: min(1.0, max(0.0, chance.gauss(level, noise))) for metric in METRICS}


def _verdict(scores: dict[str, float]) -> Verdict:
    return Verdict.PASS if min(scores.values()) >= THRESHOLD else Verdict.FAIL


def _change(number: int, before: dict[str, float], now: dict[str, float], again: tuple[str, ...]) -> Change:
    question = Question(dataset_name="simulated", id=str(number), question=str(number))
    passed = _verdict(before) is Verdict.PASS
    row = BaselineRow(
        dataset_name="simulated",
        id=str(number),
        question=str(number),
        verdict=_verdict(before),
        metrics=before,
        passes=int(passed),
        fails=int(not passed),
    )
    record = Record(
        question=question,
        verdict=_verdict(now),
        scores={metric: Score(value) for metric, value in now.items()},
        thresholds=dict.fromkeys(METRICS, THRESHOLD),
        asked_again=again,
    )
    return Change(before=row, now=record, reworded=False)


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


def _best(size: int, noise: float, drop: float, broken: float) -> float:
    """The power at 1 % of the test of one known shift of the mean of both metrics, whose noise is known."""
    # What breaks falls from its level, 0.83 in the mean, to 0.3: a shift of single questions, as one of the mean.
    shift = drop or broken * 0.53
    spread = noise * math.sqrt(2) / math.sqrt(len(METRICS))
    needed = NormalDist().inv_cdf(1 - ERROR_RATE)
    return NormalDist().cdf(shift * math.sqrt(size) / spread - needed)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
