"""Defines the protocols of metrics, adapts users' metrics to them, calls metrics, and chooses those of a run."""

from __future__ import annotations

import inspect
import re
from asyncio import CancelledError
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, Protocol

from pytest_ragcheck.concurrency.limiter import Limiter
from pytest_ragcheck.config.metric_readers import model_and_layer
from pytest_ragcheck.config.readers import LOCAL
from pytest_ragcheck.errors import MeasurementError, UsageError
from pytest_ragcheck.judging.checked_judgement import model_of
from pytest_ragcheck.judging.local_model import missing_packages
from pytest_ragcheck.metrics.citations import Citations
from pytest_ragcheck.metrics.mentions import Leaks, Mentions
from pytest_ragcheck.metrics.retrieval import Retrieval
from pytest_ragcheck.metrics.similarity import (
    BertScore,
    Overlap,
    Similarity,
    chrf,
    exact_match,
    rouge_l,
    token_f1,
)
from pytest_ragcheck.questions.question import Question
from pytest_ragcheck.rag.answer import RagAnswer
from pytest_ragcheck.rag.ask import settled
from pytest_ragcheck.scores import BOUNDED, EXTRAS, LARGEST, METRICS, OF_ANSWERS, Score, number

if TYPE_CHECKING:
    from pytest_ragcheck.config.settings import Settings
    from pytest_ragcheck.judging.judgement import Judge


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


def choose_metrics(settings: Settings, judge: Judge | None = None) -> tuple[RunMetric, ...]:
    """
    The metrics of the chosen groups, and those that every run measures.

    The judge measures the groups `judge` and `abstention`; the group `performance` belongs to the whole run. The groups
    `ragas` and `citations` ask the judge's model, if it has one.

    Raises:
        UsageError: A group needs a package that is not installed.
    """
    check_installed(settings)
    groups = settings.run.metrics
    metrics: list[RunMetric] = []
    if "overlap" in groups:
        metrics.append(Overlap(exact_match=exact_match, f1=token_f1))
    if "lexical" in groups:
        metrics.append(Overlap(rouge_l=rouge_l, chrf=chrf))
    if "semantic" in groups:
        from pytest_ragcheck.judging.judge_choice import choose_embeddings

        metrics.append(Similarity(choose_embeddings(settings)))
    if "bertscore" in groups:
        model, layer = model_and_layer(settings.run.bertscore_model)
        metrics.append(BertScore(model, layer))
    if "ragas" in groups:
        metrics.append(_ragas(settings, judge))
    if "citations" in groups:
        from pytest_ragcheck.metrics.citation_support import CitationSupport

        metrics.append(CitationSupport(model_of(judge)))
    if "retrieval" in groups:
        metrics.append(Retrieval(settings.endpoint.top_k))
    return (*metrics, Mentions(), Leaks(), Citations())


def check_installed(settings: Settings) -> None:
    """Raises a `UsageError` if a group or a local model needs a package that is not installed."""
    for group in settings.run.metrics:
        missing = [package for package in EXTRAS.get(group, ()) if find_spec(package) is None]
        if missing:
            raise UsageError(
                f"rag_metrics: the group {group} needs {' and '.join(missing)}, not installed here: "
                f'pip install "pytest-ragcheck[{group}]", or leave the group out'
            )
    embeds = settings.judge.name == "ragas" or not {"semantic", "ragas"}.isdisjoint(settings.run.metrics)
    if embeds and (settings.judge.embedding_model or "").startswith(LOCAL) and (lacking := missing_packages()):
        raise UsageError(
            f"rag_embedding_model: a local model needs {lacking}, not installed here: "
            'pip install "pytest-ragcheck[semantic]", or name the model of a server'
        )


def _ragas(settings: Settings, judge: Judge | None) -> RunMetric:
    # The ragas metrics by the ragas library, by the judge's model, or without a model by counting words.
    from pytest_ragcheck.judging.ragas_judge import RagasJudge

    if isinstance(judge, RagasJudge):
        from pytest_ragcheck.metrics.ragas.model_ragas import RagasByLibrary

        return RagasByLibrary(judge)
    chat = model_of(judge)
    if chat is None:
        from pytest_ragcheck.metrics.ragas.stand_ins import RagasStandIns

        return RagasStandIns()
    from pytest_ragcheck.judging.judge_choice import choose_embeddings
    from pytest_ragcheck.metrics.ragas.model_ragas import RagasMetrics

    return RagasMetrics(chat, choose_embeddings(settings))
