"""Queues the requests of one process for the slots of the run."""

from __future__ import annotations

import asyncio
import math
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import TypeVar

from pytest_ragcheck.concurrency.tasks import AbandonedCall
from pytest_ragcheck.engine.limits.adaptive_limit import AdaptiveLimit
from pytest_ragcheck.engine.limits.slots import Slots
from pytest_ragcheck.errors import QuestionTimeout

T = TypeVar("T")

_ABANDONED_LIMITS = 9
_ABANDONED_SECONDS = 540.0
"""
Longest wait while abandoned calls hold all slots: this many time limits of such a call, at most these seconds.

Together with the call's own limit this is the time limit of a question, by default 600 s.
"""

_HUNG_CHECK_SECONDS = 1.0
"""Pause between two checks for slots that hung calls hold."""

_LOOK_SECONDS = 0.5
"""Pause between two checks for a closed loop, which sends the watching thread no event."""

_NUMBERS_SECONDS = 0.001
"""Pause between two tries to change the shared limit, which another process changes within microseconds."""


_SHORTEST_POLL_SECONDS = 0.001
_SHORTEST_POLL_AT_SHARE_SECONDS = 0.02
_LONGEST_POLL_SECONDS = 0.04
"""Pauses between two polls for slots of other processes. A process below its even share polls more often."""

_POLL_SHARE = 0.04
"""Length of a pause as a share of the wait so far, so that a slot is free for no longer than this share."""


class SlotQueue:
    """
    The queue of one process, in one event loop: the request that has waited longest gets the next slot.

    The arguments are those of `RequestLimiter`.
    """

    def __init__(self, slots: Slots, *, delay_seconds: float, apart_seconds: float) -> None:
        self._slots = slots
        self._delay_seconds = delay_seconds
        self._apart_seconds = apart_seconds
        self._next_start = -math.inf
        self._waiting: deque[asyncio.Future[None]] = deque()
        self._poller: asyncio.Task[None] | None = None
        self._refuses = False
        """True if calls that may never end held all slots when a request last waited for one."""

    def __len__(self) -> int:
        return len(self._waiting)

    async def enter(self) -> None:
        """
        Wait for a slot, and until the next request may start.

        A `QuestionTimeout` if calls that may never end hold all slots.
        """
        if self._waiting or not self._slots.take(loop_time()):
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
                    self.leave()
                elif turn in self._waiting:
                    self._waiting.remove(turn)
                raise
        try:
            await self._wait_for_start()
        except BaseException:
            self.leave()
            raise

    async def _wait_for_start(self) -> None:
        now = loop_time()
        start = max(now, self._next_start)
        self._next_start = start + self._apart_seconds
        if start > now:
            await asyncio.sleep(start - now)
        while self._delay_seconds:
            wait = await change_limit(self._slots, self._seconds_until_start)
            if not wait:
                break
            await asyncio.sleep(wait)

    def _seconds_until_start(self, limit: AdaptiveLimit) -> float:
        # The seconds until the next request may start; 0.0 if it starts now.
        now = loop_time()
        wait = limit.started_at + self._delay_seconds - now
        if wait <= 0:
            limit.started_at = now
        return max(0.0, wait)

    def leave(self) -> None:
        self._slots.free()
        self._admit()

    def leave_after(self, calls: Sequence[AbandonedCall], *, started: float) -> None:
        """Leave once the calls of a cancelled request, which got its slot at *started*, have ended."""
        hangs_at = time.monotonic() + min(_ABANDONED_LIMITS * (loop_time() - started), _ABANDONED_SECONDS)
        changed = threading.Event()
        for call in calls:
            call.add_done_callback(lambda _: changed.set())
        # A thread, because under xdist a worker's loop may close long before a plain function ends, while other
        # workers wait for the slot.
        watched = (asyncio.get_running_loop(), calls, hangs_at, changed)
        threading.Thread(target=self._watch, args=watched, name="ragcheck slot", daemon=True).start()

    def _watch(
        self,
        loop: asyncio.AbstractEventLoop,
        calls: Sequence[AbandonedCall],
        hangs_at: float,
        changed: threading.Event,
    ) -> None:
        # Wait for the calls, mark the slot for all processes if one hangs, and give the slot back.
        mark: int | None = None
        while any(not call.done() and not (isinstance(call, asyncio.Task) and loop.is_closed()) for call in calls):
            left = hangs_at - time.monotonic()
            if mark is None and left <= 0:
                mark = self._slots.mark_hung()
                with suppress(RuntimeError):  # the loop is closed
                    loop.call_soon_threadsafe(self._refuse_if_hung)
            changed.wait(_LOOK_SECONDS if mark is not None else min(_LOOK_SECONDS, max(0.0, left)))
            changed.clear()
        if mark is not None:
            self._slots.unmark_hung(mark)
        try:
            loop.call_soon_threadsafe(self.leave)
        except RuntimeError:  # the loop is closed
            self._slots.free()

    def _refuse_if_hung(self) -> None:
        # End the wait for a slot if calls that may never end hold all of them.
        self._refuses = self._slots.are_hung()
        while self._refuses and self._waiting:
            turn = self._waiting.popleft()
            if not turn.done():
                turn.set_exception(_no_slot())

    def _admit(self) -> bool:
        # Give free slots to waiting requests; return True if one got a slot.
        admitted = False
        while self._waiting:
            if self._waiting[0].cancelled():
                self._waiting.popleft()
            elif self._slots.take(loop_time()):
                self._waiting.popleft().set_result(None)
                admitted = True
            else:
                break
        return admitted

    async def _look_for_slots(self) -> None:
        # Poll for slots of other processes while requests wait, because no event crosses processes.
        since = looked_at = loop_time()
        hung = False
        while self._waiting:
            asks = self._slots.ask_for_one(loop_time(), since=since)
            shortest = _SHORTEST_POLL_SECONDS if asks else _SHORTEST_POLL_AT_SHARE_SECONDS
            await asyncio.sleep(min(_LONGEST_POLL_SECONDS, max(shortest, _POLL_SHARE * (loop_time() - since))))
            if self._admit():
                since = looked_at = loop_time()
                hung = False
            elif loop_time() - looked_at >= _HUNG_CHECK_SECONDS:
                # Checked twice, because another process that checks holds free locks for a moment.
                if hung:
                    self._refuse_if_hung()
                hung, looked_at = self._slots.are_hung(), loop_time()


async def change_limit(slots: Slots, change: Callable[[AdaptiveLimit], T]) -> T:
    """Return the result of *change*, which gets the limit of the run as soon as no other process changes it."""
    while True:
        with slots.changing_limit() as limit:
            if limit is not None:
                return change(limit)
        await asyncio.sleep(_NUMBERS_SECONDS)


def loop_time() -> float:
    return asyncio.get_running_loop().time()


def _no_slot() -> QuestionTimeout:
    return QuestionTimeout(
        "not asked: calls that still run long after their time limit hold all slots\n"
        "Make your function return in time and pass on its cancellation, or raise rag_timeout."
    )
