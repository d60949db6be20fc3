from __future__ import annotations

from collections.abc import Collection
from typing import Any

from pytest_ragcheck.config.readers import MISSING_QUESTIONS, OTHER_SETTINGS
from pytest_ragcheck.config.settings import Settings
from pytest_ragcheck.frozen import frozen

COMPARING = ("confirmed", "regression")
"""The gates that compare with saved runs, and ask and judge again if needed."""


@frozen
class GateRules:
    gate: str = "each"
    """`each`, `confirmed`, `regression`, or `rate:R`."""

    tolerance: float = 0.01
    """Drop of a metric's mean that `regression` tolerates, 0..1: D of `regression:D`."""

    false_alarms: float = 0.01
    """Rate of false alarms of `regression`, 0..1."""

    missing: str = "regression"
    """`regression` or `allowed`: the effect of a question that only the baseline has."""

    other_baseline: str = "refuse"
    """`refuse` or `compare`: the treatment of a baseline of other settings."""

    @classmethod
    def of(cls, settings: Settings) -> GateRules:
        rules = gate_and_tolerance(settings.gate.rule) | allowances(settings.gate.baseline_allows)
        return cls(false_alarms=settings.gate.false_alarms, **rules)

    @property
    def lowest_rate(self) -> float | None:
        """The required share of passing questions, 0..1; None for other gates than `rate`."""
        kind, _, rate = self.gate.partition(":")
        return float(rate) if kind == "rate" else None


def gate_and_tolerance(rule: str) -> dict[str, Any]:
    """The fields `gate` and `tolerance` for `rag_gate`; without `tolerance` if the rule names none."""
    gate, _, drop = rule.partition(":")
    if gate != "regression" or not drop:
        return {"gate": rule}
    return {"gate": gate, "tolerance": float(drop)}


def allowances(differences: Collection[str]) -> dict[str, Any]:
    return {
        "missing": "allowed" if MISSING_QUESTIONS in differences else "regression",
        "other_baseline": "compare" if OTHER_SETTINGS in differences else "refuse",
    }
