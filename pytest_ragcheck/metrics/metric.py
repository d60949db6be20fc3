"""Defines the protocols `Metric` and `RunMetric`, and calls metrics."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Protocol

from pytest_ragcheck.concurrency.limiter import Limiter
from pytest_ragcheck.errors import MeasurementError
from pytest_ragcheck.questions.question import Question
from pytest_ragcheck.rag.answer import RagAnswer
from pytest_ragcheck.scores.catalogue import OF_ANSWERS
from pytest_ragcheck.scores.score import Score


class Metric(Protocol):
    """
    Measures answers: one number, or several numbers from one computation.

    Users' metrics may be simpler; see `OwnMetric`. A metric lives as long as the run, and its `aclose` is awaited
    at the end of the run.
    """

    @property
    def names(self) -> Sequence[str]:
        """The names of the scores, known before the first question, so that thresholds can use them."""
        ...

    async def score(self, question: Question, answer: RagAnswer) -> Mapping[str, Score]:
        """
        The scores by name, without those that do not apply to the question.

        Raises:
            MeasurementError: Nothing could be measured.
        """
        ...


class RunMetric(Metric, Protocol):
    """A built-in metric, or a user's in an `OwnMetric`."""

    @property
    def local(self) -> bool:
        """
        True if the metric computes on this machine; it then gets the texts unredacted.

        Otherwise it may call a server. It then gets the texts without secrets, shares the limit of the judge's
        requests, and is retried after a `MeasurementError` that a retry may resolve.
        """
        ...


async def measure(
    metric: RunMetric, question: Question, answer: RagAnswer, limiter: Limiter | None = None
) -> dict[str, Score]:
    """
    The scores of the metric; after a `MeasurementError` all its scores are unscored, with the reason.

    Metrics that need an answer have no scores in the tier `retrieval`. Only metrics that are not local use *limiter*.
    """
    if not question.is_answered and not OF_ANSWERS.isdisjoint(metric.names):
        return {}
    try:
        if metric.local or limiter is None:
            return dict(await metric.score(question, answer))
        return dict(await limiter.run(partial(metric.score, question, answer)))
    except MeasurementError as error:
        return dict.fromkeys(metric.names, Score.unscored(str(error)))
