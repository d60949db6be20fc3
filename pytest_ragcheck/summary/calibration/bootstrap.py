"""Bootstrap intervals for the rates of a judge."""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING

from pytest_ragcheck.summary.calibration.confusion import Confusion, confusion
from pytest_ragcheck.summary.metric_statistics import percentile

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from pytest_ragcheck.summary.calibration.confusion import Judged

RESAMPLES = 1000
"""With this number, the ends of a 95 % interval move by about 0.002 between seeds."""

_SEED = 20_000

_RATES: dict[str, Callable[[Confusion], float | None]] = {
    "accuracy": lambda told: told.accuracy,
    "balanced_accuracy": lambda told: told.balanced_accuracy,
    "tpr": lambda told: told.tpr,
    "tnr": lambda told: told.tnr,
    "kappa": lambda told: told.kappa,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class RateEstimate:
    """A rate with its interval."""

    value: float
    low: float
    high: float
    """`low` to `high`: percentile bootstrap interval at 95 %, whole groups drawn."""


def estimates(judged: Sequence[Judged], threshold: float) -> dict[str, RateEstimate]:
    """
    Return each defined rate with its interval: `accuracy balanced_accuracy tpr tnr kappa roc_auc`.

    Args:
        judged: At least one answer.
        threshold: The lowest score that passes, 0..1.

    Source: Efron (1979), the percentile bootstrap; whole groups are drawn, for answers that share a source err
    together (Davison and Hinkley 1997, section 3.8).
    """
    sample = _Sample(judged, threshold)
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
        name: RateEstimate(
            value=value,
            low=min(value, percentile(resampled[name] or [value], 2.5)),
            high=max(value, percentile(resampled[name] or [value], 97.5)),
        )
        for name, value in values.items()
    }


class _Sample:
    """The answers by group; a resample is a count for each group."""

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
        """Return the confusion of the resample with *drawn* copies of each group."""
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
        Return the chance that a good answer scores higher than a bad one, ties counting half; None without both.

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


def _rates(sample: _Sample, drawn: Sequence[int]) -> dict[str, float]:
    told = sample.confusion(drawn)
    rates = {**{name: rate(told) for name, rate in _RATES.items()}, "roc_auc": sample.roc_auc(drawn)}
    return {name: value for name, value in rates.items() if value is not None}
