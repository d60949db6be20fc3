"""Questions are asked and judged before their items come to them, so that the endpoint and the judge stay busy."""

from __future__ import annotations

import asyncio
from collections import deque
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pytest_ragcheck.loop import settled

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Hashable, Iterable

    from pytest_ragcheck.record import Record


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """One question that will be wanted, and how to evaluate it."""

    key: Hashable
    evaluate: Callable[[], Awaitable[Record]]


class ReadAhead:
    """
    Evaluates jobs in their order, many at once, and hands out each record once.

    All methods run in the private loop. How many requests run at once is the business of the gates inside of
    `evaluate`; here only the number of jobs under way is bounded, so that memory is.

    Args:
        alive: How many jobs may be under way, >= 1.
        ahead: How many may be begun and not yet handed out, >= 1; None: as many as there are.
    """

    def __init__(self, *, alive: int, ahead: int | None = None) -> None:
        self._alive = asyncio.Semaphore(alive)
        self._ahead = None if ahead is None else asyncio.Semaphore(ahead)
        self._waiting: deque[Job] = deque()
        self._jobs: dict[Hashable, Job] = {}
        # The loop keeps only weak references to tasks.
        self._tasks: dict[Hashable, asyncio.Task[Callable[[], Record]]] = {}
        self._producer: asyncio.Task[None] | None = None

    async def add(self, jobs: Iterable[Job]) -> None:
        """Takes further jobs; they are begun in their order when there is room."""
        for job in jobs:
            self._jobs[job.key] = job
            self._waiting.append(job)
        if self._producer is None or self._producer.done():
            self._producer = asyncio.create_task(self._produce())

    async def take(self, key: Hashable) -> Record | None:
        """
        The record of a job, as soon as it is there; None if there is no such job, or it was taken before.

        Whatever the evaluation raised is raised here.
        """
        job = self._jobs.pop(key, None)
        if job is None:
            return None
        task = self._tasks.pop(key, None)
        if task is None:
            # Whoever runs out of order does not wait for those before.
            return await job.evaluate()
        try:
            return (await task)()
        finally:
            if self._ahead is not None:
                self._ahead.release()

    async def drop(self, key: Hashable) -> None:
        """Forgets a job, whatever has become of it."""
        self._jobs.pop(key, None)
        task = self._tasks.pop(key, None)
        if task is not None:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
            if self._ahead is not None:
                self._ahead.release()

    async def close(self) -> None:
        """Ends everything that is under way."""
        self._waiting.clear()
        tasks = [*self._tasks.values(), *([self._producer] if self._producer else [])]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _produce(self) -> None:
        while self._waiting:
            if self._ahead is not None:
                await self._ahead.acquire()
            await self._alive.acquire()
            job = self._waiting.popleft() if self._waiting else None
            if job is None or job.key not in self._jobs:
                self._alive.release()
                if self._ahead is not None:
                    self._ahead.release()
                continue
            task = asyncio.ensure_future(settled(job.evaluate))
            task.add_done_callback(lambda _: self._alive.release())
            self._tasks[job.key] = task
