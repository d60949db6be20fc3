"""Runs the procedure of the gate over the kept replies of a run."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from pytest_ragcheck.frozen import frozen
from pytest_ragcheck.scores.score import measured_values
from pytest_ragcheck.summary.gate.gate_replies import GateReplies, evidence_of
from pytest_ragcheck.summary.gate.procedure.candidate import examine
from pytest_ragcheck.summary.gate.procedure.compared_question import (
    JudgeAnew,
    Key,
    KnownRun,
    Look,
    Reply,
    Request,
    Scores,
    drive,
    passes,
)
from pytest_ragcheck.summary.gate.procedure.gate_session import procedure_for, weigh
from pytest_ragcheck.summary.gate.procedure.mean_test import lower_sum_p
from pytest_ragcheck.verdict.verdict import Verdict

if TYPE_CHECKING:
    from pytest_ragcheck.summary.gate.baseline_comparison import Change
    from pytest_ragcheck.summary.gate.baseline_reader import BaselineRow
    from pytest_ragcheck.summary.gate.procedure.gate_findings import Examined, GateFindings
    from pytest_ragcheck.summary.gate_rules import GateRules
    from pytest_ragcheck.verdict.record import Record

_DETERMINISTIC = ("offline", "local", "none")
"""Kinds of judges that always score the same answer alike."""

_SMALL_DRIFT, _DRIFT_LEVEL = 0.01, 0.01
"""The least drift of the judge's mean that is reported, and its largest p-value."""


@frozen
class Judging:
    """The number of reused verdicts, and the drift of the judge since they were recorded."""

    n_same: int
    n_changed: int
    drift: Mapping[str, float]
    """By metric, the mean difference of new and recorded scores of unchanged answers that were judged again."""

    drift_is_real: bool
    """True if the drift is larger than the noise of those judgements."""

    n_drift: int
    n_not_judged: int = 0
    """Questions whose changed answers could not all be judged today, so that the mean is not over them."""

    n_over_budget: int = 0
    """Questions that were not examined to the end because the run had reached its cost limit."""


def is_deterministic(record: Record) -> bool:
    """True if a second judgement of the same answer equals the first."""
    return record.judge is None or record.judge.kind in _DETERMINISTIC


def findings_of(changes: Sequence[Change], rules: GateRules, *, is_shard: bool) -> GateFindings:
    """The findings of `confirmed` or `regression` over the kept replies of the comparable questions."""
    gate = _procedure(changes, rules, is_shard=is_shard)
    deterministic = all(is_deterministic(change.now) for change in changes)
    judged: dict[Key, dict[str, deque[Scores]]] = {}
    examined = []
    for change in changes:
        found, further = _examined(change, gate)
        examined.append(found)
        judged[found.question.key] = {answer: deque(times) for answer, times in further.items()}

    def kept_judgement(request: JudgeAnew) -> Reply:
        kept = judged[request.key]
        if not all(map(kept.get, request.answers)):
            return None
        return tuple(kept[answer].popleft() for answer in request.answers)

    return weigh(
        examined,
        kept_judgement,
        gate=gate,
        false_alarms=rules.false_alarms,
        tolerance=rules.tolerance,
        deterministic_judge=deterministic,
    )


def _procedure(changes: Sequence[Change], rules: GateRules, *, is_shard: bool) -> str:
    # The procedure for the compared questions; a shard uses the procedure of the whole run.
    if is_shard and any(evidence.gate == "regression" for each in changes if (evidence := evidence_of(each.now))):
        return rules.gate
    return procedure_for(rules.gate, len(changes))


def judging_of(changes: Sequence[Change]) -> Judging:
    found = [evidence for change in changes if (evidence := evidence_of(change.now)) is not None]
    drifts = [evidence.drift for evidence in found if evidence.drift is not None]
    differences: dict[str, list[float]] = {}
    for recorded, today in drifts:
        for metric in recorded.keys() & today.keys():
            differences.setdefault(metric, []).append(today[metric] - recorded[metric])
    asserted = {metric for evidence in found for metric in evidence.thresholds}
    drift = {m: sum(each) / len(each) for m, each in sorted(differences.items()) if m in asserted}
    return Judging(
        n_same=sum(evidence.same for evidence in found),
        n_changed=sum(not evidence.same for evidence in found),
        drift=drift,
        drift_is_real=any(_is_real(differences[metric], len(drift)) for metric in drift),
        n_drift=len(drifts),
        n_not_judged=sum(evidence.not_judged for evidence in found),
        n_over_budget=sum(evidence.over_budget for evidence in found),
    )


def _is_real(differences: Sequence[float], n_metrics: int) -> bool:
    mean = sum(differences) / len(differences)
    p = lower_sum_p([(-abs(each) if each * mean > 0 else abs(each), 0.0) for each in differences])
    return abs(mean) >= _SMALL_DRIFT and 2 * n_metrics * p <= _DRIFT_LEVEL


def _examined(change: Change, gate: str) -> tuple[Examined, Mapping[str, tuple[Scores, ...]]]:
    evidence = evidence_of(change.now)
    if evidence is not None:
        return evidence.examined(change.now, deterministic_judge=is_deterministic(change.now)), evidence.judged
    evidence = _without_requests(change.now, change.before, gate)
    again = deque(change.now.asked_again)

    def serve(_: Request) -> Look:
        # Recorded verdicts come first; after them each look is equal, as in a replay.
        passed = bool(again) and again.popleft() == Verdict.PASS.value
        return replace(evidence.now, passed=passed) if passed else evidence.now

    return drive(examine(evidence.compared(change.now), gate=gate), serve), {}


def _without_requests(record: Record, before: BaselineRow, gate: str) -> GateReplies:
    thresholds = record.thresholds
    # A maximum allows for no noise.
    passed = not record.shortfalls if record.exceeded else record.verdict is Verdict.PASS
    now = Look(answer=None, scores=measured_values(record.scores), passed=passed)
    known = tuple(
        KnownRun(looks=tuple(_recorded(look.scores, thresholds, passed=look.passed) for look in looks))
        for looks in before.saved
    )
    return GateReplies(gate=gate, thresholds=thresholds, now=now, known=known)


def _recorded(scores: Scores, thresholds: Scores, *, passed: bool) -> Look:
    if thresholds and thresholds.keys() <= scores.keys():
        passed = passes(scores, thresholds)
    return Look(answer=None, scores=scores, passed=passed)
