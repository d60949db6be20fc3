"""One measured number, or the reason why there is none."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable


@dataclass(frozen=True, slots=True)
class Score:
    """
    A metric's value for one question.

    Three things are kept apart everywhere: a metric that does not apply has no `Score` at all; one that
    applies but could not be measured is `Score.unscored(reason)`; one that was measured has a value, be it 0.0.
    """

    value: float | None
    """Finite; None where it could not be measured."""

    reason: str = ""
    """Why it could not be measured; empty where it was."""

    def __post_init__(self) -> None:
        if self.value is not None and not math.isfinite(self.value):
            raise ValueError(f"a score is a finite number, not {self.value!r}")

    @classmethod
    def unscored(cls, reason: str) -> Score:
        """A score that applies but could not be measured."""
        return cls(None, reason)

    @classmethod
    def of(cls, formula: Callable[[], float]) -> Score:
        """What the formula gives; where a ValueError of it says that it is not defined, with that reason."""
        try:
            return cls(formula())
        except ValueError as undefined:
            return cls.unscored(str(undefined))
