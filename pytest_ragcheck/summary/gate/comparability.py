"""Finds differences that make a run and its baseline incomparable."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from pytest_ragcheck.scores.catalogue import DEMANDED
from pytest_ragcheck.summary.predictions_reader import judge_name
from pytest_ragcheck.verdict.failure_text import some
from pytest_ragcheck.verdict.verdict import Verdict

if TYPE_CHECKING:
    from pytest_ragcheck.summary.gate.baseline_comparison import Change, Comparison
    from pytest_ragcheck.verdict.record import Record

_SHOWN = 5


def differences(comparison: Comparison) -> tuple[str, ...]:
    """
    Return what makes them incomparable, such as `judge: offline then, openai gpt-5 now`; empty if they are comparable.

    Values that the baseline lacks, such as in files of earlier versions, count as equal.
    """
    measured = [change for change in comparison.compared if change.before.verdict is not Verdict.ERROR]
    return tuple(
        filter(
            None,
            (
                _dataset(comparison),
                _difference("judge", ((judge_name(c.before.judge), _judge_now(c)) for c in measured)),
                _difference("prompt", ((c.before.prompt_version, _prompt_now(c.now)) for c in measured)),
                _difference("tier", ((c.before.tier, c.now.question.tier) for c in measured if c.before.tier)),
                _difference("top_k", ((c.before.top_k, c.now.top_k) for c in measured if c.before.top_k)),
                _metrics(measured),
            ),
        )
    )


def _dataset(comparison: Comparison) -> str:
    then = dict.fromkeys(dataset for dataset, _ in comparison.baseline.rows)
    met = (*comparison.compared, *comparison.not_measured)
    if met or comparison.not_run or not comparison.new:
        return ""
    now = dict.fromkeys(record.question.dataset_name for record in comparison.new)
    return "" if then.keys() & now.keys() else f"dataset: {_some(then)} then, {_some(now)} now"


def _judge_now(change: Change) -> str:
    # Rows of other programs may name only the prompt.
    if change.before.judge is None and change.before.prompt_version is not None:
        return judge_name(None)
    return judge_name(change.now.judge)


def _prompt_now(record: Record) -> str | None:
    return record.judge.prompt_version if record.judge else None


def _metrics(measured: Iterable[Change]) -> str:
    """Return the metrics that no question has any more."""
    before: dict[str, None] = {}
    now: set[str] = set()
    for change in measured:
        if not change.reworded:
            before |= dict.fromkeys(change.before.metrics)
            now |= change.now.scores.keys()
    lost = [metric for metric in before if metric not in now and metric not in DEMANDED]
    return f"metrics: {_some(lost)} then, not measured now" if lost else ""


def _difference(what: str, pairs: Iterable[tuple[object, object]]) -> str:
    unequal = [(then, now) for then, now in pairs if then != now]
    if not unequal:
        return ""
    return f"{what}: {_some(then for then, _ in unequal)} then, {_some(now for _, now in unequal)} now"


def _some(values: Iterable[object]) -> str:
    return some(dict.fromkeys("none" if value is None else str(value) for value in values), _SHOWN)
