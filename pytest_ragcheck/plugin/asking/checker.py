"""Prepares the questions of a run for their evaluation, with the backends of their items."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

from pytest_ragcheck.check import PreparedQuestion
from pytest_ragcheck.concurrency.tasks import in_thread
from pytest_ragcheck.engine.evaluator import Evaluator
from pytest_ragcheck.engine.fingerprint import store_key
from pytest_ragcheck.judging.panel import SameVerdict, afresh
from pytest_ragcheck.metrics.metric import Elsewhere
from pytest_ragcheck.metrics.metric_choice import choose_metrics
from pytest_ragcheck.plugin.asking.session_loop import close_in_loop, loop_of
from pytest_ragcheck.plugin.asking.shared_run import limits_of, new_budget
from pytest_ragcheck.plugin.configuration import has_gate, names_of_own_metrics
from pytest_ragcheck.plugin.extensions import own_metrics
from pytest_ragcheck.rag.client import as_client

if TYPE_CHECKING:
    import pytest

    from pytest_ragcheck.engine.store.last_run import RunStore
    from pytest_ragcheck.judging.judgement import Judge
    from pytest_ragcheck.metrics.metric import RunMetric
    from pytest_ragcheck.plugin.asking.document_step import RunDocuments
    from pytest_ragcheck.plugin.asking.schedule import Backends
    from pytest_ragcheck.plugin.collecting.run_baseline import RunBaseline
    from pytest_ragcheck.questions.question import Question
    from pytest_ragcheck.rag.answer import Asks, RagAnswer
    from pytest_ragcheck.rag.documents.ingestion import AsksIngested
    from pytest_ragcheck.summary.gate.recorded_verdicts import KnownVerdict
    from pytest_ragcheck.verdict.record import Record

_OPEN_METRICS = 8
"""Most pairs of settings and judge with open metrics; fixtures of narrow scope make a pair for each item."""


@dataclass(slots=True)
class _OpenMetrics:
    backends: Backends
    """Held so that no other object can get the id of one of them."""

    metrics: tuple[RunMetric, ...]
    lasting: bool = False


class Checker:
    """Prepares questions with the backends of their items, and evaluates them again for the gate."""

    def __init__(self, config: pytest.Config, store: RunStore | None) -> None:
        limits = limits_of(config)
        self.budget = new_budget(config)
        self.evaluator = Evaluator(asking=limits.asking, judging=limits.judging, budget=self.budget)
        self.baseline: RunBaseline | None = None
        """The baseline that the gate compares with; None if it needs none."""

        if has_gate(config):
            # A run without a gate does not import the gate's modules.
            from pytest_ragcheck.plugin.collecting.run_baseline import RunBaseline

            self.baseline = RunBaseline.of(config)
        self._config = config
        self._store = store
        self._metrics: dict[tuple[int, int], _OpenMetrics] = {}
        self._documents: RunDocuments | None = None

    async def ask_again(self, record: Record, backends: Backends) -> Record:
        """Ask again, and return the new record. Verdicts on recorded answers and the answer of *record* are reused."""
        from pytest_ragcheck.summary.gate.recorded_verdicts import KnownVerdict

        known = {**self._known(record.question, backends.judge), **KnownVerdict.of(record)}
        again = self._prepared(record.question, _afresh(backends), known, self.metrics_of(backends))
        return await self.evaluator.evaluate(replace(again, keep_leak=partial(self.keep_leak, backends)))

    async def judge_again(self, question: Question, answer: RagAnswer, backends: Backends) -> Record:
        """A record of the answer with a new verdict, from neither the baseline nor the verdict cache."""
        # Nothing is requested from the system, so no maximum of a request applies.
        anew = PreparedQuestion(
            # The question has the history of the answer, so that no earlier turn is asked again.
            question=replace(question, earlier=(), thresholds=question.minimums),
            client=_KnownAnswer(answer),
            judge=_afresh(backends).judge,
            metrics=self.metrics_of(backends),
            settings=backends.settings.replace(repeats=1, judge_repeats=1, max={}),
            is_recorded=True,
        )
        return await self.evaluator.evaluate(anew)

    def preparer(self, backends: Backends, *, lasting: bool) -> Callable[[Question], PreparedQuestion]:
        """A function, for any thread, that prepares questions; *lasting* backends last until the end of the run."""
        metrics = self.metrics_of(backends, lasting=lasting)
        asked = replace(backends, client=as_client(backends.client, backends.settings))
        return lambda question: self._prepared(question, asked, self._known(question, asked.judge), metrics)

    def metrics_of(self, backends: Backends, *, lasting: bool = False) -> tuple[RunMetric, ...]:
        """The metrics of questions with these backends; *lasting* ones stay open until the end of the run."""
        key = (id(backends.settings), id(backends.judge))
        if key not in self._metrics:
            for each in [each for each, made in self._metrics.items() if not made.lasting][: 1 - _OPEN_METRICS]:
                close_in_loop(self._config, *self._metrics.pop(each).metrics)
            chosen = choose_metrics(backends.settings, backends.judge)
            self._metrics[key] = _OpenMetrics(backends, chosen)
        self._metrics[key].lasting |= lasting
        here = {name for metric in backends.own for name in metric.names}
        elsewhere = [name for name in names_of_own_metrics(self._config) if name not in here]
        return *self._metrics[key].metrics, *backends.own, *([Elsewhere(elsewhere)] if elsewhere else ())

    def lacks_documents(self, backends: Backends) -> bool:
        """True if the system rejects all documents of the run, from any process."""
        asks = loop_of(self._config).run(self._upload, as_client(backends.client, backends.settings))
        return asks.lacks_documents

    def end_documents(self, *, failed: bool) -> None:
        if self._documents is not None:
            loop_of(self._config).run(self._documents.end, failed)

    def _known(self, question: Question, judge: Judge | None) -> dict[str, KnownVerdict]:
        row = self.baseline.row(question) if self.baseline is not None else None
        if row is None or judge is None:
            return {}
        from pytest_ragcheck.summary.gate.recorded_verdicts import known_verdicts

        return known_verdicts(row.answers, question, judge)

    def _prepared(
        self, question: Question, backends: Backends, known: Mapping[str, KnownVerdict], metrics: tuple[RunMetric, ...]
    ) -> PreparedQuestion:
        settings = backends.settings
        if settings.run.replay is not None:
            from pytest_ragcheck.plugin.collecting.run_baseline import recording_of

            recording = recording_of(self._config, settings.run.replay)
            prepared = recording.prepared(question, backends.judge, metrics, settings)
        else:
            prepared = PreparedQuestion(
                question=question,
                client=as_client(backends.client, settings),
                judge=backends.judge,
                settings=settings,
                metrics=metrics,
                upload=self._upload if question.ingest else None,
            )
        if prepared.judge is None or not known:
            return prepared
        from pytest_ragcheck.summary.gate.recorded_verdicts import with_known

        judge = SameVerdict(prepared.judge, {material: each.judgement for material, each in known.items()})
        return replace(prepared, judge=judge, metrics=with_known(prepared.metrics, known))

    async def keep_leak(self, backends: Backends, record: Record) -> bool:
        question, is_new = record.question, True
        if self.baseline is not None and (row := self.baseline.row(question)) is not None:
            from pytest_ragcheck.summary.gate.gate_decision import is_newly_forbidden

            # A leak may be searched by a regular expression.
            is_new = await in_thread(is_newly_forbidden, record, row)
        if self._store is not None and is_new:
            await self._store.file.keep_leak(store_key(question, backends.digest), record)
        return is_new

    async def _upload(self, client: Asks) -> AsksIngested:
        if self._documents is None:
            from pytest_ragcheck.plugin.asking.document_step import RunDocuments

            self._documents = RunDocuments(self._config)
        return await self._documents.with_documents(client)

    def close(self) -> None:
        """Close all metrics; the report has a note about one that fails."""
        made = [metric for each in self._metrics.values() for metric in each.metrics]
        close_in_loop(self._config, *own_metrics(self._config), *made)


class _KnownAnswer:
    def __init__(self, answer: RagAnswer) -> None:
        self._answer = answer

    async def ask(self, question: Question) -> RagAnswer:  # noqa: ARG002 - the protocol's name
        return self._answer


def _afresh(backends: Backends) -> Backends:
    return backends if backends.judge is None else replace(backends, judge=afresh(backends.judge))
