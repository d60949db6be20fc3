"""Counts how often a judge with a threshold agrees with people's labels."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from pytest_ragcheck.frozen import frozen


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
