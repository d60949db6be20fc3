"""Tests whether the mean over the asserted metrics dropped, by answers that were all judged today."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from statistics import NormalDist, fmean, stdev

from pytest_ragcheck.frozen import frozen
from pytest_ragcheck.summary.gate.procedure.compared_question import (
    ComparedQuestion,
    JudgeAnew,
    JudgesAnew,
    Key,
    Scores,
)
from pytest_ragcheck.summary.metric_statistics import student_quantile

_DECIMALS = 1_000_000
"""Scores are rounded to six decimals, as in the files, so that equal sums compare equal."""

_CELLS = 8192
"""Most cells; larger sums are rounded to fit."""

_WIDTH, _DROPPED = 192, 64
"""Most bits of a counter, and the lowest ones dropped before an overflow: less than 1e-20 of the total."""

_CLEAR = 0.05
"""Above this p the normal distribution is used, because no decision depends on the exact value."""

_FEW = 30


@frozen
class MetricDrop:
    """One asserted metric over the questions whose answers were judged today; the others count as unchanged."""

    metric: str
    drop: float
    """Mean of the saved runs minus the mean of today, over all questions that assert the metric."""

    p: float


@frozen
class MeanFinding:
    n_changed: int
    """Number of questions with asserted metrics whose answers differ between runs and were all judged today."""

    drop: float
    """Mean of the saved runs minus the mean of today, of the questions' means over their asserted metrics."""

    p: float
    """Chance of a drop this large if today is a run like the saved ones, 0..1."""

    metrics: tuple[MetricDrop, ...]
    """The metrics whose drop exceeds the tolerance and is significant; empty if the run is not red."""

    red: bool
    visible_drop: float | None
    """The drop that turns about four of five runs red, with as many changed answers; None if no drop can."""

    differences: Mapping[Key, float]
    """Value of today minus the mean of the saved runs, for each judged question."""


def lower_sum_p(units: Sequence[Sequence[float]]) -> float:
    """
    The chance, 0..1, of a sum as low as the sum of the first values if each unit were in random order.

    The units are independent; each has the value of today first, then those of the saved runs. With two values in each
    unit this is the paired permutation test.

    Source: Fisher (1935); all choices are counted by the algorithm of Pagano and Tritchler (1983). Equal sums count as
    low. Above 8,192 distinct sums the values are rounded to a grid, with two standard deviations of the rounding added,
    so that p gets no smaller.
    """
    whole = [[round(value * _DECIMALS) for value in unit] for unit in units]
    above = [[value - min(unit) for value in unit] for unit in whole if len(set(unit)) > 1]
    if not above:
        return 1.0
    if len(above) > _FEW and (p := _normal_p(above)) > _CLEAR:
        return p
    step = math.gcd(*(value for unit in above for value in unit))
    total = sum(map(max, above))
    slack = 0
    if total > step * _CELLS:
        step = math.ceil(total / _CELLS)
        slack = math.ceil(2 * math.sqrt(len(above) / 6))
    steps = [[(value + step // 2) // step for value in unit] for unit in above]
    return _share_at_most(steps, sum(unit[0] for unit in steps) + slack)


def _share_at_most(units: Sequence[Sequence[int]], most: int) -> float:
    # The share of all choices of one value from each unit whose sum is at most the limit.
    width = min(_WIDTH, math.prod(map(len, units)).bit_length() + 1)
    cells = (1 << (most + 1) * width) - 1
    upper_bits = cells // ((1 << width) - 1) * ((1 << max(0, width - _DROPPED)) - 1)
    # One integer holds the number of choices for each sum, in a cell of fixed width for each sum.
    counts = choices = 1
    dropped = 0
    for unit in units:
        counts = sum(counts << value * width for value in unit) & cells
        choices *= len(unit)
        if choices.bit_length() - dropped > _WIDTH - _DROPPED // 2:
            counts = counts >> _DROPPED & upper_bits
            dropped += _DROPPED
    # A number is congruent to its digit sum modulo its base minus 1. The choice of today is always counted.
    return (max(1, counts % ((1 << width) - 1)) << dropped) / choices


def _normal_p(units: Sequence[Sequence[int]]) -> float:
    means = [sum(unit) / len(unit) for unit in units]
    variance = sum((value - mean) ** 2 / len(unit) for unit, mean in zip(units, means, strict=True) for value in unit)
    return NormalDist(sum(means), math.sqrt(variance)).cdf(sum(unit[0] for unit in units))


_SECOND_ROUND_P = 0.2
"""Largest p after one judgement of each answer that leads to a second judgement."""

_POWER = 0.85


@frozen
class _Judged:
    question: ComparedQuestion
    answers: tuple[str, ...]
    """Digests of the answer of today, then of each saved run, latest first."""

    scores: dict[str, list[Scores]]

    def values(self, metric: str | None) -> list[float] | None:
        """
        The values of today and of each saved run, latest first; None if no metric was scored in all runs.

        Without *metric*, they are means over the asserted metrics that were scored in all runs.
        """
        asserted = tuple(self.question.thresholds) if metric is None else (metric,)
        common = [m for m in asserted if all(any(m in scores for scores in times) for times in self.scores.values())]
        if not common:
            return None
        by_answer = {
            answer: fmean([fmean([scores[m] for scores in times if m in scores]) for m in common])
            for answer, times in self.scores.items()
        }
        return [by_answer[answer] for answer in self.answers]


def can_be_judged(questions: Sequence[ComparedQuestion]) -> list[ComparedQuestion]:
    """The questions whose answers differ between the runs and can all be judged today."""
    return [
        question
        for question in questions
        if question.changed and question.thresholds and all(look.answer for look in question.looks_by_run)
    ]


def can_be_red(changed: Sequence[ComparedQuestion], unit_of: Mapping[Key, int], level: float) -> bool:
    """True if enough units changed that a drop of all of them would be significant."""
    runs: dict[int, int] = {}
    for question in changed:
        unit = unit_of[question.key]
        runs[unit] = min(runs.get(unit, len(question.known)), len(question.known))
    return math.fsum(math.log(known + 1) for known in runs.values()) >= -math.log(level)


def weigh_means(
    questions: Sequence[ComparedQuestion],
    changed: Sequence[ComparedQuestion],
    unit_of: Mapping[Key, int],
    judge_anew: JudgesAnew,
    *,
    level: float,
    tolerance: float,
    deterministic_judge: bool,
) -> MeanFinding | None:
    """
    Test the mean over the asserted metrics by permuting the runs within units; None if no answer could be judged.

    The answers of a single asserted metric are judged twice, unless the first round is clearly insignificant. Unchanged
    questions differ by 0.

    *changed* has the questions of `can_be_judged`, *unit_of* the index of each question's unit. *level* is the chance
    of a red run if nothing changed, *tolerance* the accepted drop of the mean, both 0..1.
    """
    judged = _judge_once(list(map(_judged, changed)), judge_anew, first=True)
    if not judged:
        return None
    one_metric = [each for each in judged if len(each.question.thresholds) < 2]
    found = _finding(questions, judged, unit_of, level, tolerance)
    if one_metric and not deterministic_judge and found.p <= _SECOND_ROUND_P:
        several = [each for each in judged if len(each.question.thresholds) > 1]
        judged = [*several, *_judge_once(one_metric, judge_anew, first=False)]
        return _finding(questions, judged, unit_of, level, tolerance) if judged else None
    return found


def _judged(question: ComparedQuestion) -> _Judged:
    answers = tuple(look.answer or "" for look in reversed(question.looks_by_run))
    scores: dict[str, list[Scores]] = {answer: [] for answer in answers}
    if question.now.fresh:
        scores[answers[0]].append(question.now.scores)
    return _Judged(question=question, answers=answers, scores=scores)


def _judge_once(judged: Sequence[_Judged], judge_anew: JudgesAnew, *, first: bool) -> list[_Judged]:
    # Judge each answer once more; questions whose answers could not be judged are left out.
    found = []
    for each in judged:
        answers = tuple(answer for answer, scores in each.scores.items() if not (first and scores))
        reply = judge_anew(JudgeAnew(key=each.question.key, answers=answers))
        if isinstance(reply, tuple):
            for answer, scores in zip(answers, reply, strict=True):
                each.scores[answer].append(scores)
            found.append(each)
    return found


def _finding(
    questions: Sequence[ComparedQuestion],
    judged: Sequence[_Judged],
    unit_of: Mapping[Key, int],
    level: float,
    tolerance: float,
) -> MeanFinding:
    asserted = [question for question in questions if question.thresholds]
    values = [(each.question.key, found) for each in judged if (found := each.values(None)) is not None]
    differences = {key: _difference(found) for key, found in values}
    units = sums_by_unit(values, unit_of)
    p = lower_sum_p(units)
    metrics = _metric_drops(asserted, judged, unit_of) if p <= level else ()
    dropped = tuple(each for each in metrics if each.drop > tolerance and each.p <= level)
    drop = -math.fsum(differences.values()) / len(asserted)
    return MeanFinding(
        n_changed=len(judged),
        drop=drop,
        p=p,
        metrics=dropped,
        red=p <= level and (drop > tolerance or bool(dropped)),
        visible_drop=_visible_drop(judged, len(asserted), units, level, tolerance),
        differences=differences,
    )


def _metric_drops(
    questions: Sequence[ComparedQuestion], judged: Sequence[_Judged], unit_of: Mapping[Key, int]
) -> tuple[MetricDrop, ...]:
    n = Counter(metric for question in questions for metric in question.thresholds)
    found = []
    for metric, of in n.items():
        judged_by_it = [each for each in judged if metric in each.question.thresholds]
        values = [(each.question.key, v) for each in judged_by_it if (v := each.values(metric)) is not None]
        drop = -math.fsum(_difference(each) for _, each in values) / of
        found.append(MetricDrop(metric=metric, drop=drop, p=lower_sum_p(sums_by_unit(values, unit_of))))
    return tuple(found)


def sums_by_unit(values: Sequence[tuple[Key, list[float]]], unit_of: Mapping[Key, int]) -> list[list[float]]:
    """The sums of each unit's questions by run, today first, over the runs that all its questions have."""
    rows: dict[int, list[list[float]]] = defaultdict(list)
    for key, of_question in values:
        rows[unit_of[key]].append(of_question)
    return [list(map(math.fsum, zip(*of_unit, strict=False))) for of_unit in rows.values()]


def _difference(values: Sequence[float]) -> float:
    return values[0] - math.fsum(values[1:]) / (len(values) - 1)


def _visible_drop(
    judged: Sequence[_Judged], n: int, units: Sequence[Sequence[float]], level: float, tolerance: float
) -> float | None:
    """
    The drop that would turn about four of five runs red, with as many changed answers and the same spread.

    Source: the power of the t test with one degree of freedom less than saved values, close to that of the permutation
    test from 8 values on.
    """
    if len(units) < 2:
        return None
    freedom = sum(len(unit) - 1 for unit in units) - 1
    quantile, extra = student_quantile(1 - level, freedom), NormalDist().inv_cdf(_POWER)
    spread = stdev(map(_difference, units)) * math.sqrt(len(units)) / n
    widened = math.sqrt(1 + quantile**2 / (2 * freedom))
    visible = max((quantile + extra * widened) * spread, tolerance + extra * spread)
    # A mean cannot drop below 0.
    room = math.fsum(_level(each.question) for each in judged) / n
    return visible if visible < room else None


def _level(question: ComparedQuestion) -> float:
    values = [question.now.scores[metric] for metric in question.thresholds if metric in question.now.scores]
    return math.fsum(values) / len(values) if values else 0.0
