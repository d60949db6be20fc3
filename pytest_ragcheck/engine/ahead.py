"""Questions are asked and judged before their items come to them, so that the endpoint and the judge stay busy."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING

from pytest_ragcheck.engine.store import Claim, MemoryStore

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Hashable, Iterable

    from pytest_ragcheck.engine.store import Store
    from pytest_ragcheck.record import Record

_CLAIMED_AT_ONCE = 200
"""So many questions are looked up at once in a store that others have claims in."""

_FIRST_POLL_SECONDS = 0.002
_LONGEST_POLL_SECONDS = 0.04
"""Between two looks at the store, while somebody waits for another process."""


_STOPPED_SECONDS = 0.1
"""Between two looks at whether anybody still wants the records, or one of them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """One question that will be wanted, and how to evaluate it."""

    key: Hashable
    """The same in every process of the run."""

    evaluate: Callable[[], Awaitable[Record]]


class ReadAhead:
    """
    Evaluates jobs in their order, many at once, and hands out each record once.

    All methods run in the private loop. How many requests run at once is the business of the gates inside of
    `evaluate`; here only the number of jobs under way is bounded, so that memory is. Records wait in the store.

    Args:
        alive: How many jobs may be under way, >= 1.
        ahead: How many may be begun and not yet handed out, in all processes, >= 1; None: as many as there are.
        store: Says which jobs nobody else has, and keeps the records; None: one of its own, in memory.
        stopped: Whether nobody wants the records any more: then all is ended. It is asked now and then; None: never.
    """

    def __init__(
        self,
        *,
        alive: int,
        ahead: int | None = None,
        store: Store | None = None,
        stopped: Callable[[], bool] | None = None,
    ) -> None:
        self._alive = alive
        self._ahead = ahead
        self._store: Store = MemoryStore() if store is None else store
        self._waiting: dict[Hashable, Job] = {}
        self._jobs: dict[Hashable, Job] = {}
        # The loop keeps only weak references to tasks.
        self._tasks: dict[Hashable, asyncio.Task[None]] = {}
        self._raised: dict[Hashable, BaseException] = {}
        self._producer: asyncio.Task[None] | None = None
        self._stopped = stopped
        self._watcher: asyncio.Task[None] | None = None
        self._room = asyncio.Event()

    async def add(self, jobs: Iterable[Job]) -> None:
        """Takes further jobs; they are begun in their order when there is room."""
        for job in jobs:
            self._jobs[job.key] = self._waiting[job.key] = job
        if self._producer is None or self._producer.done():
            self._producer = asyncio.create_task(self._produce())
        if self._watcher is None and self._stopped is not None:
            self._watcher = asyncio.create_task(self._watch(self._stopped))

    async def take(self, key: Hashable) -> Record | None:
        """
        The record of a job, as soon as it is there; None if there is no such job, or it was taken before.

        Whatever the evaluation raised is raised here, unless another process has since taken the job over.
        """
        job = self._jobs.pop(key, None)
        if job is None:
            return None
        self._waiting.pop(key, None)
        poll = _FIRST_POLL_SECONDS
        while True:
            await self._end_of(key)
            found = self._store.take(key)
            if not isinstance(found, Claim):
                self._raised.pop(key, None)
                self._room.set()
                return found
            if key in self._raised and found is not Claim.UNDER_WAY:
                raise self._raised.pop(key)
            if found is Claim.USED:
                return None
            # Whoever runs out of order does not wait for those before.
            if found is Claim.FREE and self._store.claim([key], 1):
                self._begin(job)
            elif found is Claim.UNDER_WAY:
                await self._pause(key, poll)
                poll = min(_LONGEST_POLL_SECONDS, 2 * poll)

    async def _pause(self, key: Hashable, seconds: float) -> None:
        """Leaves whoever has the job some time; should the item that waits end here, that one need not go on."""
        try:
            await asyncio.sleep(seconds)
        except asyncio.CancelledError:
            self._store.give_up(key)
            raise

    async def drop(self, key: Hashable) -> None:
        """Forgets a job, whatever has become of it."""
        self._jobs.pop(key, None)
        self._waiting.pop(key, None)
        task = self._tasks.get(key)
        if task is not None:
            task.cancel()
            await asyncio.wait({task})
        self._raised.pop(key, None)
        self._store.take(key)
        self._room.set()

    async def finish(self) -> None:
        """Goes on until every job is somebody's and this process's are done, for the items of other processes."""
        if self._ahead is not None and self._producer is not None:
            # A run that may stop early wants no more than what has been begun.
            self._producer.cancel()
        while left := [task for task in (self._producer, *self._tasks.values()) if task and not task.done()]:
            await asyncio.wait(left)

    async def close(self) -> None:
        """Ends everything that is under way."""
        if self._watcher is not None:
            self._watcher.cancel()
        await self._end()

    async def _watch(self, stopped: Callable[[], bool]) -> None:
        while not stopped():
            # No event crosses processes.
            for key in self._store.unwanted():
                if key in self._tasks:
                    self._tasks[key].cancel()
            await asyncio.sleep(_STOPPED_SECONDS)
        await self._end()

    async def _end(self) -> None:
        self._waiting.clear()
        tasks = [*self._tasks.values(), *([self._producer] if self._producer else [])]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _produce(self) -> None:
        while self._waiting and self._store.claims_ahead:
            room = self._alive - len(self._tasks)
            if self._ahead is not None:
                room = min(room, self._ahead - self._store.untaken())
            if room > 0:
                self._claim(room)
                # A loop that is never left would starve those who are being asked.
                await asyncio.sleep(0)
            else:
                await self._wait_for_room()

    def _claim(self, room: int) -> None:
        """Begins as many jobs as there is room for, and passes over what others have."""
        keys = list(islice(self._waiting, max(room, _CLAIMED_AT_ONCE if self._store.shared else room)))
        claimed = self._store.claim(keys, room)
        seen = keys[: keys.index(claimed[-1]) + 1] if len(claimed) == room else keys
        jobs = {key: self._waiting.pop(key) for key in seen}
        for key in claimed:
            self._begin(jobs[key])

    async def _wait_for_room(self) -> None:
        self._room.clear()
        # Records that other processes take make room too, and tell nobody.
        polls = self._ahead is not None and self._store.shared
        waiting = asyncio.ensure_future(self._room.wait())
        try:
            await asyncio.wait({waiting}, timeout=_LONGEST_POLL_SECONDS if polls else None)
        finally:
            waiting.cancel()

    def _begin(self, job: Job) -> None:
        task = asyncio.create_task(self._evaluate(job))
        self._tasks[job.key] = task
        task.add_done_callback(lambda _: self._ended(job.key))

    async def _evaluate(self, job: Job) -> None:
        try:
            self._store.finish(job.key, await job.evaluate())
        except BaseException as error:
            self._store.release([job.key])
            if isinstance(error, asyncio.CancelledError):
                raise
            # It is raised where the record is wanted, should that be here.
            self._raised[job.key] = error

    def _ended(self, key: Hashable) -> None:
        self._tasks.pop(key, None)
        self._room.set()

    async def _end_of(self, key: Hashable) -> None:
        """Waits for this process's own evaluation of the job."""
        task = self._tasks.get(key)
        if task is not None:
            try:
                await asyncio.wait({task})
            except asyncio.CancelledError:
                # Ctrl-C, or a time limit of the item's own: nobody will want it any more.
                task.cancel()
                raise
            if task.cancelled():
                # By what is evaluated, as a client that gives up a task of its own: begun anew it would be so for ever.
                raise RuntimeError("the client or the judge let its own cancellation out")
