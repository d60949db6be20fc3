"""What a run is held to as a whole."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from pytest_ragcheck.config.readers import MISSING_QUESTIONS, OTHER_SETTINGS

if TYPE_CHECKING:
    from collections.abc import Collection

    from pytest_ragcheck.config.settings import Settings


COMPARING = ("confirmed", "regression")
"""The gates that compare with saved runs, and ask and judge again where that decides."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GateRules:
    """The settings of the gate; each is that of `Settings` of the same name."""

    gate: str = "each"
    """`each`, `confirmed`, `regression`, or `rate:R`."""

    tolerance: float = 0.01
    """By how much a metric's mean may drop under `regression`, 0..1."""

    false_alarms: float = 0.01
    """How often `regression` may turn red with nothing changed, 0..1."""

    missing: str = "regression"
    """Whether a question of the baseline that is gone is a `regression` or `allowed`."""

    other_baseline: str = "refuse"
    """`refuse` or `compare`: what becomes of a baseline that was made otherwise."""

    @classmethod
    def of(cls, settings: Settings) -> GateRules:
        """Those of a run with the settings."""
        return cls(
            gate=settings.gate.rule,
            tolerance=settings.gate.tolerance,
            false_alarms=settings.gate.false_alarms,
            **allowances(settings.gate.baseline_allows),
        )

    @property
    def lowest_rate(self) -> float | None:
        """The lowest share of passing questions, 0..1; None where the gate is no rate."""
        kind, _, rate = self.gate.partition(":")
        return float(rate) if kind == "rate" else None


def allowances(differences: Collection[str]) -> dict[str, str]:
    """Return the terms `missing` and `other_baseline` of `rag_baseline_allow`."""
    return {
        "missing": "allowed" if MISSING_QUESTIONS in differences else "regression",
        "other_baseline": "compare" if OTHER_SETTINGS in differences else "refuse",
    }
