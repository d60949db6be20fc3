"""Asks the questions of one process ahead of their items or with them, and waits for the records in pytest's thread."""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar

import pytest

from pytest_ragcheck.engine.evaluator import Evaluator, jobs_of
from pytest_ragcheck.engine.prefetch import PrefetchEnded, Prefetcher
from pytest_ragcheck.engine.store.run_folder import stop, stop_reason
from pytest_ragcheck.plugin.asking.session_loop import loop_of, seconds_between_lines, write_line
from pytest_ragcheck.plugin.run_state import Evaluated
from pytest_ragcheck.plugin.workers import STOPPED, end_worker, run_folder, worker_info

if TYPE_CHECKING:
    from pytest_ragcheck.check import PreparedQuestion
    from pytest_ragcheck.engine.conversation import Conversation
    from pytest_ragcheck.engine.question_progress import ProgressBoard
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

        `PrefetchEnded` if the run was stopped.
        """
        before = self._resumed
        record = await self.prefetcher.take(key)
        return None if record is None else Evaluated(record=record, resumed=self._resumed > before)

    async def ask(self, key: str, prepared: PreparedQuestion, why: str, conversation: Conversation | None) -> Evaluated:
        """
        The record of a question, from an earlier run or asked now; *why* is why it was not prefetched.

        *conversation* has the turns that the same system answered; None for a question that is no turn.
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


T = TypeVar("T")

_LOOK_SECONDS = 0.1
"""Pause of a waiting worker between two checks for a stopped run."""


class Waiting:
    """Waits for the record of an item, and ends the session if the run is stopped."""

    def __init__(self, session: pytest.Session, progress: ProgressBoard) -> None:
        self._session = session
        self._progress = progress
        self._loop = loop_of(session.config)
        self._is_worker = worker_info(session.config).is_worker
        self._folder = run_folder(session.config)
        self._parent = os.getppid()

    def run(self, function: Callable[..., Awaitable[T]], *arguments: Any, question: Question, to_go: int) -> T:
        """Run the function in the private loop; lines name *question*, and *to_go* after it, in a long wait."""
        if not self._is_worker:
            config = self._session.config
            return self._loop.run(
                function,
                *arguments,
                every_seconds=seconds_between_lines(config),
                meanwhile=lambda: write_line(config, self._progress.line(question, to_go=to_go)),
            )
        # A worker has no terminal, and after a stop xdist still lets it run all items that it was given.
        self.end_if_stopped()
        try:
            return self._loop.run(function, *arguments, every_seconds=_LOOK_SECONDS, meanwhile=self.end_if_stopped)
        except PrefetchEnded:
            # The prefetcher also checks for the stop, and may find it before this thread does.
            end_worker(self._session, self._why_stopped() or STOPPED)
        except (KeyboardInterrupt, pytest.exit.Exception) as error:
            stop(self._folder, reason := f"{type(error).__name__}: {error}".rstrip(": "))
            end_worker(self._session, reason)

    def is_stopped(self) -> bool:
        """Return True in a worker if a process of the run stopped it, or if its controller was killed."""
        return bool(self._why_stopped())

    def end_if_stopped(self) -> None:
        if reason := self._why_stopped():
            end_worker(self._session, reason)

    def stop_others(self, reason: str) -> None:
        """Stop the other workers of the run, or end this process if one of them has stopped the run before."""
        if self._is_worker and not stop(self._folder, reason):
            self.end_if_stopped()

    def _why_stopped(self) -> str:
        if not self._is_worker:
            return ""
        reason = stop_reason(self._folder)
        if reason is None and os.getppid() == self._parent:
            return ""
        return reason or STOPPED
