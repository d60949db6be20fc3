"""Limits how many requests run at once, and repeats failed requests that may succeed."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TypeVar

from pytest_ragcheck.concurrency.tasks import AbandonedCall, abandoned_calls, in_task
from pytest_ragcheck.engine.limits.adaptive_limit import AdaptiveLimit
from pytest_ragcheck.engine.limits.slot_queue import SlotQueue, change_limit, loop_time
from pytest_ragcheck.engine.limits.slots import Slots
from pytest_ragcheck.errors import MeasurementError
from pytest_ragcheck.rag.http.retry import LIMITED, OVERLOADED, is_transient, status_of, wait_seconds

T = TypeVar("T")

PAUSE_SECONDS = 0.05
"""
Pause of a judge request after its reply, because sending a waiting request takes less time than making a record.

It saves 0.1 s with 200 questions, 16 at once, where the ideal time is 3.95 s. It is longer than 16 requests are apart.
"""

APART_SECONDS = 0.002
"""
Time from the start of one request to the endpoint to the start of the next, twice what reading a reply takes.

Replies that come together are read together, and no request to the judge is sent before all of them are read. With 16
at once that costs 20 ms of the 4.15 s that 200 questions take.
"""

_LONGEST_WAIT_FOR_ROOM_SECONDS = 2.0
"""
Longest wait while other requests succeed; the adaptive limit throttles, and a longer wait would leave slots unused.
"""

_LIMITED_SECONDS = 65.0
"""A limit of requests per minute accepts requests again within this time."""

_DOWN_SECONDS = 30.0
"""A system that succeeded before is down if it refuses single requests with 503 for this long."""


class RequestLimiter:
    """
    Runs a number of requests at once, fewer while the server is overloaded, and repeats failed requests.

    Overloads (429, 503) lower the number and successes raise it, so that a server with its own limit is used at that
    limit. A limiter belongs to one event loop.

    Args:
        slots: The slots of the run; an int: that number of slots, for this process alone.
        retries: Repeats after temporary failures, >= 0. Repeats after an overload do not count while other requests
            succeed.
        delay_seconds: Least time from the start of one request of the run to the start of the next, >= 0.
        apart_seconds: The same for the requests of this process, >= 0.
        patience_seconds: How long a request is repeated after overloads while no request succeeds, > 0. A longer
            Retry-After ends the request at once.
        pause_seconds: Pause before a result is returned while other requests wait for a slot, >= 0, so that those are
            sent first.
    """

    def __init__(
        self,
        slots: Slots | int,
        *,
        retries: int = 2,
        delay_seconds: float = 0.0,
        apart_seconds: float = 0.0,
        patience_seconds: float = 120.0,
        pause_seconds: float = 0.0,
    ) -> None:
        self._slots = Slots(slots) if isinstance(slots, int) else slots
        self._retries = retries
        self._queue = SlotQueue(self._slots, delay_seconds=delay_seconds, apart_seconds=apart_seconds)
        self._patience_seconds = patience_seconds
        self._pause_seconds = pause_seconds
        self._served_at = -math.inf

    @property
    def most(self) -> int:
        """Requests of the whole run that may run at once, >= 1."""
        return self._slots.number

    @property
    def waiting(self) -> int:
        return len(self._queue)

    async def run(self, operation: Callable[[], Awaitable[T]]) -> T:
        return await self._run(operation, self._retries)

    async def _run(self, operation: Callable[[], Awaitable[T]], retries: int) -> T:
        tries = _Tries(most_failed=retries, began=loop_time())
        while True:
            running: list[AbandonedCall] = []
            try:
                with abandoned_calls() as running:
                    served: tuple[T, bool] = await in_task(self._served, operation, tries)
            except MeasurementError as error:
                try:
                    wait = await self._wait_after(error, tries)
                    if tries.is_alone:
                        # Keeps the slot: one request at a time tests whether the server accepts requests again.
                        await asyncio.sleep(wait)
                        wait = 0.0
                finally:
                    self._leave_after(running, tries)
            except BaseException:
                self._leave_after(running, tries)
                raise
            else:
                result, others_wait = served
                if others_wait and self._pause_seconds:
                    await asyncio.sleep(self._pause_seconds)
                return result
            await asyncio.sleep(wait)

    async def _served(self, operation: Callable[[], Awaitable[T]], tries: _Tries) -> tuple[T, bool]:
        # Return the operation's result, and True if a request waits for its slot, which is freed at once.
        await self._queue.enter()
        tries.has_slot = True
        tries.started = loop_time()
        result = await operation()
        others_wait = len(self._queue) > 0
        if tries.has_slot:  # False if the request was abandoned
            self._served_at = loop_time()
            if self._slots.limit().is_lowered:
                await change_limit(self._slots, lambda limit: limit.served(self._slots.running(), now=loop_time()))
            tries.has_slot = False
            self._queue.leave()
        return result, others_wait

    async def _wait_after(self, error: MeasurementError, tries: _Tries) -> float:
        # Return the seconds until the request is repeated; raise the error if repeating would not help.
        tries.is_alone = False
        if not is_transient(error):
            raise error
        tries.made += 1
        if status_of(error) in OVERLOADED:
            wait = await change_limit(self._slots, lambda limit: self._refused(limit, error, tries))
        else:
            tries.failed += 1
            wait = wait_seconds(error, tries.made)
        if tries.failed > tries.most_failed:
            raise error
        return wait

    def _refused(self, limit: AdaptiveLimit, error: MeasurementError, tries: _Tries) -> float:
        now, running = loop_time(), self._slots.running()
        limit.refused(running, began=tries.started, now=now)
        served_at = max(self._served_at, limit.served_at)
        wait = wait_seconds(error, tries.made, longest=_LONGEST_WAIT_FOR_ROOM_SECONDS)
        if running == 1 and served_at <= tries.started and not limit.is_chance:
            limit.refused_since = min(limit.refused_since, now)
            limit.refused_alone += 1
            wait = wait_seconds(error, int(limit.refused_alone))
            patience = _LIMITED_SECONDS if status_of(error) == LIMITED else _DOWN_SECONDS
            if status_of(error) != LIMITED and served_at == -math.inf:
                patience = 0.0
            tries.is_alone = now - limit.refused_since < patience
            if patience and not tries.is_alone and tries.began <= limit.refused_since:
                raise error  # this request alone has waited for the whole time
            tries.failed += not tries.is_alone
        if now + wait - max(tries.began, served_at) > self._patience_seconds:
            raise error
        return wait

    def _leave_after(self, running: list[AbandonedCall], tries: _Tries) -> None:
        # Leave once the calls of a cancelled request have ended; at once if none runs.
        if not tries.has_slot:
            return
        tries.has_slot = False
        if running:
            self._queue.leave_after(running, started=tries.started)
        else:
            self._queue.leave()


class WithoutRetries:
    """
    Shares the slots of a limiter for requests that must not be sent twice, such as uploads.

    Requests are repeated only after overloads, because the server did not accept a refused request.
    """

    def __init__(self, limiter: RequestLimiter) -> None:
        self._limiter = limiter

    async def run(self, operation: Callable[[], Awaitable[T]]) -> T:
        return await self._limiter._run(operation, 0)


@dataclass(slots=True)
class _Tries:
    most_failed: int
    began: float
    made: int = 0
    failed: int = 0
    has_slot: bool = False
    started: float = -math.inf
    """When the last try got its slot."""

    is_alone: bool = False
    """True if the last try was the only request of the run and was refused, perhaps only temporarily."""
