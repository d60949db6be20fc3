"""Evaluates a question within the limits of a run: requests at once, time, and cost."""

from __future__ import annotations

import os
from collections.abc import Hashable, Iterable, Iterator
from dataclasses import field
from functools import partial
from itertools import groupby

from pytest_ragcheck.check import PreparedQuestion, blank_record
from pytest_ragcheck.concurrency.limiter import NO_LIMIT, Limiter
from pytest_ragcheck.config.settings import Settings
from pytest_ragcheck.engine.budget import Budget, BudgetedLimiter, ReportedCost
from pytest_ragcheck.engine.conversation import EARLIER_TURN, Conversation, Job, by_conversation, conversation_of
from pytest_ragcheck.engine.limits.request_limiter import APART_SECONDS, PAUSE_SECONDS, RequestLimiter
from pytest_ragcheck.engine.limits.slots import Slots
from pytest_ragcheck.engine.prefetch import Prefetcher
from pytest_ragcheck.engine.question_progress import ProgressBoard
from pytest_ragcheck.frozen import frozen, replace
from pytest_ragcheck.metrics.cost import summed
from pytest_ragcheck.verdict.maximums import with_whole_cost
from pytest_ragcheck.verdict.record import Record


@frozen
class RunLimits:
    asking: RequestLimiter
    """Requests to the endpoint, including uploads."""

    judging: RequestLimiter
    pid: int = field(default_factory=os.getpid)

    @classmethod
    def of(cls, settings: Settings, *, asking: Slots | int, judging: Slots | int) -> RunLimits:
        endpoint = settings.endpoint
        return cls(
            asking=RequestLimiter(
                asking, retries=endpoint.retries, delay_seconds=endpoint.delay_seconds, apart_seconds=APART_SECONDS
            ),
            judging=RequestLimiter(judging, retries=endpoint.retries, pause_seconds=PAUSE_SECONDS),
        )

    def room(self, under_way: int, *, processes: int = 1) -> int:
        """
        How many questions this process may begin in addition to those under way.

        A single process begins enough to keep both limits full while some requests take long. One of several begins its
        even share, and more only while none of its requests waits, because another process may ask the others sooner.
        """
        most = self.asking.most + self.judging.most
        if processes == 1:
            return most + 2 * max(self.asking.most, self.judging.most) - under_way
        share = -(-self.asking.most // processes) + -(-self.judging.most // processes)
        if under_way < share:
            return share - under_way
        idle = not self.asking.waiting and not self.judging.waiting
        return int(idle and under_way < most)


class Evaluator:
    """
    Evaluates the questions of one process.

    *asking* limits the requests to the endpoint, and *judging* those to the judge. Without a *budget*, the cost has no
    limit.
    """

    def __init__(self, *, asking: Limiter, judging: Limiter, budget: Budget | None = None) -> None:
        self.progress = ProgressBoard()
        self._asking = asking
        self._budget = budget or Budget(None, {})
        self._judging = BudgetedLimiter(self._budget, judging)

    async def evaluate(self, prepared: PreparedQuestion, conversation: Conversation | None = None) -> Record:
        """
        The record of the question; `OverBudget` if the run has reached its cost limit.

        The turns before it that the *conversation*, by default a new one, has not asked yet are asked first; they are
        neither judged nor measured, and the cost of those without a record is part of the record. If one of them has no
        answer, the record is its ERROR. After an ERROR of a turn that has its own record, the `error_kind` is
        `EARLIER_TURN`.
        """
        question = prepared.question
        if conversation is None and question.earlier:
            conversation = Conversation()
        if conversation is None or question.turn is None:
            record = await self._checked(prepared)
        else:
            record = await self._checked_turn(prepared, conversation, question.turn)
        return record if prepared.complete is None else await prepared.complete(record)

    async def _checked_turn(self, prepared: PreparedQuestion, conversation: Conversation, turn: int) -> Record:
        self._budget.check()  # before the turn counts as begun
        question, costs = prepared.question, []
        conversation.go_to(turn, repeats=prepared.settings.run.repeats)
        stopped_by = conversation.stopped_by()
        if stopped_by is not None:
            return replace(blank_record(prepared), error_kind=EARLIER_TURN, reason=f"turn {stopped_by} was an ERROR")
        for earlier in question.asked_before[conversation.begun :]:
            conversation.begun += 1
            record = await self._checked(replace(prepared, question=earlier, judge=None, metrics=()), conversation)
            if earlier.turn not in conversation.reported:
                costs.append(record.cost)
            if conversation.stopped_by() is not None:
                # No item reports the earlier turn, so this one does, and a rerun begins anew.
                conversation.begun = turn
                reason = f"turn {earlier.turn}, which is asked first, has no answer: {record.reason}"
                return replace(blank_record(prepared), error_kind=record.error_kind, reason=reason, cost=summed(costs))
        conversation.begun = turn
        record = await self._checked(prepared, conversation)
        return with_whole_cost(record, summed((record.cost, *costs)))

    async def _checked(self, prepared: PreparedQuestion, conversation: Conversation | None = None) -> Record:
        self._budget.check()
        if prepared.upload is not None:
            prepared = replace(prepared, client=await prepared.upload(prepared.client))
            self._budget.check()
        asking = NO_LIMIT if prepared.is_recorded else ReportedCost(self._asking)
        try:
            return await self.progress.check(
                prepared,
                asking=asking,
                judging=self._judging,
                dialogues=() if conversation is None else conversation.dialogues,
            )
        finally:
            if isinstance(asking, ReportedCost):
                self._budget.spend(asking.usd)


async def evaluate_all(prepared: Iterable[PreparedQuestion], settings: Settings) -> tuple[Record, ...]:
    """
    The records of the questions in their order, evaluated at once in the running loop.

    A turn after one without an answer has no record.
    """
    limits = RunLimits.of(settings, asking=settings.endpoint.concurrency, judging=settings.judge_concurrency)
    evaluator = Evaluator(asking=limits.asking, judging=limits.judging)
    prefetcher = Prefetcher(room=limits.room)
    in_order = by_conversation(prepared)
    try:
        await prefetcher.add(jobs_of(enumerate(in_order), evaluator))
        taken = [await prefetcher.take(number) for number in range(len(in_order))]
    finally:
        await prefetcher.close()
    return tuple(record for record in taken if record is not None and record.error_kind != EARLIER_TURN)


def jobs_of(prepared: Iterable[tuple[Hashable, PreparedQuestion]], evaluator: Evaluator) -> Iterator[Job]:
    """
    Yield a job for each question with its key; the turns of a conversation are a unit.

    The questions are in the order of `by_conversation`, and each is prepared only when its job is needed.
    """
    for unit, jobs in groupby(prepared, lambda job: conversation_of(job[1].question)):
        conversation = Conversation() if unit else None
        for key, each in jobs:
            if conversation is not None:
                conversation.reported.add(each.question.turn)
            yield Job(key=key, evaluate=partial(evaluator.evaluate, each, conversation), unit=unit)
