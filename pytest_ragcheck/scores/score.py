"""A `Score` is a measured number, or the reason why there is none."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

LARGEST = 1e100
"""The largest absolute value of a score; the square of a larger one may exceed the range of a float."""


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
        if self.value is not None and not abs(self.value) <= LARGEST:
            raise ValueError(f"a score is a number from -{LARGEST} to {LARGEST}, not {self.value!r}")

    @classmethod
    def unscored(cls, reason: str) -> Score:
        """Return the score of a metric that applies but could not be measured."""
        return cls(None, reason)

    @classmethod
    def of(cls, formula: Callable[[], float]) -> Score:
        """Return the score of the formula, or an unscored one with the text of the formula's ValueError."""
        try:
            return cls(formula())
        except ValueError as undefined:
            return cls.unscored(str(undefined))
