"""How far a judge agrees with people: its scores beside their labels."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING

from pytest_ragcheck.summary.bootstrap import estimates
from pytest_ragcheck.summary.confusion import Judged, confusion

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from pytest_ragcheck.summary.bootstrap import Estimate
    from pytest_ragcheck.summary.confusion import Confusion

__all__ = ["Calibration", "CurvePoint", "Judged", "calibrate"]


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
    best = _best_threshold(judged, threshold)
    return Calibration(
        n=len(judged),
        n_good=sum(row.good for row in judged),
        n_groups=len({row.group for row in judged}),
        threshold=threshold,
        confusion=confusion(judged, threshold),
        estimates=estimates(judged, threshold),
        best_threshold=best,
        at_best=None if best is None else confusion(judged, best),
        curve=tuple(_curve(judged)),
    )


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
