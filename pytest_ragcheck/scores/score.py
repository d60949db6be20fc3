"""A `Score` is a measured number, or the reason why there is none; `weighted` combines several."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from pytest_ragcheck.frozen import frozen

LARGEST = 1e100
"""The largest absolute value of a score; the square of a larger one may exceed the range of a float."""


def number(value: object) -> float:
    """The value as a float, also of NumPy numbers and Decimals; NaN, which is in no range, for others."""
    try:
        return math.nan if isinstance(value, str | bytes) else float(value)  # type: ignore[arg-type]
    except Exception:
        return math.nan  # PyTorch raises RuntimeError


@dataclass(frozen=True, slots=True)
class Score:
    """
    The value of one metric for one question, which metrics return and assertions compare.

    Three cases are distinct. A metric that does not apply has no `Score`. A metric that could not be measured has
    `Score.unscored(reason)`. A measured metric has a value, which may be 0.0.
    """

    value: float | None
    """At most `LARGEST` in absolute value; None if the metric could not be measured."""

    reason: str = ""
    """The reason why the metric could not be measured; empty if it was."""

    findings: tuple[str, ...] = ()
    """The texts that lower the value: mentions or documents of the question, or citations; for the failure text."""

    def __post_init__(self) -> None:
        if self.value is None:
            return
        value = number(self.value)
        if not abs(value) <= LARGEST:
            raise ValueError(f"a score is a number from -{LARGEST} to {LARGEST}, not {self.value!r}")
        object.__setattr__(self, "value", value + 0.0)  # -0.0 would be shown with its sign

    @classmethod
    def unscored(cls, reason: str) -> Score:
        """The score of a metric that applies but could not be measured."""
        return cls(None, reason)

    @classmethod
    def of(cls, formula: Callable[[], float]) -> Score:
        """The score of the formula, or an unscored one with the text of the formula's ValueError."""
        try:
            return cls(formula())
        except ValueError as undefined:
            return cls.unscored(str(undefined))


def measured_values(scores: Mapping[str, Score]) -> dict[str, float]:
    return {metric: score.value for metric, score in scores.items() if score.value is not None}


@frozen
class Overall:
    score: Score
    lacks: tuple[str, ...]
    """The weighted metrics without a result, in the order of the weights."""


def weighted(scores: Mapping[str, Score], weights: Mapping[str, float]) -> Overall | None:
    """
    The weighted mean of the metrics that have results, between the smallest and the largest result.

    The mean is unscored if metrics apply but none could be measured, and None if none applies. The weights are > 0;
    their sum does not matter.
    """
    applying = {metric: scores[metric] for metric in weights if metric in scores}
    if not applying:
        return None
    measured = measured_values(applying)
    lacks = tuple(metric for metric in weights if metric not in measured)
    if not measured:
        return Overall(score=Score.unscored(f"none of {', '.join(applying)} could be measured"), lacks=lacks)
    total = math.fsum(weights[metric] for metric in measured)
    mean = math.fsum(weights[metric] * value for metric, value in measured.items()) / total
    # Rounding can move a mean of equal numbers out of their range.
    return Overall(score=Score(min(max(mean, min(measured.values())), max(measured.values()))), lacks=lacks)
