"""Keeps the replies to the requests of the gate, and runs its procedure over those of a run."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import field, replace
from typing import TYPE_CHECKING, Any

from pytest_ragcheck.frozen import frozen
from pytest_ragcheck.scores import measured_values
from pytest_ragcheck.summary.gate.procedure.candidate import examine
from pytest_ragcheck.summary.gate.procedure.compared_question import (
    ComparedQuestion,
    Examined,
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
from pytest_ragcheck.summary.gate.procedure.gate_session import GateFindings, procedure_for, weigh
from pytest_ragcheck.summary.gate.procedure.mean_test import lower_sum_p
from pytest_ragcheck.verdict.record import Record
from pytest_ragcheck.verdict.verdict import Verdict

if TYPE_CHECKING:
    from pytest_ragcheck.summary.gate.baseline_reader import BaselineRow
    from pytest_ragcheck.summary.run_outcomes import GateRules

_PLAIN = ("gate", "thresholds", "apart", "same", "ids_renamed", "not_judged", "over_budget")
"""Fields whose value is a JSON value."""

_ALWAYS_WRITTEN = ("gate", "thresholds", "now", "known", "saved_runs")


@frozen
class GateReplies:
    """One question's replies to the gate's requests. The item's process asks; the decision runs over the replies."""

    gate: str
    """The procedure that made the requests, `confirmed` or `regression`."""

    thresholds: Scores

    now: Look
    known: tuple[KnownRun, ...] = ()
    """The saved runs that can be compared, oldest first; empty if none can."""

    apart: str = ""
    """Why no saved run can be compared; empty if one can."""

    same: bool = False
    """True if the answer of today is a recorded one, whose scores are kept."""

    ids_renamed: bool = False
    """True if the contexts are known texts under document ids that no saved run has."""

    replies: tuple[Reply, ...] = ()
    """The replies to the requests of `examine`, in their order."""

    judged: Mapping[str, tuple[Scores, ...]] = field(default_factory=dict)
    """Further judgements of today by digest of the answer, for the test of the means."""

    drift: tuple[Scores, Scores] | None = None
    """Recorded and new scores of an unchanged answer that was judged again; None if it was not."""

    not_judged: bool = False
    """True if the answers changed and could not all be judged today, so that the mean leaves them out."""

    over_budget: bool = False
    """True if a request was not made because the run had reached its cost limit."""

    saved_runs: tuple[str, ...] = ()
    """The end of each saved run, which identifies the baseline."""

    def compared(self, record: Record) -> ComparedQuestion:
        """The question in the form of the procedure; `known` must not be empty."""
        question = record.question
        return ComparedQuestion(
            key=question.key,
            thresholds=self.thresholds,
            known=self.known,
            now=self.now,
            documents=frozenset(passage.doc_id for passage in question.gold_passages if passage.doc_id),
            context_documents=frozenset(record.source_ids or ()),
        )

    def examined(self, record: Record, *, deterministic_judge: bool) -> Examined:
        """Run the procedure over the kept replies; a missing reply counts as not measured."""
        kept = iter(self.replies)
        steps = examine(self.compared(record), gate=self.gate, deterministic_judge=deterministic_judge)
        return drive(steps, lambda _: next(kept, None))

    def to_document(self) -> dict[str, Any]:
        """JSON values, without the optional ones that are empty or False."""
        document = {
            **{name: getattr(self, name) for name in _PLAIN},
            "thresholds": dict(self.thresholds),
            "now": _look(self.now),
            "known": [list(map(_look, run.looks)) for run in self.known],
            "replies": list(map(_reply, self.replies)),
            "judged": {answer: list(map(dict, times)) for answer, times in self.judged.items()},
            "drift": self.drift and list(map(dict, self.drift)),
            "saved_runs": list(self.saved_runs),
        }
        return {name: value for name, value in document.items() if value or name in _ALWAYS_WRITTEN}

    @classmethod
    def from_document(cls, document: Mapping[str, Any]) -> GateReplies:
        drift = document.get("drift")
        return cls(
            **{name: document[name] for name in _PLAIN if name in document},
            now=Look(**document["now"]),
            known=tuple(KnownRun(looks=tuple(Look(**look) for look in looks)) for looks in document["known"]),
            replies=tuple(map(_read_reply, document.get("replies", ()))),
            judged={key: tuple(times) for key, times in document.get("judged", {}).items()},
            drift=(drift[0], drift[1]) if drift else None,
            saved_runs=tuple(document.get("saved_runs", ())),
        )


def evidence_of(record: Record) -> GateReplies | None:
    return GateReplies.from_document(record.evidence) if record.evidence else None


def _look(look: Look) -> dict[str, Any]:
    fresh = {"fresh": True} if look.fresh else {}
    return {"answer": look.answer, "scores": dict(look.scores), "passed": look.passed, **fresh}


def _reply(reply: Reply) -> Any:
    if reply is None:
        return None
    return _look(reply) if isinstance(reply, Look) else list(map(dict, reply))


def _read_reply(document: Any) -> Reply:
    if document is None:
        return None
    return Look(**document) if isinstance(document, Mapping) else tuple(document)


@frozen
class Change:
    before: BaselineRow
    now: Record
    reworded: bool

    @property
    def edited(self) -> bool:
        question, saved = self.now.question, self.before.saved
        # Questions of result files have no path, and not all labels.
        return self.reworded or bool(question.path and saved and not saved[-1][0].has_labels_of(question))


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
    """Questions that the mean leaves out."""

    n_over_budget: int = 0
    """Questions that were not examined to the end because of the cost limit."""


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
