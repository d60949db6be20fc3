"""Reuses recorded verdicts if the judge and its input (question, expected answers, answer, contexts) are the same."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from pytest_ragcheck.frozen import frozen
from pytest_ragcheck.judging.checked_judgement import judge_identity
from pytest_ragcheck.judging.judgement import material_digest
from pytest_ragcheck.scores.catalogue import METRICS
from pytest_ragcheck.scores.score import Score, measured_values
from pytest_ragcheck.summary.gate.recorded.saved_answer import EXPECTED, SavedAnswer, label_digests

if TYPE_CHECKING:
    from pytest_ragcheck.judging.judgement import Judge, Judgement
    from pytest_ragcheck.metrics.metric import Metric
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
        same = each.judge == identity and (each.labels or labels).get(EXPECTED) == labels[EXPECTED]
        if same and each.judgement is not None and each.material:
            scores = each.scores if each.labels in (None, labels) else {}
            found.setdefault(each.material, KnownVerdict(judgement=each.judgement, scores=scores))
    return found


class SameScore:
    """A metric that may call a server and measures only new answers; *known* has scores by the judge's input."""

    local = False

    def __init__(self, metric: Metric, known: Mapping[str, Mapping[str, Score]]) -> None:
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


def with_known(metrics: Sequence[Metric], known: Mapping[str, KnownVerdict]) -> tuple[Metric, ...]:
    """The metrics; those that may call a server measure only new answers."""
    scores = {material: {name: Score(value) for name, value in each.scores.items()} for material, each in known.items()}
    return tuple(metric if metric.local else SameScore(metric, scores) for metric in metrics)
