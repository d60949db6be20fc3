"""Combines several metrics of one answer into one weighted score."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from pytest_ragcheck.scores.score import Score


@dataclass(frozen=True, slots=True, kw_only=True)
class Overall:
    """The weighted score of one answer."""

    score: Score
    lacks: tuple[str, ...]
    """The weighted metrics without a result, in the order of the weights."""


def weighted(scores: Mapping[str, Score], weights: Mapping[str, float]) -> Overall | None:
    """
    Weighted mean of the metrics that have results.

    Args:
        scores: The scores of one answer by metric.
        weights: The weights by metric, > 0; the sum of the weights does not matter.

    Returns:
        The mean, between the smallest and the largest result. It is unscored if metrics apply but none could be
        measured, and None if none applies.
    """
    values = {metric: score.value for metric in weights if (score := scores.get(metric)) is not None}
    if not values:
        return None
    measured = {metric: value for metric, value in values.items() if value is not None}
    lacks = tuple(metric for metric in weights if metric not in measured)
    if not measured:
        return Overall(score=Score.unscored(f"none of {', '.join(values)} could be measured"), lacks=lacks)
    total = math.fsum(weights[metric] for metric in measured)
    mean = math.fsum(weights[metric] * value for metric, value in measured.items()) / total
    # Rounding can move a mean of equal numbers out of their range.
    return Overall(score=Score(min(max(mean, min(measured.values())), max(measured.values()))), lacks=lacks)
