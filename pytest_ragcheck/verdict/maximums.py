"""The largest time and cost that a question may take."""

from __future__ import annotations

from collections.abc import Mapping

from pytest_ragcheck.frozen import replace
from pytest_ragcheck.metrics.cost import Cost
from pytest_ragcheck.scores import BOUNDED
from pytest_ragcheck.short_texts import unequal
from pytest_ragcheck.verdict.record import Record
from pytest_ragcheck.verdict.verdict import NO_ANSWER, Verdict

_FIRST_PIECE, _COST = BOUNDED[1:]

_WHY_UNMEASURED = {
    "latency_seconds": "the client gave no latency. Leave the maximum out.",
    _FIRST_PIECE: "the answer is empty, or was not read as a stream over a network. Leave the maximum out.",
    _COST: "neither the reply nor the price table gives the price. Have the reply state metrics.cost_usd, set "
    "rag_judge_price for the model of the judge, or leave the maximum out.",
}


def with_maximums(record: Record, maximums: Mapping[str, float]) -> Record:
    """The record decided on the *maximums* of the run; those of its question replace them."""
    maximums = {**maximums, **record.question.maximums}
    is_empty = record.answer is not None and not record.answer.strip()
    free = record.cost.usd is None and not record.cost.asked_judge and (record.verdict_cached or is_empty)
    dropped = {_COST: "the judge was not asked"} if free else {}
    if not record.question.is_answered:
        dropped[_FIRST_PIECE] = NO_ANSWER
    dropped = {metric: why for metric, why in dropped.items() if maximums.pop(metric, None) is not None}
    record = replace(record, maximums=maximums, dropped={**record.dropped, **dropped})
    if record.verdict is Verdict.ERROR:
        return record
    over = [f"{metric} {unequal(value, record.maximums[metric], '>')}" for metric, value in record.exceeded.items()]
    if unmeasured := [metric for metric, value in record.bounded.items() if value is None]:
        over.append(f"{' and '.join(unmeasured)} could not be measured: {_WHY_UNMEASURED[unmeasured[0]]}")
        if not record.leaks:
            return replace(record, verdict=Verdict.ERROR, error_kind="unscored", reason=over[-1])
    if not over:
        return record
    return replace(record, verdict=Verdict.FAIL, reason="; ".join(filter(None, (*over, record.reason))))


def with_whole_cost(record: Record, cost: Cost) -> Record:
    """The record with the cost of all its evaluations, and without a maximum that the single one kept."""
    maximums = dict(record.maximums)
    if cost != record.cost and _COST not in record.exceeded:
        maximums.pop(_COST, None)
    return replace(record, cost=cost, maximums=maximums)
