"""Defines the protocols of metrics, adapts users' metrics to them, and calls metrics."""

from __future__ import annotations

import inspect
import re
from asyncio import CancelledError
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any, Protocol

from pytest_ragcheck.concurrency.limiter import Limiter
from pytest_ragcheck.errors import MeasurementError, UsageError
from pytest_ragcheck.questions.question import Question
from pytest_ragcheck.rag.answer import RagAnswer
from pytest_ragcheck.rag.ask import settled
from pytest_ragcheck.scores import BOUNDED, LARGEST, METRICS, OF_ANSWERS, Score, number


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


async def measure_all(
    metrics: Iterable[RunMetric], question: Question, answer: RagAnswer, limiter: Limiter, clean: Callable[[str], str]
) -> dict[str, Score]:
    """The scores of all metrics, with reasons without secrets."""
    return {
        name: Score(score.value, clean(score.reason), score.findings) if score.reason else score
        for metric in metrics
        for name, score in (await measure(metric, question, answer, limiter)).items()
    }


HOOK = "pytest_ragcheck_metrics"
_NAME = re.compile(r"[a-z][a-z0-9_]*")


class OwnMetric:
    """
    A user's metric: a function of question and answer, or an object with a `name` and a method `score` of both.

    Either may be async. It returns a number, a `Score`, or None if it does not apply. An object with several `names`
    returns a mapping of them. An exception, or a value that is not a number, makes the score unscored. Error texts
    begin with *given_as*, the hook or function that took the metric.

    Raises:
        UsageError: The metric is neither of these, or its name is invalid.
    """

    local = False

    def __init__(self, metric: Any, *, given_as: str = HOOK) -> None:
        plain = inspect.isroutine(metric)
        self._score = metric if plain else getattr(metric, "score", None)
        if not callable(self._score):
            raise UsageError(
                f"{given_as}: {metric!r:.80} is not a metric: "
                "give functions of (question, answer), or objects with a name and a method score(question, answer)."
            )
        single = metric.__name__ if plain else getattr(metric, "name", None)
        given: Any = (single,) if single is not None else getattr(metric, "names", None)
        self.names: tuple[str, ...] = tuple(given) if isinstance(given, Iterable) and not isinstance(given, str) else ()
        if not self.names or not all(isinstance(name, str) and _NAME.fullmatch(name) for name in self.names):
            raise UsageError(
                f"{given_as}: {metric!r:.80} has the name {given if single is None else single!r}: "
                "give it a name of lower-case letters, digits and '_' that begins with a letter."
            )
        self._single = single is not None
        self.aclose = getattr(metric, "aclose", None)

    async def score(self, question: Question, answer: RagAnswer) -> dict[str, Score]:
        try:
            returned = await settled(self._score, question, answer)
        except (MeasurementError, KeyboardInterrupt, SystemExit, GeneratorExit, CancelledError):
            raise
        except BaseException as error:
            # A bug or a pytest.skip() in a user's metric must not decide the question's verdict.
            return dict.fromkeys(self.names, Score.unscored(f"{type(error).__name__}: {error}"))
        if self._single:
            returned = {self.names[0]: returned}
        elif not isinstance(returned, Mapping) or not returned.keys() <= set(self.names):
            reason = f"score() returned {returned!r:.80}, not a mapping of {', '.join(self.names)}"
            return dict.fromkeys(self.names, Score.unscored(reason))
        return {name: _read(value) for name, value in returned.items() if value is not None}


class Elsewhere:
    """The users' metrics of other folders: a minimum of the run is dropped, as of any metric that does not apply."""

    local = True

    def __init__(self, names: Sequence[str]) -> None:
        self.names = names

    async def score(self, question: Question, answer: RagAnswer) -> dict[str, Score]:  # noqa: ARG002
        return {}


def read_own(given: Any) -> tuple[OwnMetric, ...]:
    """Reads what the hook returned; a `UsageError` unless it is None or a list of metrics."""
    if not isinstance(given, list | tuple | None):
        raise UsageError(f"{HOOK}: {given!r:.80} was returned: return a list of metrics.")
    return tuple(map(OwnMetric, given or ()))


def distinct(metrics: Iterable[OwnMetric], *, given_as: str = HOOK) -> tuple[OwnMetric, ...]:
    """Raises a `UsageError` if two metrics share a name, or one has that of a built-in metric or measurement."""
    metrics = tuple(metrics)
    own = (*METRICS, *BOUNDED)
    taken = set(own)
    for name in (name for metric in metrics for name in metric.names):
        if name in taken:
            of = "a metric of pytest-ragcheck's" if name in own else "another metric"
            raise UsageError(f"{given_as}: {name!r} is also the name of {of}: give it another name.")
        taken.add(name)
    return metrics


def _read(value: Any) -> Score:
    if isinstance(value, Score):
        return Score(value.value, str(value.reason), value.findings)
    value_read = number(value)
    if not abs(value_read) <= LARGEST:  # NaN too
        return Score.unscored(f"score() returned {value!r:.80}, not a number up to {LARGEST}")
    return Score(value_read)
