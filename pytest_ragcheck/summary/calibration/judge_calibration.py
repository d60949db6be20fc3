"""Compares a judge's scores with people's labels."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby

from pytest_ragcheck.frozen import frozen
from pytest_ragcheck.summary.calibration.confusion import Confusion, Judged, confusion
from pytest_ragcheck.summary.calibration.score_intervals import RateEstimate, RateSample


@frozen
class CurvePoint:
    threshold: float | None
    """The threshold; None for one above every score."""

    tpr: float
    fpr: float
    """Share of the bad answers that pass, 0..1."""


@frozen
class Calibration:
    """The agreement of one score of a judge with people's labels."""

    n: int
    n_good: int
    n_groups: int
    threshold: float
    """The lowest score that passes, 0..1."""

    confusion: Confusion
    estimates: Mapping[str, RateEstimate]
    """`accuracy balanced_accuracy tpr tnr kappa roc_auc`; an undefined rate is absent."""

    best_threshold: float | None
    """The threshold with the highest balanced accuracy on these answers; None if undefined."""

    at_best: Confusion | None

    curve: tuple[CurvePoint, ...]
    """The ROC curve from (0, 0) to (1, 1); empty if people rate all answers alike."""


def calibrate(judged: Sequence[Judged], *, threshold: float) -> Calibration:
    """
    The agreement of the scores with the labels, over at least one answer.

    *threshold* is the lowest score that passes, 0..1.
    """
    best = _best_threshold(judged, threshold)
    sample = RateSample(judged, threshold)
    return Calibration(
        n=len(judged),
        n_good=sum(row.good for row in judged),
        n_groups=len({row.group for row in judged}),
        threshold=threshold,
        confusion=confusion(judged, threshold),
        estimates={name: sample.estimate(name) for name in sample.values},
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
    # A threshold halfway between two scores, the nearest to *current* among equals.
    # Rounded, since equal gains may differ in the last digit.
    gains = [(p.threshold, round(p.tpr - p.fpr, 12)) for p in _curve(judged) if p.threshold is not None]
    if not gains:
        return None
    most = max(gain for _, gain in gains)
    lower = [*(threshold for threshold, _ in gains[1:]), 0.0]
    found = [(high + low) / 2 for (high, gain), low in zip(gains, lower, strict=True) if gain == most]
    return min(found, key=lambda threshold: abs(threshold - current))
