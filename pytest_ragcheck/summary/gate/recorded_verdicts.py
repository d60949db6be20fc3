"""Reuses recorded verdicts of the same answers, and measures recorded answers by today's labels."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from pytest_ragcheck.frozen import frozen
from pytest_ragcheck.judging.checked_judgement import judge_identity
from pytest_ragcheck.judging.judgement import Judge, Judgement, material_digest
from pytest_ragcheck.metrics.metric import RunMetric, measure
from pytest_ragcheck.scores import METRICS, OVERALL, Score, measured_values, weighted
from pytest_ragcheck.summary.gate.procedure.compared_question import Look, passes
from pytest_ragcheck.summary.gate.saved_answer import ASKED, EXPECTED, PARTS, SavedAnswer, label_digests

if TYPE_CHECKING:
    from pytest_ragcheck.questions.question import Question
    from pytest_ragcheck.rag.answer import RagAnswer
    from pytest_ragcheck.verdict.record import Record


@frozen
class KnownVerdict:
    """The recorded judgement of an answer, with the scores that can be reused."""

    judgement: Judgement
    scores: Mapping[str, float]
    """Scores of metrics that may call a server; empty if the labels changed, because such a metric may use any."""

    @classmethod
    def of(cls, record: Record) -> dict[str, KnownVerdict]:
        """The verdict of a record by the digest of the judge's input; empty without a judgement."""
        if record.judgement is None or not record.material:
            return {}
        return {record.material: cls(judgement=record.judgement, scores=measured_values(record.scores))}


def known_verdicts(saved: Iterable[SavedAnswer], question: Question, judge: Judge) -> dict[str, KnownVerdict]:
    """The recorded verdicts by the digest of the judge's input; the first one on an answer counts."""
    identity, labels = judge_identity(judge), label_digests(question)
    found: dict[str, KnownVerdict] = {}
    for each in saved:
        same = each.judge == identity and each.has_labels_of(question, EXPECTED, ASKED)
        if same and each.judgement is not None and each.material:
            scores = each.scores if each.labels in (None, labels) else {}
            found.setdefault(each.material, KnownVerdict(judgement=each.judgement, scores=scores))
    return found


class SameScore:
    """A metric that may call a server and measures only new answers; *known* has scores by the judge's input."""

    local = False

    def __init__(self, metric: RunMetric, known: Mapping[str, Mapping[str, Score]]) -> None:
        self.names = metric.names
        self._metric = metric
        self._known = known

    async def score(self, question: Question, answer: RagAnswer) -> Mapping[str, Score]:
        known = self._known.get(material_digest(question, answer), {})
        scores = {name: known[name] for name in self.names if name in known}
        # A user may have added a name to a metric.
        if scores and (len(scores) == len(self.names) or self.names[0] in METRICS):
            return scores
        return {**await self._metric.score(question, answer), **scores}


def with_known(metrics: Sequence[RunMetric], known: Mapping[str, KnownVerdict]) -> tuple[RunMetric, ...]:
    """The metrics; those that may call a server measure only new answers."""
    scores = {material: {name: Score(value) for name, value in each.scores.items()} for material, each in known.items()}
    return tuple(metric if metric.local else SameScore(metric, scores) for metric in metrics)


async def look_of_today(
    saved: SavedAnswer,
    question: Question,
    thresholds: Mapping[str, float],
    *,
    metrics: Sequence[RunMetric],
    weights: Mapping[str, float],
    judged: Mapping[str, float] | None = None,
) -> Look | None:
    """
    The recorded answer with its scores under today's labels and its verdict under today's thresholds.

    Recorded scores are kept if the labels are the same; otherwise the metrics that need no judge measure again. Scores
    that depend on expected answers that changed are those of *judged*, a new judgement. None if an asserted metric has
    no comparable score.
    """
    values, answer = dict(saved.scores), saved.answer
    if not saved.has_labels_of(question) or not thresholds.keys() <= values.keys():
        local = [metric for metric in metrics if metric.local]
        own = {OVERALL, *(name for metric in local for name in metric.names)}
        scores = {metric: Score(value) for metric, value in (judged or {}).items()}
        if saved.has_labels_of(question, ASKED):
            same = saved.has_labels_of(question, EXPECTED)
            scores |= {m: Score(value) for m, value in values.items() if m not in own and (same or m in PARTS)}
        for metric in local:
            scores |= {} if answer is None else await measure(metric, question, answer)
        if overall := weighted(scores, weights):
            scores[OVERALL] = overall.score
        values = measured_values(scores)
    if not thresholds.keys() <= values.keys():
        return None
    digest = saved.digest(question) if answer is not None else None
    return Look(answer=digest, scores=values, passed=passes(values, thresholds))
