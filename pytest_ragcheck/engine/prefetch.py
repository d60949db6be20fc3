"""Asks and judges questions before their items run, so that the endpoint and the judge stay busy."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Callable, Hashable, Iterable, Iterator
from functools import partial
from itertools import chain, islice
from typing import TYPE_CHECKING

from pytest_ragcheck.concurrency.limiter import TimeLimit
from pytest_ragcheck.concurrency.private_loop import end_tasks
from pytest_ragcheck.concurrency.tasks import waited_for
from pytest_ragcheck.engine.conversation import Job, Unit, units_of
from pytest_ragcheck.engine.store.record_store import MemoryStore, SharedStore

if TYPE_CHECKING:
    from pytest_ragcheck.verdict.record import Record

_CLAIMED_AT_ONCE = 200
"""Number of questions that are looked up at once in a store where other processes have claims."""

_BEGUN_AT_ONCE = 4
"""Number of units that begin in one step, so that the first request does not wait until all units have begun."""

_FIRST_POLL_SECONDS = 0.002
_LONGEST_POLL_SECONDS = 0.04
"""Pauses between two checks of the store while an item waits for another process."""


_STOPPED_SECONDS = 0.1
"""Pause between two checks for a stopped run and for records that are no longer wanted."""


class PrefetchEnded(Exception):
    """The prefetcher ended before the record existed, as when the run was stopped."""


class Prefetcher:
    """
    Evaluates units of jobs in their order, many at once, and hands out the record of each job once.

    All methods run in the private loop. The limiters inside `evaluate` bound the requests at once. The prefetcher
    bounds the jobs under way, to bound memory.

    Args:
        room: Returns how many jobs may begin, given the number under way. It is called whenever a job ends or a record
            is taken, and every 40 ms if other processes share the store.
        ahead: Most records of all processes that are not taken yet, including jobs under way in this one, >= 1; None:
            no limit.
        store: Assigns each job to one process and keeps the records; None: a store of this process, in memory.
        stopped: Returns True once no process wants further records; the prefetcher then ends. None: never.
    """

    def __init__(
        self,
        *,
        room: Callable[[int], int],
        ahead: int | None = None,
        store: MemoryStore | SharedStore | None = None,
        stopped: Callable[[], bool] | None = None,
    ) -> None:
        self._room_for = room
        self._ahead = ahead
        self._store = MemoryStore() if store is None else store
        self._source: Iterator[Unit] = iter(())
        """The units that are made only when they can begin or an item wants one, to save memory."""
        self._waiting: dict[Hashable, Unit] = {}
        self._under_way: dict[Hashable, Unit] = {}
        self._units: dict[Hashable, Unit] = {}
        """The unit of each job that has left the source and whose record was not taken."""
        self._raised: dict[Hashable, BaseException] = {}
        self._is_finished = False
        """True if no further job begins ahead of its item."""
        self._is_held = False
        """True if none does until `resume`."""
        self._claims = asyncio.Lock()
        self._is_ended = False
        self._producer: asyncio.Task[None] | None = None
        self._stopped = stopped
        self._watcher: asyncio.Task[None] | None = None
        self._room = asyncio.Event()

    async def add(self, jobs: Iterable[Job]) -> None:
        """
        Add jobs, which begin in their order as there is room. A finished prefetcher begins none ahead of its item.

        The jobs are read as they are needed, and those of a unit follow one another.
        """
        self._source = chain(self._source, units_of(jobs))
        if self._is_finished:
            return
        if self._producer is None or self._producer.done():
            self._producer = asyncio.create_task(self._produce())
        if self._watcher is None and self._stopped is not None:
            self._watcher = asyncio.create_task(self._watch(self._stopped))

    async def take(self, key: Hashable) -> Record | None:
        """
        The record of a job once it exists; None if there is no such job, or its record was taken before.

        An exception of the evaluation is raised here, unless another process has since taken over the job; a
        `PrefetchEnded` if the prefetcher ends before the record exists.
        """
        unit = self._unit_of(key)
        if unit is None:
            return None
        self._waiting.pop(unit.key, None)
        poll = _FIRST_POLL_SECONDS
        while True:
            await self._end_of(unit, key)
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
            if (claimed := await self._claimed(unit)) is not None:
                if key in self._raised:
                    self._store.release(claimed)
                    raise self._raised.pop(key)
                self._begin(unit, claimed)
            else:
                try:
                    await asyncio.sleep(poll)
                except asyncio.CancelledError:
                    # The process that evaluates the job drops it.
                    await self._store.discard(key)
                    raise
                poll = min(_LONGEST_POLL_SECONDS, 2 * poll)

    async def drop(self, key: Hashable) -> None:
        """Forget a job in any state. The other jobs of its unit stay."""
        unit = self._unit_of(key)
        if unit is not None and unit.task is not None and (unit.current == key or len(unit.jobs) == 1):
            unit.cancel()
            await end_tasks({unit.task})
        elif unit is not None and len(unit.jobs) == 1:
            self._waiting.pop(key, None)
        self._raised.pop(key, None)
        await self._store.discard(key)
        self._room.set()

    async def finish(self, seconds: float) -> None:
        """Begin no further jobs ahead of their items; wait up to *seconds* for those that other processes need."""
        until = asyncio.get_running_loop().time() + seconds
        self._is_finished = True
        self._waiting.clear()
        if self._producer is not None:
            self._producer.cancel()
        while left := [task for task in self._tasks() if not task.done()]:
            left_seconds = until - asyncio.get_running_loop().time()
            if left_seconds <= 0:
                return  # a client that hangs
            await asyncio.wait(left, timeout=left_seconds)

    async def hold(self) -> None:
        """Wait for all jobs that may begin ahead of their items, and begin no further one until `resume`."""
        if self._ahead is None and self._producer is not None:
            await waited_for({self._producer})
        self._is_held = True
        async with self._claims:  # jobs that are being claimed begin
            pass
        await waited_for(self._unit_tasks())

    async def resume(self) -> None:
        self._is_held = False
        self._room.set()

    async def finish_unit(self, key: Hashable, seconds: float) -> None:
        """Wait up to *seconds* for the rest of the unit of a job, which other processes need."""
        tasks = [unit.task for unit in self._under_way.values() if unit.task and key in unit.ends]
        if tasks:
            await asyncio.wait(tasks, timeout=seconds)

    async def close(self) -> None:
        """End all jobs under way; a client that ignores its cancellation is left after a while."""
        if self._watcher is not None:
            self._watcher.cancel()
        await self._end()

    async def _watch(self, stopped: Callable[[], bool]) -> None:
        while not stopped():
            # No event crosses processes, so the store is polled.
            for unit in list(self._under_way.values()):
                key = unit.current
                if key is not None and await self._store.is_used(key) and unit.current == key:
                    unit.cancel()
            await asyncio.sleep(_STOPPED_SECONDS)
        await self._end()

    async def _end(self) -> None:
        self._is_finished = self._is_ended = True
        self._waiting.clear()
        for unit in self._under_way.values():
            unit.cancel()
        await end_tasks(set(self._tasks()))

    def _tasks(self) -> list[asyncio.Task[None]]:
        return [*([self._producer] if self._producer else []), *self._unit_tasks()]

    def _unit_tasks(self) -> list[asyncio.Task[None]]:
        return [unit.task for unit in self._under_way.values() if unit.task is not None]

    async def _produce(self) -> None:
        while self._fill(1) and self._store.claims_ahead:
            room = self._room_for(len(self._under_way))
            if self._ahead is not None:
                of_next = len(next(iter(self._waiting.values())).jobs)
                untaken = await self._store.untaken()
                records = self._ahead - untaken - sum(len(unit.jobs) for unit in self._under_way.values())
                room = min(room, -(-records // of_next))
            if room > 0 and not self._is_held:
                async with self._claims:
                    await self._claim(min(room, _BEGUN_AT_ONCE))
                # Without a pause in this loop, the requests under way would starve.
                await asyncio.sleep(0)
            else:
                self._room.clear()
                # Other processes make room too, by taking records and freeing slots, and no event crosses processes.
                with TimeLimit(_LONGEST_POLL_SECONDS if self._store.shared else math.inf):
                    await self._room.wait()

    def _fill(self, number: int) -> bool:
        for unit in islice(self._source, max(0, number - len(self._waiting))):
            self._register(unit)
        return bool(self._waiting)

    def _unit_of(self, key: Hashable) -> Unit | None:
        # Remove and return the unit of a job; None if it was removed before, or there is no such job.
        while key not in self._units and (unit := next(self._source, None)) is not None:
            self._register(unit)
        return self._units.pop(key, None)

    def _register(self, unit: Unit) -> None:
        for job in unit.jobs:
            self._units[job.key] = unit
        if not self._is_finished:
            self._waiting[unit.key] = unit

    async def _claim(self, room: int) -> None:
        most = max(room, _CLAIMED_AT_ONCE) if self._store.shared else room
        self._fill(most)
        keys = list(islice(self._waiting, most))
        claimed = await self._store.claim_ahead(keys, room)
        seen = keys[: keys.index(claimed[-1]) + 1] if len(claimed) == room else keys
        units = {key: self._waiting.pop(key, None) for key in seen}
        for key in claimed:
            if (unit := units[key]) is not None:
                self._begin(unit, key)
            else:  # `take` or `drop` got it meanwhile
                self._store.release(key)

    async def _claimed(self, unit: Unit) -> Hashable | None:
        # Claim a unit that is not under way, and return the claimed key; None if another process has the unit.
        if unit.task is not None:
            return None
        missing = [job.key for job in unit.jobs if len(unit.jobs) == 1 or not await self._store.has(job.key)]
        return missing[-1] if missing and await self._store.claim(missing[-1:], 1) else None

    def _begin(self, unit: Unit, claimed: Hashable) -> None:
        unit.claimed = claimed
        unit.is_cancelled = False
        unit.ends = {job.key: asyncio.get_running_loop().create_future() for job in unit.jobs}
        unit.task = asyncio.create_task(self._run(unit))
        self._under_way[unit.key] = unit
        unit.task.add_done_callback(partial(self._ended, unit))

    async def _run(self, unit: Unit) -> None:
        for job in unit.jobs:
            # A conversation may have records of a process that died; a single question had none when claimed.
            if len(unit.jobs) == 1 or not await self._store.has(job.key):
                await self._evaluate(unit, job)
            if job is not unit.jobs[-1]:
                unit.ends[job.key].set_result(None)

    async def _evaluate(self, unit: Unit, job: Job) -> None:
        unit.current = job.key
        try:
            record = await job.evaluate()
            unit.current = None
            await self._store.finish(job.key, record)
        except BaseException as error:
            if not isinstance(error, asyncio.CancelledError):
                # `take` raises it, if this process wants the record.
                self._raised[job.key] = error
            elif unit.is_cancelled:
                raise
            else:
                # A client that always cancels itself would be called again forever.
                failure = RuntimeError("the client or the judge raised its own cancellation")
                self._raised[job.key] = failure.with_traceback(error.__traceback__)

    def _ended(self, unit: Unit, _: asyncio.Task[None]) -> None:
        self._under_way.pop(unit.key, None)
        unit.task = unit.current = None
        self._store.release(unit.claimed)
        for end in unit.ends.values():
            if not end.done():
                end.set_result(None)
        self._room.set()

    async def _end_of(self, unit: Unit, key: Hashable) -> None:
        if unit.task is not None:
            try:
                await asyncio.wait({unit.ends[key]})
            except asyncio.CancelledError:
                # Ctrl-C or a time limit of the item: the record is no longer wanted.
                if not unit.ends[key].done():
                    unit.cancel()
                raise
