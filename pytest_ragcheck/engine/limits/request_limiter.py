"""Limits how many requests run at once, and repeats failed requests that may succeed."""

from __future__ import annotations

import asyncio
import math
from collections import deque
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

from pytest_ragcheck.concurrency.tasks import in_task
from pytest_ragcheck.concurrency.threads import AbandonedCall, abandoned_calls
from pytest_ragcheck.engine.limits.abandoned_slot import AbandonedSlot
from pytest_ragcheck.engine.limits.slots import Slots
from pytest_ragcheck.errors import MeasurementError, QuestionTimeout
from pytest_ragcheck.rag.http.retry import LIMITED, OVERLOADED, is_transient, status_of, wait_seconds

if TYPE_CHECKING:
    from pytest_ragcheck.engine.limits.adaptive_limit import AdaptiveLimit

T = TypeVar("T")

PAUSE_SECONDS = 0.02
"""
Pause of a judge request after its reply, because sending a waiting request takes less time than making a record.

It saves 0.1 s with 200 questions, 16 at once, where the ideal time is 3.95 s.
"""

APART_SECONDS = 0.001
"""
Time from the start of one request to the endpoint to the start of the next.

Replies that come together are read together, and no request to the judge is sent before all of them are read. With 16
at once that costs 10 ms of the 4.15 s that 200 questions take.
"""

_LONGEST_WAIT_FOR_ROOM_SECONDS = 2.0
"""
Longest wait while other requests succeed; the adaptive limit throttles, and a longer wait would leave slots unused.
"""

_LIMITED_SECONDS = 65.0
"""A limit of requests per minute accepts requests again within this time."""

_DOWN_SECONDS = 30.0
"""A system that succeeded before is down if it refuses single requests with 503 for this long."""

_ABANDONED_LIMITS = 9
_ABANDONED_SECONDS = 540.0
"""
Longest wait while abandoned calls hold all slots: this many time limits of such a call, at most these seconds.

Together with the call's own limit this is the time limit of a question, by default 600 s.
"""

_HUNG_CHECK_SECONDS = 1.0
"""Pause between two checks for slots that hung calls hold."""

_NUMBERS_SECONDS = 0.001
"""Pause between two tries to change the shared limit, which another process changes within microseconds."""


_SHORTEST_POLL_SECONDS = 0.001
_SHORTEST_POLL_AT_SHARE_SECONDS = 0.02
_LONGEST_POLL_SECONDS = 0.04
"""Pauses between two polls for slots of other processes. A process below its even share polls more often."""

_POLL_SHARE = 0.04
"""Length of a pause as a share of the wait so far, so that a slot is free for no longer than this share."""


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
        self._delay_seconds = delay_seconds
        self._apart_seconds = apart_seconds
        self._next_start = -math.inf
        self._patience_seconds = patience_seconds
        self._pause_seconds = pause_seconds
        self._waiting: deque[asyncio.Future[None]] = deque()
        self._poller: asyncio.Task[None] | None = None
        self._served_at = -math.inf
        self._refuses = False
        """True if calls that may never end held all slots when a request last waited for one."""

    @property
    def most(self) -> int:
        """Requests of the whole run that may run at once, >= 1."""
        return self._slots.number

    @property
    def waiting(self) -> int:
        """Requests of this process that wait for a slot."""
        return len(self._waiting)

    async def run(self, operation: Callable[[], Awaitable[T]]) -> T:
        """Return the operation's result; raise its last error if repeating did not help."""
        return await self._run(operation, self._retries)

    async def _run(self, operation: Callable[[], Awaitable[T]], retries: int) -> T:
        tries = _Tries(most_failed=retries, began=_now())
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
        """Return the operation's result, and True if a request waits for its slot, which is freed at once."""
        await self._enter()
        tries.has_slot = True
        tries.started = _now()
        result = await operation()
        others_wait = bool(self._waiting)
        if tries.has_slot:  # False if the request was abandoned
            self._served_at = _now()
            if self._slots.limit().is_lowered:
                await self._change(lambda limit: limit.served(self._slots.running(), now=_now()))
            tries.has_slot = False
            self._leave()
        return result, others_wait

    async def _wait_after(self, error: MeasurementError, tries: _Tries) -> float:
        """Return the seconds until the request is repeated; raise the error if repeating would not help."""
        tries.is_alone = False
        if not is_transient(error):
            raise error
        tries.made += 1
        if status_of(error) in OVERLOADED:
            wait = await self._change(lambda limit: self._refused(limit, error, tries))
        else:
            tries.failed += 1
            wait = wait_seconds(error, tries.made)
        if tries.failed > tries.most_failed:
            raise error
        return wait

    def _refused(self, limit: AdaptiveLimit, error: MeasurementError, tries: _Tries) -> float:
        """The seconds until a refused request is repeated."""
        now, running = _now(), self._slots.running()
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

    async def _change(self, change: Callable[[AdaptiveLimit], T]) -> T:
        while True:
            with self._slots.changing_limit() as limit:
                if limit is not None:
                    return change(limit)
            await asyncio.sleep(_NUMBERS_SECONDS)

    async def _enter(self) -> None:
        if self._waiting or not self._slots.take(_now()):
            if self._refuses and self._slots.are_hung():
                raise _no_slot()
            turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            self._waiting.append(turn)
            if self._slots.shared and (self._poller is None or self._poller.done()):
                self._poller = asyncio.create_task(self._look_for_slots())
            try:
                await turn
            except asyncio.CancelledError:
                if turn.done() and not turn.cancelled():
                    self._leave()
                elif turn in self._waiting:
                    self._waiting.remove(turn)
                raise
        try:
            await self._keep_apart()
            if self._delay_seconds:
                await self._wait_for_delay()
        except BaseException:
            self._leave()
            raise

    async def _keep_apart(self) -> None:
        now = _now()
        start = max(now, self._next_start)
        self._next_start = start + self._apart_seconds
        if start > now:
            await asyncio.sleep(start - now)

    async def _wait_for_delay(self) -> None:
        while True:
            wait = await self._change(self._seconds_until_start)
            if not wait:
                return
            await asyncio.sleep(wait)

    def _seconds_until_start(self, limit: AdaptiveLimit) -> float:
        """The seconds until the next request may start; 0.0 if it starts now."""
        now = _now()
        wait = limit.started_at + self._delay_seconds - now
        if wait <= 0:
            limit.started_at = now
        return max(0.0, wait)

    def _leave(self) -> None:
        self._slots.free()
        self._admit()

    def _leave_after(self, running: list[AbandonedCall], tries: _Tries) -> None:
        """Leave once the calls of a cancelled request have ended; at once if none runs."""
        if not tries.has_slot:
            return
        tries.has_slot = False
        if not running:
            self._leave()
            return
        hangs_after = min(_ABANDONED_LIMITS * (_now() - tries.started), _ABANDONED_SECONDS)
        AbandonedSlot(self._slots, running, hangs_after, leave=self._leave, hung=self._refuse_if_hung)

    def _refuse_if_hung(self) -> None:
        """End the wait for a slot if calls that may never end hold all of them."""
        self._refuses = self._slots.are_hung()
        while self._refuses and self._waiting:
            turn = self._waiting.popleft()
            if not turn.done():
                turn.set_exception(_no_slot())

    def _admit(self) -> bool:
        """Give free slots to waiting requests; return True if one got a slot."""
        admitted = False
        while self._waiting:
            if self._waiting[0].cancelled():
                self._waiting.popleft()
            elif self._slots.take(_now()):
                self._waiting.popleft().set_result(None)
                admitted = True
            else:
                break
        return admitted

    async def _look_for_slots(self) -> None:
        """Poll for slots of other processes while requests wait, because no event crosses processes."""
        since = looked_at = _now()
        hung = False
        while self._waiting:
            asks = self._slots.ask_for_one(_now(), since=since)
            shortest = _SHORTEST_POLL_SECONDS if asks else _SHORTEST_POLL_AT_SHARE_SECONDS
            await asyncio.sleep(min(_LONGEST_POLL_SECONDS, max(shortest, _POLL_SHARE * (_now() - since))))
            if self._admit():
                since = looked_at = _now()
                hung = False
            elif _now() - looked_at >= _HUNG_CHECK_SECONDS:
                # Checked twice, because another process that checks holds free locks for a moment.
                if hung:
                    self._refuse_if_hung()
                hung, looked_at = self._slots.are_hung(), _now()


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


def _now() -> float:
    return asyncio.get_running_loop().time()


def _no_slot() -> QuestionTimeout:
    return QuestionTimeout(
        "not asked: calls that still run long after their time limit hold all slots\n"
        "Make your function return in time and pass on its cancellation, or raise rag_timeout."
    )
