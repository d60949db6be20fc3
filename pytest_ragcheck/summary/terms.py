"""What a run is held to as a whole."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pytest_ragcheck.settings import Settings


@dataclass(frozen=True, slots=True, kw_only=True)
class Terms:
    """The settings of the gate; each is that of `Settings` of the same name."""

    gate: str = "each"
    """`each`, `regression`, or `rate:R`."""

    tolerance: float = 0.01
    """By how much a metric's mean may drop under `regression`, 0..1."""

    false_alarms: float = 0.01
    """How often `regression` may turn red with nothing changed, 0..1."""

    missing: str = "regression"
    """Whether a question of the baseline that is gone is a `regression` or `allowed`."""

    other_baseline: str = "refuse"
    """`refuse` or `compare`: what becomes of a baseline that was made otherwise."""

    @classmethod
    def of(cls, settings: Settings) -> Terms:
        """Those of a run with the settings."""
        return cls(
            gate=settings.gate,
            tolerance=settings.tolerance,
            false_alarms=settings.false_alarms,
            missing=settings.missing,
            other_baseline=settings.other_baseline,
        )

    @property
    def lowest_rate(self) -> float | None:
        """The lowest share of passing questions, 0..1; None where the gate is no rate."""
        kind, _, rate = self.gate.partition(":")
        return float(rate) if kind == "rate" else None
