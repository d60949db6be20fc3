"""Rates how a judge agrees with people's labels, with score intervals, which hold their level near 0 and 1."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields
from itertools import groupby
from statistics import StatisticsError, correlation, pvariance

from pytest_ragcheck.frozen import frozen
from pytest_ragcheck.summary.metric_statistics import student_quantile, wilson

_LARGEST_NUMBER_OF_BLOCKS = 200
"""With more groups than this, the jackknife leaves out several at a time."""


@frozen
class Judged:
    score: float
    """0..1."""

    good: bool

    group: str
    """Answers of one group share a source."""


@frozen
class Confusion:
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
        """Mean of `tpr` and `tnr`, 0..1; 0.5 for a random judge; None without both."""
        return None if self.tpr is None or self.tnr is None else (self.tpr + self.tnr) / 2

    @property
    def kappa(self) -> float | None:
        """
        Agreement beyond chance, -1..1; None if judge and people rate all answers alike.

        Source: Cohen (1960).
        """
        passed, good = self.good_passed + self.bad_passed, self.good_passed + self.good_failed
        by_chance = (passed * good + (self._n - passed) * (self._n - good)) / self._n**2
        return None if by_chance == 1 else (self.accuracy - by_chance) / (1 - by_chance)

    @property
    def rates(self) -> dict[str, float | None]:
        return {name: getattr(self, name) for name in ("accuracy", "balanced_accuracy", "tpr", "tnr", "kappa")}

    @property
    def _n(self) -> int:
        return self.good_passed + self.good_failed + self.bad_passed + self.bad_failed


def confusion(judged: Iterable[Judged], threshold: float) -> Confusion:
    counts = Counter((row.good, row.score >= threshold) for row in judged)
    return Confusion(
        good_passed=counts[True, True],
        good_failed=counts[True, False],
        bad_passed=counts[False, True],
        bad_failed=counts[False, False],
    )


@frozen
class RateEstimate:
    value: float
    low: float
    high: float
    """`low` to `high`: score interval at 95 % that accounts for groups."""


def difference(first: RateSample, second: RateSample, name: str) -> RateEstimate:
    """
    The rate of *first* minus that of *second*, both over the same answers in the same order.

    Source: Newcombe (1998), method 10 for paired rates, with the correlation that the jackknife over groups finds.
    """
    a, b = first.estimate(name), second.estimate(name)
    r = _correlation(first.jackknife(name), second.jackknife(name))

    def reach(down: float, up: float) -> float:
        return math.sqrt(max(0.0, down * down - 2 * r * down * up + up * up))

    value = a.value - b.value
    return RateEstimate(
        value=value,
        low=max(-1.0, value - reach(a.value - a.low, b.high - b.value)),
        high=min(1.0, value + reach(a.high - a.value, b.value - b.low)),
    )


class RateSample:
    """
    The answers of one judge by group, with the rates over all of them and without each block of groups.

    `values` has the defined ones of `accuracy balanced_accuracy tpr tnr kappa roc_auc`.

    There is at least one answer. *threshold* is the lowest score that passes, 0..1.
    """

    def __init__(self, judged: Sequence[Judged], threshold: float) -> None:
        numbers = {group: number for number, group in enumerate(dict.fromkeys(row.group for row in judged))}
        self._n_groups = len(numbers)
        self._n_blocks = min(self._n_groups, _LARGEST_NUMBER_OF_BLOCKS)
        blocks: list[list[Judged]] = [[] for _ in range(self._n_blocks)]
        for row in judged:
            blocks[numbers[row.group] % self._n_blocks].append(row)
        self._confusions = [confusion(rows, threshold) for rows in blocks]
        ordered = sorted(judged, key=lambda row: row.score)
        self._ties = [
            [(numbers[row.group] % self._n_blocks, row.good) for row in rows]
            for _, rows in groupby(ordered, key=lambda row: row.score)
        ]
        n_good = len({row.group for row in judged if row.good})
        n_bad = len({row.group for row in judged if not row.good})
        both = min(self._n_groups, 4 / (1 / n_good + 1 / n_bad)) if n_good and n_bad else 0.0
        self._independent: Mapping[str, float] = {
            "accuracy": self._n_groups,
            "balanced_accuracy": both,
            "tpr": n_good,
            "tnr": n_bad,
            "kappa": self._n_groups,
            "roc_auc": min(n_good, n_bad),
        }
        self._n = {"tpr": sum(row.good for row in judged), "tnr": sum(not row.good for row in judged)}
        self._n_answers = len(judged)
        self.values = self._rates(without=None)
        self._replicates = [self._rates(without=block) for block in range(self._n_blocks)] if self._n_blocks > 1 else []

    def jackknife(self, name: str) -> list[float]:
        """The rate without each block, or that of all answers if it is undefined."""
        return [replicate.get(name, self.values[name]) for replicate in self._replicates]

    def estimate(self, name: str) -> RateEstimate:
        """
        A rate with Wilson's interval; the jackknife over groups gives the effective number of answers.

        Source: Wilson (1927); Korn and Graubard (1998) for the effective number of answers, and Student's quantile with
        a degree of freedom for each group but one; Kottas, Kuss and Zapf (2014) for the same interval of a ROC area;
        Quenouille (1956) for the jackknife.
        """
        value = self.values[name]
        if name == "kappa":
            low, high = self._interval(name, (1 + value) / 2, scale=0.5)
            low, high = 2 * low - 1, 2 * high - 1
        else:
            low, high = self._interval(name, value, scale=1.0)
        return RateEstimate(value=value, low=min(value, low), high=max(value, high))

    def _interval(self, name: str, share: float, *, scale: float) -> tuple[float, float]:
        if self._n_blocks == 1:
            return 0.0, 1.0
        variance = scale**2 * (self._n_blocks - 1) * pvariance(self.jackknife(name))
        n = self._independent[name]
        if variance > 0:
            n = min(share * (1 - share) / variance, self._n.get(name, self._n_answers))
        return wilson(share, n, z=student_quantile(0.975, self._n_blocks - 1))

    def _rates(self, *, without: int | None) -> dict[str, float]:
        parts = [part for block, part in enumerate(self._confusions) if block != without]
        whole = Confusion(**{each.name: sum(getattr(part, each.name) for part in parts) for each in fields(Confusion)})
        rates = {**whole.rates, "roc_auc": self._roc_auc(without)}
        return {name: value for name, value in rates.items() if value is not None}

    def _roc_auc(self, without: int | None) -> float | None:
        """
        The chance that a good answer scores higher than a bad one, ties counting half; None without both.

        Source: Hanley and McNeil (1982): the area under the ROC curve is the Mann-Whitney statistic.
        """
        bad_below, wins, good_in_all = 0, 0.0, 0
        for ties in self._ties:
            good = sum(is_good for block, is_good in ties if block != without)
            bad = sum(not is_good for block, is_good in ties if block != without)
            wins += good * (bad_below + bad / 2)
            bad_below += bad
            good_in_all += good
        return wins / (good_in_all * bad_below) if good_in_all and bad_below else None


def _correlation(first: Sequence[float], second: Sequence[float]) -> float:
    # The correlation of two rates by their jackknife replicates, -1..1; 0.0 if one does not vary.
    try:
        return max(-1.0, min(1.0, correlation(first, second)))
    except StatisticsError:
        return 0.0
