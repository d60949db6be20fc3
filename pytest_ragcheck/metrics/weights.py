"""Several metrics of one answer as one number."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pytest_ragcheck.metrics.score import Score

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True, slots=True, kw_only=True)
class Overall:
    """The weighted score of one answer."""

    score: Score
    lacks: tuple[str, ...]
    """The metrics with a weight that it is not over, in the order of the weights."""


def weighted(scores: Mapping[str, Score], weights: Mapping[str, float]) -> Overall | None:
    """
    Mean of the metrics that have results, each by its weight over the sum of their weights.

    Args:
        scores: Of one answer, by metric.
        weights: By metric, > 0; their sum does not matter.

    Returns:
        The mean, which lies between the smallest and the largest of them; unscored where they apply and none could
        be measured; None where none applies.
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
    # A mean of equal numbers can leave their range by one rounding.
    return Overall(score=Score(min(max(mean, min(measured.values())), max(measured.values()))), lacks=lacks)
