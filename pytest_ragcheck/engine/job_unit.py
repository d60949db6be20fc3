"""Groups the jobs of a run into the units that one process evaluates in order."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Hashable, Iterable, Iterator
from dataclasses import dataclass, field
from itertools import groupby

from pytest_ragcheck.frozen import frozen
from pytest_ragcheck.verdict.record import Record


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
        """The key of the last job, which gets its record last."""
        return self.jobs[-1].key

    def cancel(self) -> None:
        if self.task is not None:
            self.is_cancelled = True
            self.task.cancel()


def units_of(jobs: Iterable[Job]) -> Iterator[Unit]:
    """The units of jobs in their order; the jobs of a unit follow one another."""
    for _, group in groupby(jobs, key=lambda job: job.key if job.unit is None else (job.unit,)):
        yield Unit(tuple(group))
