"""Scores recorded answers under today's labels and thresholds, with everything that needs no judge."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from pytest_ragcheck.metrics.metric import Metric, measure
from pytest_ragcheck.scores.catalogue import OVERALL
from pytest_ragcheck.scores.score import Score, measured_values, weighted
from pytest_ragcheck.summary.gate.procedure.compared_question import Look, passes
from pytest_ragcheck.summary.gate.recorded.saved_answer import SavedAnswer

if TYPE_CHECKING:
    from pytest_ragcheck.questions.question import Question


async def look_of_today(
    saved: SavedAnswer,
    question: Question,
    thresholds: Mapping[str, float],
    *,
    metrics: Sequence[Metric],
    weights: Mapping[str, float],
) -> Look | None:
    """
    The recorded answer with its scores under today's labels and its verdict under today's thresholds.

    Recorded scores are kept if the labels are the same; otherwise the metrics that need no judge measure again. Judged
    scores are kept unless the expected answers changed. None if an asserted metric has no comparable score.
    """
    scores = dict(saved.scores)
    if not saved.has_labels_of(question) or not thresholds.keys() <= scores.keys():
        scores = await _measured(saved, question, metrics=metrics, weights=weights)
    if not thresholds.keys() <= scores.keys():
        return None
    return Look(
        answer=saved.digest(question) if saved.answer is not None else None,
        scores=scores,
        passed=passes(scores, thresholds),
    )


async def _measured(
    saved: SavedAnswer, question: Question, *, metrics: Sequence[Metric], weights: Mapping[str, float]
) -> dict[str, float]:
    local = [metric for metric in metrics if metric.local]
    scores: dict[str, Score] = {}
    if saved.has_answers_of(question):
        own = {OVERALL, *(name for metric in local for name in metric.names)}
        scores = {metric: Score(value) for metric, value in saved.scores.items() if metric not in own}
    answer = saved.answer
    if answer is not None:
        for metric in local:
            scores |= await measure(metric, question, answer)
    overall = weighted(scores, weights)
    if overall is not None:
        scores[OVERALL] = overall.score
    return measured_values(scores)
