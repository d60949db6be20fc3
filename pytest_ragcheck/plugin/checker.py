"""One process's share of the run's limits, and the questions that are checked within them."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from pytest_ragcheck.engine.budget import Budget
from pytest_ragcheck.engine.course import Courses
from pytest_ragcheck.engine.gate import PAUSE_SECONDS, Gate
from pytest_ragcheck.engine.turn import Turn
from pytest_ragcheck.plugin.configuration import settings_of
from pytest_ragcheck.plugin.metrics import Measures
from pytest_ragcheck.plugin.place import home_of
from pytest_ragcheck.rag.client import RagClient

if TYPE_CHECKING:
    import pytest

    from pytest_ragcheck.plugin.plan import Means
    from pytest_ragcheck.plugin.processes import Part
    from pytest_ragcheck.questions.question import Question
    from pytest_ragcheck.record import Record


class Checker:
    """
    Checks questions with whatever means their items have.

    Args:
        config: Of the process; an override of `rag_settings` changes none of the limits.
        part: What the process has of the run.
    """

    def __init__(self, config: pytest.Config, part: Part) -> None:
        settings = settings_of(config)
        folder, shared = home_of(settings) / part.run_id, part.is_worker and part.shares_disk
        self.asking = Gate(
            math.ceil(settings.concurrency / part.share),
            retries=settings.retries,
            # A recording need not be spared.
            delay_seconds=settings.delay_seconds * part.share if settings.replay is None else 0.0,
            share=part.share,
            turn=Turn(folder / "asking") if shared else None,
        )
        self.judging = Gate(
            math.ceil(settings.judge_concurrency / part.share),
            retries=settings.retries,
            share=part.share,
            turn=Turn(folder / "judging") if shared else None,
            pause_seconds=PAUSE_SECONDS,
        )
        self.budget = (
            None if settings.max_cost_usd is None else Budget(settings.max_cost_usd / part.share, settings.own_prices)
        )
        self.courses = Courses()
        """Where each question is that is under way."""

        self._config = config
        self._measures = Measures(config)

    @property
    def most(self) -> int:
        """How many requests can run at once, >= 2."""
        return self.asking.most + self.judging.most

    async def check(self, question: Question, means: Means) -> Record:
        """
        The question's record; it is asked now.

        Raises:
            OverBudget: The run has cost what it may.
        """
        client, settings = means.client, means.settings
        if not hasattr(client, "ask") and callable(client):
            function: Any = client
            client = RagClient.from_callable(function, top_k=settings.top_k, timeout_seconds=settings.timeout_seconds)
        judge, metrics = means.judge, self._measures.of(settings, means.judge)
        if self.budget is not None:
            self.budget.check()
        if settings.replay is not None:
            from pytest_ragcheck.plugin.replay import recording_of  # noqa: PLC0415 - only where a run is replayed

            replayed = recording_of(self._config, settings.replay).replayed(
                question, judge, metrics, repeats=settings.judge_repeats
            )
            client, judge, metrics = replayed.client, replayed.judge, replayed.metrics
            # The same would come of it each time.
            settings = replace(settings, repeats=1, judge_repeats=1)
        elif question.ingest:
            from pytest_ragcheck.plugin.ingestion import documents_of_run  # noqa: PLC0415 - only where there are some

            client = await documents_of_run(self._config).asks(client)
        record = await self.courses.check(
            question,
            client=client,
            judge=judge,
            metrics=metrics,
            settings=settings,
            asking=self.asking,
            judging=self.judging if self.budget is None else self.budget.room(self.judging),
        )
        if self.budget is not None and settings.replay is None:
            self.budget.spend(record.cost.system_usd)
        return record

    async def check_afresh(self, question: Question, means: Means) -> Record:
        """As `check`, by a judge that takes nothing from the verdict cache."""
        afresh = getattr(means.judge, "afresh", None)
        return await self.check(question, means if afresh is None else replace(means, judge=afresh()))
