"""Estimates the requests of a gate before the run."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from pytest_ragcheck.frozen import frozen
from pytest_ragcheck.summary.gate.procedure.candidate import ASKS, MORE_ASKS
from pytest_ragcheck.summary.gate.procedure.side_by_side import MOST
from pytest_ragcheck.verdict.verdict import Verdict

if TYPE_CHECKING:
    from pytest_ragcheck.summary.gate.baseline_reader import BaselineRow


@frozen
class GateEstimate:
    """The maximum requests of a gate, if every answer is new and fails."""

    asks: int
    judgements: int


def gate_estimate(rows: Iterable[tuple[BaselineRow, int]], gate: str) -> GateEstimate:
    """
    The estimate for the gate `confirmed` or `regression`.

    Each row comes with the number of requests to ask its question again: a turn is asked after those before it.
    """
    asks = judgements = 0
    for row, requests in rows:
        if row.verdict is Verdict.ERROR:
            continue
        passed = row.verdict is Verdict.PASS
        if not passed and gate == "confirmed":
            continue
        again = MORE_ASKS if gate == "confirmed" or (row.passes and row.fails) else ASKS
        asks += again * requests
        judgements += again + (2 * MOST if passed else 0)
        if gate == "regression":
            # Each version of the answer for the mean, twice if a single metric is asserted.
            judgements += (len(row.saved) + 1) * (1 if len(row.thresholds) > 1 else 2)
    return GateEstimate(asks=asks, judgements=judgements)
