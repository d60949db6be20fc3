"""Keeps the state of a conversation, and groups jobs into the units that one process evaluates in order."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Hashable, Iterable, Iterator
from dataclasses import dataclass, field
from itertools import groupby
from typing import Protocol, TypeVar

from pytest_ragcheck.frozen import frozen
from pytest_ragcheck.questions.question import Question
from pytest_ragcheck.rag.ask import Dialogue
from pytest_ragcheck.verdict.record import Record

EARLIER_TURN = "earlier_turn"
"""The `error_kind` of the record of a turn that was not asked because an earlier turn was an ERROR."""


class Conversation:
    """
    The turns of a conversation that were asked so far, of all repeats; each repeat is a dialogue of its own.

    Used by one evaluation at a time.
    """

    def __init__(self) -> None:
        self.dialogues: tuple[Dialogue, ...] = ()
        self.begun = 0
        self.reported: set[int | None] = set()
        """The turns with a record of their own, maybe of an earlier run."""

    def go_to(self, turn: int, *, repeats: int) -> None:
        """Prepare for this turn, from 1; start all dialogues anew if it was begun before or *repeats* differs."""
        if self.begun >= turn or len(self.dialogues) != repeats:
            self.dialogues = tuple(Dialogue() for _ in range(repeats))
            self.begun = 0

    def stopped_by(self) -> int | None:
        """The first turn without an answer in each dialogue; None if all turns that were begun have one."""
        answered = min(len(dialogue.history) for dialogue in self.dialogues)
        return answered + 1 if answered < self.begun else None


class Asked(Protocol):
    @property
    def question(self) -> Question: ...


T = TypeVar("T", bound=Asked)


def conversation_of(question: Question) -> tuple[str, str] | None:
    """The dataset name and id of the question's conversation; None if it is not a turn."""
    return None if question.turn is None else (question.dataset_name, question.conversation)


def by_conversation(asked: Iterable[T]) -> list[T]:
    """The questions in their order, but all turns of a conversation at the place of its first turn."""
    units: dict[Hashable, list[T]] = {}
    for number, each in enumerate(asked):
        units.setdefault(conversation_of(each.question) or number, []).append(each)
    return [each for unit in units.values() for each in sorted(unit, key=lambda each: each.question.turn or 0)]


@frozen
class Job:
    key: Hashable
    """Equal in all processes of the run."""

    evaluate: Callable[[], Awaitable[Record]]

    unit: Hashable = None
    """The jobs of a unit are evaluated in their order, one at a time, in one process; None for a unit of one job."""


@dataclass(slots=True, eq=False)
class Unit:
    """Jobs that one process evaluates one after the other: the turns of a conversation, or a single question."""

    jobs: tuple[Job, ...]

    claimed: Hashable = None
    """The key that this process has claimed in the store: the key of the last job without a record."""

    current: Hashable = None
    """The key of the job under way; None between two jobs."""

    task: asyncio.Task[None] | None = None
    """None while the unit is not under way. The loop keeps only weak references to tasks."""

    ends: dict[Hashable, asyncio.Future[None]] = field(default_factory=dict)
    """By key, the end of each job of a unit under way, whether it has a record or not."""

    is_cancelled: bool = False
    """True after `cancel`; a client or a judge can cancel the task too."""

    @property
    def key(self) -> Hashable:
        return self.jobs[-1].key

    def cancel(self) -> None:
        if self.task is not None:
            self.is_cancelled = True
            self.task.cancel()


def units_of(jobs: Iterable[Job]) -> Iterator[Unit]:
    for _, group in groupby(jobs, key=lambda job: job.key if job.unit is None else (job.unit,)):
        yield Unit(tuple(group))
