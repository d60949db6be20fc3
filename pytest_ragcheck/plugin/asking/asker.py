"""Asks the questions of one process: ahead of their items if possible, otherwise when their items run."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING

from pytest_ragcheck.engine.evaluator import Evaluator, jobs_of
from pytest_ragcheck.plugin.item_records import Evaluated

if TYPE_CHECKING:
    from pytest_ragcheck.check import PreparedQuestion
    from pytest_ragcheck.engine.conversation import Conversation
    from pytest_ragcheck.engine.prefetch import Prefetcher
    from pytest_ragcheck.engine.store.last_run import RunStore
    from pytest_ragcheck.questions.question import Question
    from pytest_ragcheck.verdict.record import Record


def with_question(stored: Record, question: Question) -> Record:
    """A stored record, which has no secrets, with the question as it is in its file today."""
    if stored.question is question:
        return stored
    history = stored.question.history
    return replace(stored, question=replace(question, history=history) if history else question)


class Asker:
    """
    Delivers the records of questions, whether they are prefetched or not. All methods run in the private loop.

    The prefetcher has the same store, and evaluates the questions of `begin`.
    """

    def __init__(self, evaluator: Evaluator, prefetcher: Prefetcher, store: RunStore | None) -> None:
        self.prefetcher = prefetcher
        self._evaluator = evaluator
        self._store = store

    async def begin(self, questions: Iterable[tuple[str, PreparedQuestion]]) -> None:
        """Begin the questions, each with its key, in the order of `by_conversation`, as slots become free."""
        await self.prefetcher.add(jobs_of(questions, self._evaluator))

    async def take(self, key: str) -> Evaluated | None:
        """
        The record of a question that `begin` was given; None if an item has used it before.

        Raises:
            PrefetchEnded: The run was stopped.
        """
        before = self._resumed
        record = await self.prefetcher.take(key)
        return None if record is None else Evaluated(record=record, resumed=self._resumed > before)

    async def ask(
        self, key: str, prepared: PreparedQuestion, why: str, conversation: Conversation | None = None
    ) -> Evaluated:
        """
        The record of a question that was not prefetched, from an earlier run or asked now.

        *why* is the reason why it was not prefetched. *conversation* has the turns that the same system answered; None
        for a question that is no turn.
        """
        if conversation is not None:
            conversation.reported.add(prepared.question.turn)
        if self._store is not None and (earlier := await self._store.take_resumed(key)) is not None:
            return Evaluated(record=with_question(earlier, prepared.question), on_demand=why, resumed=True)
        record = await self._evaluator.evaluate(prepared, conversation)
        if self._store is not None:
            await self._store.keep(key, record)
        return Evaluated(record=record, on_demand=why)

    async def close(self) -> None:
        if self._store is not None:
            self._store.file.close()

    @property
    def _resumed(self) -> int:
        return self._store.resumed if self._store is not None else 0
