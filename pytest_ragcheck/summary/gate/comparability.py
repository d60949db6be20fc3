"""Finds what makes a run and its baseline incomparable: other settings, and scores that are lost."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from pytest_ragcheck.scores import ABSTAINED, DEMANDED, JUDGED, group_of
from pytest_ragcheck.short_texts import some
from pytest_ragcheck.summary.gate.procedure.count_test import floor_value
from pytest_ragcheck.summary.predictions_reader import Key, judge_name

if TYPE_CHECKING:
    from pytest_ragcheck.judging.judgement import JudgeIdentity
    from pytest_ragcheck.summary.gate.baseline_comparison import Comparison
    from pytest_ragcheck.summary.gate.baseline_reader import BaselineRow
    from pytest_ragcheck.summary.gate.gate_replies import Change
    from pytest_ragcheck.verdict.record import Record

    Differing = Mapping[str, tuple[object, object]]

_SHOWN = 5
_SETTINGS = ("judge", "prompt", "tier", "top_k")


def differences(comparison: Comparison) -> tuple[str, ...]:
    """
    The incomparable settings, such as `judge: offline then, openai gpt-5 now`; empty if all are comparable.

    A value that the baseline lacks, as in files of an earlier version, counts as equal.
    """
    measured = comparison.measured
    found = {change.before.key: other_settings(change.before, change.now) for change in measured}
    return tuple(filter(None, (_dataset(comparison), *described(found), _metrics(measured))))


def other_settings(before: BaselineRow, now: Record) -> Differing:
    """Return by name the settings that make the answers incomparable: the recorded value and today's."""
    prompt = now.judge.prompt_version if now.judge else None
    return _differing(before, now.judge, (prompt, now.question.tier, now.top_k))


def other_settings_of_rows(before: BaselineRow, now: BaselineRow) -> Differing:
    return _differing(before, now.judge, (now.prompt_version, now.tier, now.top_k))


def described(found: Mapping[Key, Differing]) -> Iterator[str]:
    """Yield a clause for each setting that differs, such as `top_k: 5 then, 3 now`, with the questions if few do."""
    for what in _SETTINGS:
        if pairs := {key: each[what] for key, each in found.items() if what in each}:
            named = f" ({_some(map('::'.join, pairs))})" if 2 * len(pairs) <= len(found) else ""
            then, now = (_some(pair[side] for pair in pairs.values()) for side in (0, 1))
            yield f"{what}: {then} then, {now} now{named}"


def _differing(before: BaselineRow, judge: JudgeIdentity | None, now: tuple[object, object, object]) -> Differing:
    prompt, tier, top_k = now
    if before.judge is None and before.prompt_version is not None:
        judge = None  # rows of other programs may name only the prompt
    values: tuple[tuple[object, object], ...] = (
        (judge_name(before.judge), judge_name(judge)),
        (before.prompt_version, prompt),
        (before.tier or tier, tier),
        (before.top_k or top_k, top_k),
    )
    return {what: pair for what, pair in zip(_SETTINGS, values, strict=True) if pair[0] != pair[1]}


def _dataset(comparison: Comparison) -> str:
    if len(comparison.missing) < len(comparison.baseline.rows) or not comparison.new:
        return ""
    then = dict.fromkeys(dataset for dataset, _ in comparison.baseline.rows)
    now = dict.fromkeys(record.question.dataset_name for record in comparison.new)
    return "" if then.keys() & now.keys() else f"dataset: {_some(then)} then, {_some(now)} now"


def _metrics(measured: Iterable[Change]) -> str:
    # A right refusal has no citations, and with some judges no refusal has groundedness.
    same = [change for change in measured if change.now.question.answerable and not change.reworded]
    refuse = all((score := change.now.scores.get(ABSTAINED)) and score.value == 1 for change in same)
    before = Counter(metric for change in same for metric in change.before.metrics)
    now = {metric for change in same for metric in change.now.scores}
    asserted = {metric for change in same for metric in change.now.dropped}
    lost = [
        metric
        for metric, n in before.items()
        if metric not in {*now, *DEMANDED, *(JUDGED if refuse else ())}
        # Up to eight answers may lack citation markers by chance.
        and (not needs_more_than_labels(metric) or (2 * n >= len(same) and (n > 8 or metric in asserted)))
    ]
    return f"metrics: {_some(lost)} then, no score on any answer now" if lost else ""


def _some(values: Iterable[object]) -> str:
    return some(dict.fromkeys("none" if value is None else str(value) for value in values), _SHOWN)


@dataclass(slots=True)
class LostScores:
    """The questions with a score of a metric in the latest saved run, today, or both."""

    metric: str
    lost: list[Key] = field(default_factory=list)
    n_gained: int = 0
    n: int = 0

    @property
    def red(self) -> bool:
        return needs_more_than_labels(self.metric) and len(self.lost) >= floor_value(self.n_gained, self.n)


def needs_more_than_labels(metric: str) -> bool:
    """True if the metric may not apply to an answer, as without citation markers."""
    return group_of(metric) in {None, "citations"} and metric not in DEMANDED


def lost_scores(changes: Iterable[Change]) -> list[LostScores]:
    found: dict[str, LostScores] = {}
    for change in changes:
        now, saved = change.now, change.before.saved
        # A refusal of an unanswerable question is right, and cites nothing.
        if not (saved and now.question.answerable):
            continue
        for metric in {ABSTAINED, *now.thresholds, *now.dropped}:
            scores = found.setdefault(metric, LostScores(metric))
            had, has = metric in saved[-1][0].scores, metric in now.scores
            scores.n += had or has
            scores.n_gained += has > had
            if had > has:
                scores.lost.append(now.question.key)
    return [found[metric] for metric in sorted(found) if found[metric].lost]
