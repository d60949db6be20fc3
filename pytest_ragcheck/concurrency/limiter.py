"""Limits how many operations run at once, and the time of the code in a `with` block."""

from __future__ import annotations

import asyncio
import math
import sys
from collections.abc import Awaitable, Callable
from typing import Protocol, TypeVar

from pytest_ragcheck.frozen import frozen

T = TypeVar("T")

_REPEAT_SECONDS = 0.5
"""Time for a cancelled block to end. After that it is cancelled again, in case it caught the first cancellation."""


class Limiter(Protocol):
    """Runs operations as soon as its limit allows; it may repeat an operation that fails."""

    async def run(self, operation: Callable[[], Awaitable[T]]) -> T:
        """Return the operation's result, or raise its last error."""
        ...


class _NoLimit:
    async def run(self, operation: Callable[[], Awaitable[T]]) -> T:
        return await operation()


NO_LIMIT = _NoLimit()


@frozen
class StepLimiters:
    asking: Limiter = NO_LIMIT
    judging: Limiter = NO_LIMIT
    measuring: Limiter = NO_LIMIT
    """For the metrics that are not local."""

    timing: Limiter = NO_LIMIT
    """Limits the time of every step."""


NO_LIMITS = StepLimiters()


class TimeLimit:
    """
    Cancels the block of a `with` statement in a task of asyncio when its *seconds*, >= 0 or infinite, are over.

    The statement then ends without an exception, and `expired` is True. A cancellation of the whole task from elsewhere
    is passed on. `asyncio.timeout` does the same, but not under Python 3.10, and it cancels a block only once.
    """

    def __init__(self, seconds: float = math.inf) -> None:
        self._seconds = seconds
        self._task: asyncio.Task[object] | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._outer_requests = 0
        self._own_requests = 0

    @property
    def expired(self) -> bool:
        return self._own_requests > 0

    def restart(self, seconds: float) -> None:
        """Let the block run for that time from now on; forever if it is infinite."""
        self._seconds = seconds
        if self._task is None or self.expired:
            return
        if self._timer is not None:
            self._timer.cancel()
        self._timer = self._expire_after(seconds) if seconds < math.inf else None

    def __enter__(self) -> TimeLimit:
        self._task = asyncio.current_task()
        if self._task is None:
            raise RuntimeError("a TimeLimit needs a task of asyncio")
        if sys.version_info >= (3, 11):
            self._outer_requests = self._task.cancelling()
        self.restart(self._seconds)
        return self

    def __exit__(self, _: object, error: BaseException | None, traceback: object) -> bool:
        task, self._task = self._task, None
        if self._timer is not None:
            self._timer.cancel()
        if task is None or not self.expired:
            return False
        if sys.version_info >= (3, 11):
            for _request in range(self._own_requests):
                task.uncancel()
            own = task.cancelling() <= self._outer_requests
        else:
            own = error is not None and error.args == (self._message,)
        return own and isinstance(error, asyncio.CancelledError)

    @property
    def _message(self) -> str:
        # Python 3.10 does not count the cancellations of a task, so a message tells this one from others.
        return f"time limit {id(self)}"

    def _expire_after(self, seconds: float) -> asyncio.TimerHandle:
        return asyncio.get_running_loop().call_later(seconds, self._expire)

    def _expire(self) -> None:
        if self._task is not None:
            self._own_requests += 1
            self._task.cancel(self._message)
            self._timer = self._expire_after(_REPEAT_SECONDS)
