"""Checks questions within the limits of the run."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from pytest_ragcheck.check import OPEN
from pytest_ragcheck.engine.budget import Budget
from pytest_ragcheck.engine.question_progress import ProgressBoard
from pytest_ragcheck.judging.same_verdict import SameVerdict
from pytest_ragcheck.plugin.asking.run_metrics import Measures
from pytest_ragcheck.plugin.asking.shared_run import limits_of
from pytest_ragcheck.plugin.collecting.run_baseline import RunBaseline
from pytest_ragcheck.plugin.configuration import settings_of
from pytest_ragcheck.rag.client import as_client
from pytest_ragcheck.summary.gate.recorded.recorded_verdicts import KnownVerdict, known_verdicts, with_known

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import pytest

    from pytest_ragcheck.config.settings import Settings
    from pytest_ragcheck.judging.judgement import Judge
    from pytest_ragcheck.metrics.metric import Metric
    from pytest_ragcheck.plugin.asking.document_step import RunDocuments
    from pytest_ragcheck.plugin.asking.plan import Backends
    from pytest_ragcheck.plugin.workers.worker_info import Part
    from pytest_ragcheck.questions.question import Question
    from pytest_ragcheck.rag.answer import Asks, RagAnswer
    from pytest_ragcheck.verdict.record import Record


class Checker:
    """
    Checks questions with the backends of their items, within the limits of the run.

    Args:
        config: The config of the process.
        part: The role of the process in the run.
    """

    def __init__(self, config: pytest.Config, part: Part) -> None:
        settings = settings_of(config)
        self.limits = limits_of(config)
        self.budget = (
            None
            if settings.run.max_cost_usd is None
            else Budget(settings.run.max_cost_usd / part.share, settings.judge.own_prices)
        )
        self.courses = ProgressBoard()
        """The progress of the questions under way."""

        self.baseline = RunBaseline.of(config)
        """The baseline that the gate compares with; None if it needs none."""

        self._config = config
        self._measures = Measures(config)
        self._documents: RunDocuments | None = None

    async def check(self, question: Question, backends: Backends) -> Record:
        """
        Ask the question now, and judge it unless the baseline has a verdict on the same answer.

        Raises:
            OverBudget: The run has reached its cost limit.
        """
        return await self._asked(question, backends, self._known(question, backends.judge))

    async def ask_again(self, record: Record, backends: Backends) -> Record:
        """Ask again, and return the new record. Verdicts on recorded answers and on that of *record* are reused."""
        known = {**self._known(record.question, backends.judge), **KnownVerdict.of(record)}
        return await self._asked(record.question, _afresh(backends), known)

    async def judge_anew(self, question: Question, answer: RagAnswer, backends: Backends) -> Record:
        """Return a record of the answer with a new verdict, from neither the baseline nor the verdict cache."""
        settings = backends.settings.replace(repeats=1, judge_repeats=1)
        afresh = _afresh(backends)
        return await self._recorded(
            question, Answers(answer), afresh.judge, self._measures.of(backends.settings, backends.judge), settings
        )

    def metrics_of(self, backends: Backends) -> tuple[Metric, ...]:
        """Return the metrics that a question with these backends is measured by."""
        return self._measures.of(backends.settings, backends.judge)

    def _known(self, question: Question, judge: Judge | None) -> dict[str, KnownVerdict]:
        row = self.baseline.row(question) if self.baseline is not None else None
        if row is None or judge is None:
            return {}
        return known_verdicts((look for looks in row.saved for look in looks), question, judge)

    async def _asked(self, question: Question, backends: Backends, known: Mapping[str, KnownVerdict]) -> Record:
        settings = backends.settings
        client = as_client(backends.client, settings)
        judge, metrics = backends.judge, self._measures.of(settings, backends.judge)
        if settings.run.replay is not None:
            from pytest_ragcheck.plugin.collecting.replay_source import recording_of

            replayed = recording_of(self._config, settings.run.replay).replayed(
                question, judge, metrics, repeats=settings.judge.repeats
            )
            client, judge, metrics = replayed.client, replayed.judge, replayed.metrics
            # Every repeat of a recording gives the same result.
            settings = settings.replace(repeats=1, judge_repeats=1)
        elif question.ingest:
            if self.budget is not None:
                self.budget.check()
            client = await self._documents_of_run().asks(client)
        if judge is not None and known:
            judge = SameVerdict(judge, {material: each.judgement for material, each in known.items()})
            metrics = with_known(metrics, known)
        return await self._recorded(question, client, judge, metrics, settings)

    async def _recorded(
        self, question: Question, client: Asks, judge: Judge | None, metrics: Sequence[Metric], settings: Settings
    ) -> Record:
        if self.budget is not None:
            self.budget.check()
        record = await self.courses.check(
            question,
            client=client,
            judge=judge,
            metrics=metrics,
            settings=settings,
            # A known answer takes no slot and no delay of the endpoint.
            asking=OPEN if isinstance(client, Answers) else self.limits.asking,
            judging=self.limits.judging if self.budget is None else self.budget.limiter(self.limits.judging),
        )
        if self.budget is not None and settings.run.replay is None and not isinstance(client, Answers):
            self.budget.spend(record.cost.system_usd)
        return record

    def end_documents(self, *, failed: bool) -> None:
        """Delete the documents that only this process can delete, while its clients are still open."""
        if self._documents is not None:
            self._documents.end(failed=failed)

    def _documents_of_run(self) -> RunDocuments:
        if self._documents is None:
            from pytest_ragcheck.plugin.asking.document_step import RunDocuments

            self._documents = RunDocuments(self._config)
        return self._documents


class Answers:
    """
    A client that gives a known answer, so that the judge can judge the answer again.

    Args:
        answer: The answer to every question.
    """

    def __init__(self, answer: RagAnswer) -> None:
        self._answer = answer

    async def ask(self, question: Question) -> RagAnswer:  # noqa: ARG002 - the protocol's name
        """Return the answer."""
        return self._answer


def _afresh(backends: Backends) -> Backends:
    """Return the backends with a judge that ignores the verdict cache."""
    afresh = getattr(backends.judge, "afresh", None)
    return backends if afresh is None else replace(backends, judge=afresh())
