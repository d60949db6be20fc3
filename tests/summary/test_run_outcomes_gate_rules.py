"""The rules of a gate are those that the settings name."""

from __future__ import annotations

import pytest

from pytest_ragcheck.config.settings import Settings
from pytest_ragcheck.summary.run_outcomes import GateRules


@pytest.mark.parametrize(
    ("given", "gate", "tolerance"),
    [
        ("confirmed", "confirmed", 0.01),
        ("regression", "regression", 0.01),
        ("regression:0.02", "regression", 0.02),
        ("rate:0.90", "rate:0.9", 0.01),
    ],
)
def test_the_drop_that_regression_allows_is_part_of_the_gate(given: str, gate: str, tolerance: float) -> None:
    rules = GateRules.of(Settings.of(gate=given))
    assert (rules.gate, rules.tolerance) == (gate, tolerance)
