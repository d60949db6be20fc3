"""Examines one question: asks a newly failing one again, and judges its answers side by side."""

from __future__ import annotations

from collections.abc import Sequence

from pytest_ragcheck.summary.gate.procedure.compared_question import AskAgain, ComparedQuestion, KnownRun, Look, Steps
from pytest_ragcheck.summary.gate.procedure.gate_findings import Examined, Outcome, SideBySide
from pytest_ragcheck.summary.gate.procedure.side_by_side import judge_side_by_side

ASKS = 2
"""Most further looks at a newly failing question, and at a failing one when a run is saved."""

MORE_ASKS = 4
"""The same under `confirmed`, and for a question that failed in some looks of a saved run."""


def asks_again(question: ComparedQuestion, gate: str) -> int:
    """How often the question is asked again if it fails each time."""
    return MORE_ASKS if gate == "confirmed" or any(run.is_flaky for run in question.known) else ASKS


def examine(question: ComparedQuestion, *, gate: str, deterministic_judge: bool = False) -> Steps[Examined]:
    """
    Ask the question again and judge its answers side by side, as far as the decision needs.

    Most questions need no request. *gate* is `confirmed` or `regression`.
    """
    if question.is_candidate:
        return (yield from _candidate(question, gate, deterministic_judge))
    if gate == "regression" and (run := _failed_run(question)) is not None:
        return (yield from _improvement(question, run, deterministic_judge))
    return Examined(question=question)


def _candidate(question: ComparedQuestion, gate: str, deterministic: bool) -> Steps[Examined]:
    again: list[Look] = []
    for _ in range(asks_again(question, gate)):
        look = yield AskAgain(key=question.key)
        if not isinstance(look, Look):
            return Examined(question=question, outcome=Outcome.NOT_MEASURED)
        again.append(look)
        if look.passed:
            return Examined(question=question, outcome=Outcome.PASSED_AGAIN)
    recorded = [look for run in reversed(question.known) for look in run.looks if look.passed]
    before, new = _answers(recorded), _answers([question.now, *again])
    if not before or not new:
        # Without the texts of a saved run, only asking again can confirm the failure.
        return Examined(question=question, outcome=Outcome.CONFIRMED)
    found = yield from judge_side_by_side(question, before, new, deterministic=deterministic)
    return Examined(question=question, outcome=_outcome(found), side_by_side=found)


def _outcome(found: SideBySide | None) -> Outcome:
    if found is None:
        return Outcome.NOT_MEASURED
    if found.worse:
        return Outcome.CONFIRMED
    return Outcome.JUDGE_STRICTER if sum(found.recorded) < 0 else Outcome.NOT_WORSE


def _failed_run(question: ComparedQuestion) -> KnownRun | None:
    # The only saved run that failed in all looks, if the others and today passed; else None.
    failed = [run for run in question.known if run.failed]
    others = sum(run.passed for run in question.known)
    return failed[0] if question.now.passed and len(failed) == 1 and others == len(question.known) - 1 else None


def _improvement(question: ComparedQuestion, run: KnownRun, deterministic: bool) -> Steps[Examined]:
    others = [known.looks[0] for known in question.known if known is not run]
    better, worse = _answers([question.now, *others]), _answers(run.looks)
    if not better or not worse:
        return Examined(question=question, improved=True)
    found = yield from judge_side_by_side(question, better, worse, deterministic=deterministic)
    # Without a judgement the question counts as improved, which cannot cause a false alarm.
    return Examined(question=question, side_by_side=found, improved=found is None or found.worse)


def _answers(looks: Sequence[Look]) -> list[str]:
    return [look.answer for look in looks if look.answer is not None]
