"""How the judge drifted since the verdicts were recorded."""

from __future__ import annotations

import pytest

from pytest_ragcheck.summary.gate.baseline_reader import BaselineRow
from pytest_ragcheck.summary.gate.gate_replies import Change, judging_of
from pytest_ragcheck.verdict.verdict import Verdict
from tests.making import a_record


def judged_again(name: str, before: float, now: float) -> Change:
    look = {"answer": name, "scores": {"f1": before}, "passed": True}
    evidence = {"gate": "regression", "thresholds": {"f1": 0.5}, "now": look, "known": [[look]], "same": True}
    row = BaselineRow(dataset_name="billing", id=name, question=name, verdict=Verdict.PASS)
    drift = [{"f1": before, "other": 0.0}, {"f1": now, "other": 1.0}]
    return Change(before=row, now=a_record(name, evidence={**evidence, "drift": drift}), reworded=False)


@pytest.mark.parametrize(
    ("n", "by", "is_real"),
    [
        # All eight of one sign: 2 / 2^8 = 0.0078.
        (8, -0.02, True),
        (8, 0.02, True),
        (8, 0.009, False),
        # 2 / 2^7 = 0.0156.
        (7, -0.02, False),
    ],
)
def test_a_drift_of_all_judgements_to_one_side_is_real_if_it_is_no_chance(n: int, by: float, *, is_real: bool) -> None:
    found = judging_of([judged_again(f"q{i}", 0.8, 0.8 + by) for i in range(n)])
    assert (found.n_same, found.n_changed, found.n_drift) == (n, 0, n)
    assert found.drift == {"f1": pytest.approx(by)}
    assert found.drift_is_real is is_real


def test_a_drift_to_both_sides_may_be_noise() -> None:
    # One of eight to the other side, or none: 2 * 9 / 2^8 = 0.07.
    found = judging_of([judged_again(f"q{i}", 0.5, 0.5 + (-0.1 if i < 1 else 0.1)) for i in range(8)])
    assert found.drift == {"f1": pytest.approx(0.075)}
    assert not found.drift_is_real
