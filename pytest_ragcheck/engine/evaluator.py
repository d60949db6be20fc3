"""Evaluates a question within the limits of a run: requests at once, time, and cost."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from pytest_ragcheck.check import OPEN
from pytest_ragcheck.engine.limits.request_limiter import PAUSE_SECONDS, RequestLimiter
from pytest_ragcheck.engine.prefetch import Job, Prefetcher
from pytest_ragcheck.engine.question_progress import ProgressBoard

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable, Sequence

    from pytest_ragcheck.concurrency.limiter import Limiter
    from pytest_ragcheck.config.settings import Settings
    from pytest_ragcheck.engine.budget import Budget
    from pytest_ragcheck.judging.judgement import Judge
    from pytest_ragcheck.metrics.metric import Metric
    from pytest_ragcheck.questions.question import Question
    from pytest_ragcheck.rag.answer import Asks
    from pytest_ragcheck.verdict.record import Record


@dataclass(frozen=True, slots=True, kw_only=True)
class PreparedQuestion:
    """A question with everything that it is evaluated with."""

    question: Question
    client: Asks
    judge: Judge | None
    settings: Settings
    metrics: Sequence[Metric] = ()

    upload: Callable[[Asks], Awaitable[Asks]] | None = None
    """Uploads the documents of the run, and returns a client that asks about them; None without documents."""

    complete: Callable[[Record], Awaitable[Record]] | None = None
    """Adds the evidence of the gate to the record; None without a baseline."""

    is_recorded: bool = False
    """True if the client repeats a known answer, which costs nothing and takes no slot and no delay."""


class Evaluator:
    """
    Evaluates the questions of one process.

    Args:
        asking: Limits the requests to the endpoint.
        judging: Limits the requests to the judge.
        budget: Limits the cost of the run; None for no limit.
    """

    def __init__(self, *, asking: Limiter, judging: Limiter, budget: Budget | None = None) -> None:
        self.progress = ProgressBoard()
        """The progress of the questions under way."""

        self._asking = asking
        self._judging = judging if budget is None else budget.limiter(judging)
        self._budget = budget

    async def evaluate(self, prepared: PreparedQuestion) -> Record:
        """
        Return the record of the question.

        Raises:
            OverBudget: The run has reached its cost limit.
        """
        client, budget = prepared.client, self._budget
        if prepared.upload is not None:
            if budget is not None:
                budget.check()
            client = await prepared.upload(client)
        if budget is not None:
            budget.check()
        record = await self.progress.check(
            prepared.question,
            client=client,
            judge=prepared.judge,
            metrics=prepared.metrics,
            settings=prepared.settings,
            asking=OPEN if prepared.is_recorded else self._asking,
            judging=self._judging,
        )
        if budget is not None and not prepared.is_recorded:
            budget.spend(record.cost.system_usd)
        return record if prepared.complete is None else await prepared.complete(record)


async def evaluate_all(prepared: Iterable[PreparedQuestion], settings: Settings) -> tuple[Record, ...]:
    """Return the records of the questions in their order, evaluated at once in the running loop."""
    endpoint = settings.endpoint
    asking = RequestLimiter(endpoint.concurrency, retries=endpoint.retries, delay_seconds=endpoint.delay_seconds)
    judging = RequestLimiter(settings.judge_concurrency, retries=endpoint.retries, pause_seconds=PAUSE_SECONDS)
    evaluator = Evaluator(asking=asking, judging=judging)
    # As in a pytest run: enough to keep both limiters full while some requests take long.
    most = asking.most + judging.most + 2 * max(asking.most, judging.most)
    reader = Prefetcher(room=lambda under_way: most - under_way)
    jobs = [Job(key=key, evaluate=partial(evaluator.evaluate, each)) for key, each in enumerate(prepared)]
    try:
        await reader.add(jobs)
        taken = [await reader.take(job.key) for job in jobs]
    finally:
        await reader.close()
    return tuple(record for record in taken if record is not None)
