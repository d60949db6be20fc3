"""Examines one question: asks a newly failing one again, and judges its answers side by side."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import combinations

from pytest_ragcheck.summary.gate.procedure.compared_question import (
    AskAgain,
    ComparedQuestion,
    Examined,
    JudgeAnew,
    KnownRun,
    Look,
    Outcome,
    SideBySide,
    Steps,
)

ASKS = 2
"""Most further looks at a newly failing question, and at a failing one when a run is saved."""

MORE_ASKS = 4
"""The same under `confirmed`, and for a question that failed in some looks of a saved run."""


def asks_again(question: ComparedQuestion, gate: str) -> int:
    """How often the question is asked again if it fails each time."""
    flaky = question.stumbled or any(len({look.passed for look in run.looks}) > 1 for run in question.known)
    return MORE_ASKS if gate == "confirmed" or flaky else ASKS


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


LEVEL = 0.01
"""Chance that an answer as good as the recorded one is called worse."""

_FIRST, MOST = 5, 8
"""Judgements of each side after the first and after the second round."""

_SECOND_ROUND_P = 0.05
"""Largest p of the first round that leads to a second round."""


def judge_side_by_side(
    question: ComparedQuestion, recorded: Sequence[str], new: Sequence[str], *, deterministic: bool
) -> Steps[SideBySide | None]:
    """
    The judgements of both sides and their test; None if the answers could not be judged.

    After 5 judgements of each side p must be 1/252, the least value; after 8 it must be at most the rest of `LEVEL`. A
    deterministic judge judges each answer once, and every new answer must score below every recorded one. Most of
    the new ones must also be a FAIL.

    *question* names the asserted metrics. *recorded* has the digests of the answers that passed when saved, and *new*
    those of the answers that failed, each at least one.
    """
    distinct = [tuple(dict.fromkeys(answers)) for answers in (recorded, new)]
    if deterministic:
        margins = yield from _margins(question, *distinct)
        return margins and _found(*margins, float(max(margins[1]) >= min(margins[0])), 0)
    first, second = ((answers * MOST)[:MOST] for answers in distinct)
    margins = yield from _margins(question, first[:_FIRST], second[:_FIRST])
    if margins is None:
        return None
    p, least = worse_p(*margins), 1 / math.comb(2 * _FIRST, _FIRST)
    if p <= least or p > _SECOND_ROUND_P:
        return _found(*margins, p, least)
    more = yield from _margins(question, first[_FIRST:], second[_FIRST:])
    if more is None:
        return None
    old, late = margins[0] + more[0], margins[1] + more[1]
    return _found(old, late, worse_p(old, late), LEVEL - least)


def _found(recorded: tuple[float, ...], new: tuple[float, ...], p: float, level: float) -> SideBySide:
    # A new answer that the judge usually passes is no failure, whatever its first verdict.
    return SideBySide(recorded=recorded, new=new, p=p, worse=p <= level and sorted(new)[len(new) // 2] < 0)


def worse_p(recorded: Sequence[float], new: Sequence[float]) -> float:
    """
    The chance that a random choice of values for the new side has a sum as low, 0..1.

    Each side has at least one value.

    Source: the exact permutation test of two samples, Fisher (1935), one-sided; ties count against the new side.
    """
    values = [*recorded, *new]
    observed = math.fsum(new) + 1e-9
    sums = list(map(sum, combinations(values, len(new))))
    return sum(each <= observed for each in sums) / len(sums)


def _margins(
    question: ComparedQuestion, recorded: Sequence[str], new: Sequence[str]
) -> Steps[tuple[tuple[float, ...], tuple[float, ...]] | None]:
    # The margins of both sides over the metrics that all judgements scored; None without such a metric.
    order = alternating(len(recorded), len(new))
    sides = recorded, new
    reply = yield JudgeAnew(key=question.key, answers=tuple(sides[side][place] for side, place in order))
    # A damaged shard can have the reply to another request.
    if not isinstance(reply, tuple) or len(reply) != len(order):
        return None
    common = [metric for metric in question.thresholds if all(metric in scores for scores in reply)]
    if not common:
        return None
    margins: tuple[list[float], list[float]] = [], []
    for (side, _), scores in zip(order, reply, strict=True):
        margins[side].append(question.margin({m: scores[m] for m in common}))
    return tuple(margins[0]), tuple(margins[1])


def alternating(first: int, second: int) -> list[tuple[int, int]]:
    """Return side and index of each judgement: the sides alternate, and so does the side that begins a pair."""
    order: list[tuple[int, int]] = []
    for place in range(max(first, second)):
        pair = [(side, place) for side, size in enumerate((first, second)) if place < size]
        order += pair if place % 2 == 0 else reversed(pair)
    return order
