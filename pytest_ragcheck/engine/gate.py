"""How many requests run at once, and which are worth repeating."""

from __future__ import annotations

import math
import random
from collections import deque
from typing import TYPE_CHECKING, TypeVar

import anyio

from pytest_ragcheck.errors import MeasurementError

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

T = TypeVar("T")

OVERLOADED = frozenset({429, 503})
"""Statuses that ask for fewer requests."""

TRANSIENT = frozenset({408, 409, 502, 504}) | OVERLOADED
"""Statuses after which the same request may succeed."""

_FIRST_WAIT_SECONDS = 0.25
_LONGEST_WAIT_SECONDS = 8.0
_REFUSED_SECONDS = 30.0
"""After so long without a success it is not the requests of other processes that leave no room."""

_CUT = 0.5
_GROWTH = 0.25
"""Of one more request, for each full round of successes: a limit once found is not run into every few seconds."""


class Gate:
    """
    Lets a number of requests run at once, fewer while the other side is overloaded, and repeats what may succeed.

    An overload (429, 503) halves the number, and successes raise it again, so that a server with a limit of its
    own is served at that limit. One gate belongs to one event loop.

    Args:
        most: How many at once, >= 1.
        retries: How often a request that failed in passing is repeated, >= 0. Repeats after an overload do not
            count while others are served: they wait for room and do not press for it.
        delay_seconds: At least this long from the start of one request to that of the next, >= 0.
        patience_seconds: How long a request is repeated after overloads, > 0; a longer Retry-After is not waited for.
        share: How many processes have such a gate to the same side, >= 1.
    """

    def __init__(
        self,
        most: int,
        *,
        retries: int = 2,
        delay_seconds: float = 0.0,
        patience_seconds: float = 120.0,
        share: int = 1,
    ) -> None:
        self.most = most
        self._allowed = float(most)
        self._retries = retries
        self._delay_seconds = delay_seconds
        self._patience_seconds = patience_seconds
        self._share = share
        self._running = 0
        self._waiting: deque[anyio.Event] = deque()
        self._last_cut = 0.0
        self._refused_since = math.inf
        self._last_start = -math.inf
        self._starting = anyio.Lock()
        self._successes = 0

    async def run(self, operation: Callable[[], Awaitable[T]]) -> T:
        """The operation's result, once there is room for it; its last error where repeating did not help."""
        began = anyio.current_time()
        attempts = failures = 0
        while True:
            await self._enter()
            started, successes = anyio.current_time(), self._successes
            try:
                result = await operation()
            except MeasurementError as error:
                if not is_transient(error):
                    raise
                attempts += 1
                wait = _wait_seconds(error, attempts)
                failures += not is_overload(error) or (successes == self._successes and self._refuses_all())
                if is_overload(error):
                    self._cut(started)
                    if anyio.current_time() + wait - began > self._patience_seconds:
                        raise
                if failures > self._retries:
                    raise
            else:
                self._successes += 1
                self._refused_since = math.inf
                self._allowed = min(self.most, self._allowed + _GROWTH / self._allowed)
                return result
            finally:
                self._leave()
            await anyio.sleep(wait)

    async def _enter(self) -> None:
        if self._running >= int(self._allowed) or self._waiting:
            turn = anyio.Event()
            self._waiting.append(turn)
            try:
                await turn.wait()
            except BaseException:
                if turn.is_set():
                    self._leave()
                else:
                    self._waiting.remove(turn)
                raise
        else:
            self._running += 1
        if self._delay_seconds:
            try:
                # One after another, so that one who starts late does not start close to the next.
                async with self._starting:
                    await anyio.sleep(max(0.0, self._last_start + self._delay_seconds - anyio.current_time()))
                    self._last_start = anyio.current_time()
            except BaseException:
                self._leave()
                raise

    def _leave(self) -> None:
        self._running -= 1
        while self._waiting and self._running < int(self._allowed):
            # The room passes on at once, so that nobody who comes later takes it first.
            self._running += 1
            self._waiting.popleft().set()

    def _refuses_all(self) -> bool:
        """Whether the refusal of a request says that the other side is not just busy with others."""
        now = anyio.current_time()
        self._refused_since = min(self._refused_since, now)
        # The only one of this process may not be the only one.
        return self._running == 1 and now - self._refused_since >= (_REFUSED_SECONDS if self._share > 1 else 0.0)

    def _cut(self, started: float) -> None:
        # Requests that were under way at the last cut tell nothing new.
        if started >= self._last_cut:
            self._allowed = max(1.0, self._allowed * _CUT)
            self._last_cut = anyio.current_time()


def is_overload(error: MeasurementError) -> bool:
    """Whether the other side asks for fewer requests."""
    return getattr(error, "status", None) in OVERLOADED


def is_transient(error: MeasurementError) -> bool:
    """Whether the same request may succeed if it is repeated: its status says so, or that there was no connection."""
    status = getattr(error, "status", None)
    return bool(status in TRANSIENT if status is not None else getattr(error, "transient", False))


def _wait_seconds(error: MeasurementError, attempt: int) -> float:
    """What the other side asks for, else longer each time; spread, so that not all come back at once."""
    asked: float | None = getattr(error, "retry_after_seconds", None)
    wait = min(_LONGEST_WAIT_SECONDS, _FIRST_WAIT_SECONDS * 2 ** (attempt - 1))
    return (asked if asked is not None else wait) * random.uniform(1.0, 1.25)  # noqa: S311 - no secret
