"""How far a judge agrees with people: its scores beside their labels."""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING

from pytest_ragcheck.summary.statistics import percentile

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

RESAMPLES = 1000
"""Of the bootstrap: the ends of an interval at 95 % then move by about 0.002 from seed to seed."""

_SEED = 20_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """One labelled answer and what the judge says of it."""

    score: float
    """0..1."""

    good: bool
    """What people say."""

    group: str
    """Rows of one group share a source."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """A number and how far it can be trusted."""

    value: float
    low: float
    high: float
    """`low` to `high`: percentile bootstrap interval at 95 %, whole groups drawn."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Confusion:
    """How often a judge with a threshold says what people say."""

    good_passed: int
    good_failed: int
    bad_passed: int
    bad_failed: int

    @property
    def accuracy(self) -> float:
        """Share of right verdicts, 0..1."""
        return (self.good_passed + self.bad_failed) / self._n

    @property
    def tpr(self) -> float | None:
        """Share of the good answers that pass, 0..1; None without good ones."""
        good = self.good_passed + self.good_failed
        return self.good_passed / good if good else None

    @property
    def tnr(self) -> float | None:
        """Share of the bad answers that fail, 0..1; None without bad ones."""
        bad = self.bad_passed + self.bad_failed
        return self.bad_failed / bad if bad else None

    @property
    def balanced_accuracy(self) -> float | None:
        """Mean of `tpr` and `tnr`, 0..1: 0.5 for whoever cannot tell; None unless there are both."""
        return None if self.tpr is None or self.tnr is None else (self.tpr + self.tnr) / 2

    @property
    def kappa(self) -> float | None:
        """
        Agreement beyond that of chance, -1..1; None where judge and people both say the same of all answers.

        Source: Cohen (1960).
        """
        passed, good = self.good_passed + self.bad_passed, self.good_passed + self.good_failed
        by_chance = (passed * good + (self._n - passed) * (self._n - good)) / self._n**2
        return None if by_chance == 1 else (self.accuracy - by_chance) / (1 - by_chance)

    @property
    def _n(self) -> int:
        return self.good_passed + self.good_failed + self.bad_passed + self.bad_failed


@dataclass(frozen=True, slots=True, kw_only=True)
class CurvePoint:
    """What one threshold gives."""

    threshold: float | None
    """None: one that no score reaches."""

    tpr: float
    fpr: float
    """Share of the bad answers that pass, 0..1."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Calibration:
    """How far one score of a judge agrees with people's labels."""

    n: int
    n_good: int
    n_groups: int
    threshold: float
    """From which on a score passes, 0..1."""

    confusion: Confusion
    estimates: Mapping[str, Estimate]
    """`accuracy balanced_accuracy tpr tnr kappa roc_auc`; one that is not defined is absent."""

    best_threshold: float | None
    """Of all thresholds the one of the highest balanced accuracy on these very answers; None where it has none."""

    at_best: Confusion | None
    """What it gives."""

    curve: tuple[CurvePoint, ...]
    """The ROC curve, from (0, 0) to (1, 1); empty where people say the same of all answers."""


def calibrate(judged: Sequence[Judged], *, threshold: float) -> Calibration:
    """
    How far the scores agree with the labels.

    Args:
        judged: At least one.
        threshold: From which on a score passes, 0..1.
    """
    sample = _Sample(judged, threshold)
    best = _best_threshold(judged, threshold)
    return Calibration(
        n=len(judged),
        n_good=sum(row.good for row in judged),
        n_groups=sample.n_groups,
        threshold=threshold,
        confusion=confusion(judged, threshold),
        estimates=_estimates(sample),
        best_threshold=best,
        at_best=None if best is None else confusion(judged, best),
        curve=tuple(_curve(judged)),
    )


def confusion(judged: Iterable[Judged], threshold: float) -> Confusion:
    """What the threshold says beside what people say."""
    counts = Counter((row.good, row.score >= threshold) for row in judged)
    return Confusion(
        good_passed=counts[True, True],
        good_failed=counts[True, False],
        bad_passed=counts[False, True],
        bad_failed=counts[False, False],
    )


class _Sample:
    """The answers by group, so that a resample is nothing but how often each group was drawn."""

    def __init__(self, judged: Sequence[Judged], threshold: float) -> None:
        numbers = {group: number for number, group in enumerate(dict.fromkeys(row.group for row in judged))}
        self.n_groups = len(numbers)
        by_group: list[list[Judged]] = [[] for _ in numbers]
        for row in judged:
            by_group[numbers[row.group]].append(row)
        self._confusions = [confusion(rows, threshold) for rows in by_group]
        ordered = sorted(judged, key=lambda row: row.score)
        self._ties = [
            [(numbers[row.group], row.good) for row in rows] for _, rows in groupby(ordered, key=lambda row: row.score)
        ]

    def confusion(self, drawn: Sequence[int]) -> Confusion:
        """Of the resample in which each group stands as often as *drawn* says."""
        cells = [0, 0, 0, 0]
        for times, part in zip(drawn, self._confusions, strict=True):
            if times:
                cells[0] += times * part.good_passed
                cells[1] += times * part.good_failed
                cells[2] += times * part.bad_passed
                cells[3] += times * part.bad_failed
        return Confusion(good_passed=cells[0], good_failed=cells[1], bad_passed=cells[2], bad_failed=cells[3])

    def roc_auc(self, drawn: Sequence[int]) -> float | None:
        """
        The chance that a good answer has a higher score than a bad one, ties counting half; None without both.

        Source: Hanley and McNeil (1982): the area under the ROC curve is the Mann-Whitney statistic.
        """
        bad_below, wins, good_in_all = 0, 0.0, 0
        for ties in self._ties:
            good = bad = 0
            for group, is_good in ties:
                if is_good:
                    good += drawn[group]
                else:
                    bad += drawn[group]
            wins += good * (bad_below + bad / 2)
            bad_below += bad
            good_in_all += good
        return wins / (good_in_all * bad_below) if good_in_all and bad_below else None


_RATES: dict[str, Callable[[Confusion], float | None]] = {
    "accuracy": lambda told: told.accuracy,
    "balanced_accuracy": lambda told: told.balanced_accuracy,
    "tpr": lambda told: told.tpr,
    "tnr": lambda told: told.tnr,
    "kappa": lambda told: told.kappa,
}


def _estimates(sample: _Sample) -> dict[str, Estimate]:
    """
    Each rate with its interval.

    Source: Efron (1979), the percentile bootstrap; whole groups are drawn, for answers that share a source err
    together (Davison and Hinkley 1997, section 3.8).
    """
    generator = random.Random(_SEED)  # noqa: S311 - no secret, and the same interval for the same answers
    values = _rates(sample, [1] * sample.n_groups)
    resampled: dict[str, list[float]] = {name: [] for name in values}
    groups = range(sample.n_groups)
    for _ in range(RESAMPLES):
        times = Counter(generator.choices(groups, k=sample.n_groups))
        for name, value in _rates(sample, [times[group] for group in groups]).items():
            if name in resampled:
                resampled[name].append(value)
    return {
        name: Estimate(
            value=value,
            low=min(value, percentile(resampled[name] or [value], 2.5)),
            high=max(value, percentile(resampled[name] or [value], 97.5)),
        )
        for name, value in values.items()
    }


def _rates(sample: _Sample, drawn: Sequence[int]) -> dict[str, float]:
    told = sample.confusion(drawn)
    rates = {**{name: rate(told) for name, rate in _RATES.items()}, "roc_auc": sample.roc_auc(drawn)}
    return {name: value for name, value in rates.items() if value is not None}


def _curve(judged: Sequence[Judged]) -> Iterable[CurvePoint]:
    n_good = sum(row.good for row in judged)
    n_bad = len(judged) - n_good
    if not n_good or not n_bad:
        return
    good = bad = 0
    yield CurvePoint(threshold=None, tpr=0.0, fpr=0.0)
    for score, rows in groupby(sorted(judged, key=lambda row: -row.score), key=lambda row: row.score):
        labels = [row.good for row in rows]
        good += sum(labels)
        bad += len(labels) - sum(labels)
        yield CurvePoint(threshold=score, tpr=good / n_good, fpr=bad / n_bad)


def _best_threshold(judged: Sequence[Judged], current: float) -> float | None:
    """Halfway between two scores, so that neither lies on the edge; of several the one nearest to *current*."""
    # Rounded, for two of the same gain may differ in the last digit.
    gains = [(p.threshold, round(p.tpr - p.fpr, 12)) for p in _curve(judged) if p.threshold is not None]
    if not gains:
        return None
    most = max(gain for _, gain in gains)
    lower = [*(threshold for threshold, _ in gains[1:]), 0.0]
    found = [(high + low) / 2 for (high, gain), low in zip(gains, lower, strict=True) if gain == most]
    return min(found, key=lambda threshold: abs(threshold - current))
