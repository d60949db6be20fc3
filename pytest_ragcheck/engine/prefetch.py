"""Asks and judges questions before their items run, so that the endpoint and the judge stay busy."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING

from pytest_ragcheck.concurrency.private_loop import end_tasks
from pytest_ragcheck.engine.store.record_store import MemoryStore

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Hashable, Iterable

    from pytest_ragcheck.engine.store.record_store import Store
    from pytest_ragcheck.verdict.record import Record

_CLAIMED_AT_ONCE = 200
"""Number of questions that are looked up at once in a store where other processes have claims."""

_FIRST_POLL_SECONDS = 0.002
_LONGEST_POLL_SECONDS = 0.04
"""Pauses between two checks of the store while an item waits for another process."""


_STOPPED_SECONDS = 0.1
"""Pause between two checks for a stopped run and for records that are no longer wanted."""


class PrefetchEnded(Exception):
    """Raised for a record that will not come because the prefetcher was ended, as when the run was stopped."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """A question of the run and the function that evaluates it."""

    key: Hashable
    """Equal in all processes of the run."""

    evaluate: Callable[[], Awaitable[Record]]


class Prefetcher:
    """
    Evaluates jobs in their order, many at once, and hands out each record once.

    All methods run in the private loop. The limiters inside `evaluate` bound the requests at once. The prefetcher
    bounds the jobs under way, to bound memory. The store keeps finished records.

    Args:
        room: Returns how many jobs may begin beside the given number under way. It is called at least every 40 ms.
        ahead: Number of records of all processes and jobs under way in this one that may wait to be taken, >= 1; None:
            no limit.
        store: Assigns each job to one process and keeps the records; None: a store of this process, in memory.
        stopped: Returns True once no process wants further records; the prefetcher then ends. None: never.
    """

    def __init__(
        self,
        *,
        room: Callable[[int], int],
        ahead: int | None = None,
        store: Store | None = None,
        stopped: Callable[[], bool] | None = None,
    ) -> None:
        self._room_beside = room
        self._ahead = ahead
        self._store: Store = MemoryStore() if store is None else store
        self._waiting: dict[Hashable, Job] = {}
        self._jobs: dict[Hashable, Job] = {}
        # The loop keeps only weak references to tasks.
        self._tasks: dict[Hashable, asyncio.Task[None]] = {}
        self._raised: dict[Hashable, BaseException] = {}
        # A cancellation that is not among these came from the client or the judge.
        self._cancelled: set[Hashable] = set()
        self._is_ended = False
        self._producer: asyncio.Task[None] | None = None
        self._stopped = stopped
        self._watcher: asyncio.Task[None] | None = None
        self._room = asyncio.Event()

    async def add(self, jobs: Iterable[Job]) -> None:
        """Add jobs, which begin in their order as there is room. An ended prefetcher begins none."""
        added = {job.key: job for job in jobs}
        self._jobs |= added
        if self._is_ended:
            return
        self._waiting |= added
        if self._producer is None or self._producer.done():
            self._producer = asyncio.create_task(self._produce())
        if self._watcher is None and self._stopped is not None:
            self._watcher = asyncio.create_task(self._watch(self._stopped))

    async def take(self, key: Hashable) -> Record | None:
        """
        Return the record of a job once it exists; None if there is no such job, or its record was taken before.

        An exception of the evaluation is raised here, unless another process has since taken over the job.

        Raises:
            PrefetchEnded: The prefetcher was ended before the record existed.
        """
        job = self._jobs.pop(key, None)
        if job is None:
            return None
        self._waiting.pop(key, None)
        poll = _FIRST_POLL_SECONDS
        while True:
            await self._end_of(key)
            record = await self._store.take(key)
            if record is not None:
                self._raised.pop(key, None)
                self._room.set()
                return record
            if self._is_ended:
                raise PrefetchEnded
            if await self._store.is_used(key):
                return None
            # An item that runs out of order does not wait for the jobs before it.
            if await self._store.claim([key], 1):
                if key in self._raised:
                    self._store.release(key)
                    raise self._raised.pop(key)
                self._begin(job)
            else:
                await self._pause(key, poll)
                poll = min(_LONGEST_POLL_SECONDS, 2 * poll)

    async def _pause(self, key: Hashable, seconds: float) -> None:
        """Sleep while another process evaluates the job; if this item is cancelled, that process drops the job."""
        try:
            await asyncio.sleep(seconds)
        except asyncio.CancelledError:
            await self._store.discard(key)
            raise

    async def drop(self, key: Hashable) -> None:
        """Forget a job in any state."""
        self._jobs.pop(key, None)
        self._waiting.pop(key, None)
        task = self._tasks.get(key)
        if task is not None:
            self._cancel(key)
            await end_tasks({task})
        self._raised.pop(key, None)
        await self._store.discard(key)
        self._room.set()

    async def finish(self, seconds: float) -> None:
        """Begin no further jobs ahead of their items; wait up to *seconds* for those that other processes need."""
        until = asyncio.get_running_loop().time() + seconds
        self._waiting.clear()
        if self._producer is not None:
            self._producer.cancel()
        while left := [task for task in (self._producer, *self._tasks.values()) if task and not task.done()]:
            left_seconds = until - asyncio.get_running_loop().time()
            if left_seconds <= 0:
                return  # a client that hangs
            await asyncio.wait(left, timeout=left_seconds)

    async def close(self) -> None:
        """End all jobs under way; a client that ignores its cancellation is left after a while."""
        if self._watcher is not None:
            self._watcher.cancel()
        await self._end()

    async def _watch(self, stopped: Callable[[], bool]) -> None:
        while not stopped():
            # No event crosses processes, so the store is polled.
            for key in list(self._tasks):
                if await self._store.is_used(key) and key in self._tasks:
                    self._cancel(key)
            await asyncio.sleep(_STOPPED_SECONDS)
        await self._end()

    async def _end(self) -> None:
        self._is_ended = True
        self._waiting.clear()
        tasks = {*self._tasks.values(), *([self._producer] if self._producer else [])}
        for key in self._tasks:
            self._cancel(key)
        await end_tasks(tasks)

    async def _produce(self) -> None:
        while self._waiting and self._store.claims_ahead:
            room = self._room_beside(len(self._tasks))
            if self._ahead is not None:
                room = min(room, self._ahead - await self._store.untaken() - len(self._tasks))
            if room > 0:
                await self._claim(room)
                # Without a pause in this loop, the requests under way would starve.
                await asyncio.sleep(0)
            else:
                await self._wait_for_room()

    async def _claim(self, room: int) -> None:
        """Begin as many jobs as there is room for, and skip those that other processes have."""
        keys = list(islice(self._waiting, max(room, _CLAIMED_AT_ONCE if self._store.shared else room)))
        claimed = await self._store.claim(keys, room)
        seen = keys[: keys.index(claimed[-1]) + 1] if len(claimed) == room else keys
        jobs = {key: self._waiting.pop(key, None) for key in seen}
        for key in claimed:
            if (job := jobs[key]) is not None:
                self._begin(job)
            else:  # `take` or `drop` has it since
                self._store.release(key)

    async def _wait_for_room(self) -> None:
        self._room.clear()
        # Other processes make room too, by taking records and freeing slots, and no event crosses processes.
        polls = self._store.shared
        waiting = asyncio.ensure_future(self._room.wait())
        try:
            await asyncio.wait({waiting}, timeout=_LONGEST_POLL_SECONDS if polls else None)
        finally:
            waiting.cancel()

    def _begin(self, job: Job) -> None:
        task = asyncio.create_task(self._evaluate(job))
        self._tasks[job.key] = task
        task.add_done_callback(partial(self._ended, job.key))

    def _cancel(self, key: Hashable) -> None:
        self._cancelled.add(key)
        self._tasks[key].cancel()

    async def _evaluate(self, job: Job) -> None:
        try:
            await self._store.finish(job.key, await job.evaluate())
        except BaseException as error:
            self._store.release(job.key)
            if not isinstance(error, asyncio.CancelledError):
                # `take` raises it, if this process wants the record.
                self._raised[job.key] = error
            elif job.key in self._cancelled:
                raise
            else:
                # A client that always cancels itself would be called again forever.
                let_out = RuntimeError("the client or the judge let its own cancellation out")
                self._raised[job.key] = let_out.with_traceback(error.__traceback__)

    def _ended(self, key: Hashable, task: asyncio.Task[None]) -> None:
        self._tasks.pop(key, None)
        if task.cancelled():
            # A task that is cancelled before its first step runs no line of `_evaluate`.
            self._store.release(key)
        self._cancelled.discard(key)
        self._room.set()

    async def _end_of(self, key: Hashable) -> None:
        """Wait for this process's own evaluation of the job."""
        task = self._tasks.get(key)
        if task is not None:
            try:
                await asyncio.wait({task})
            except asyncio.CancelledError:
                # Ctrl-C or a time limit of the item: the record is no longer wanted.
                if key in self._tasks:
                    self._cancel(key)
                raise
