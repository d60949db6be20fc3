"""How many requests run at once, and which are worth repeating."""

from __future__ import annotations

import math
from collections import deque
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

import anyio

from pytest_ragcheck.engine.allowance import Allowance
from pytest_ragcheck.engine.turn import Turn
from pytest_ragcheck.errors import MeasurementError
from pytest_ragcheck.transient import LIMITED, LONGEST_WAIT_SECONDS, is_overload, is_transient, status_of, wait_seconds

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

T = TypeVar("T")

PAUSE_SECONDS = 0.02
"""
A pause after judgements. What is made of one takes longer than to send the next request, and many come at once.

Of 200 questions at 16 at once, which ideally take 3.95 s, it saves 0.1 s.
"""

_LONGEST_WAIT_FOR_ROOM_SECONDS = 2.0
"""While others are served; how many may try at once is the number's business then."""

_LIMITED_SECONDS = 65.0
"""After so long with nothing but 429 it is no limit of requests a minute, nor other processes, that leave no room."""

_STARVED = 2
"""So often in a row the only request of a process is refused before the others are to leave it room."""

_DOWN_SECONDS = 30.0
"""The same for 503, where there are other processes; a system that so refuses the only request is down."""


class Gate:
    """
    Lets a number of requests run at once, fewer while the other side is overloaded, and repeats what may succeed.

    Overloads (429, 503) lower the number and successes raise it, so that a server with a limit of its own is served
    at that limit. Whoever is refused although nobody else has a request there keeps the others from being refused
    too. One gate belongs to one event loop.

    Args:
        most: How many at once, >= 1.
        retries: How often a request that failed in passing is repeated, >= 0. Repeats after an overload do not
            count while others are served: they wait for room and do not press for it.
        delay_seconds: At least this long from the start of one request to that of the next, >= 0.
        patience_seconds: How long a request is repeated after overloads while nothing succeeds, > 0; a longer
            Retry-After is not waited for.
        share: How many processes have such a gate to the same side, >= 1.
        turn: What these processes share to leave room to one that is always refused; None: nothing.
        pause_seconds: How long a result is held back where others waited for its room, >= 0: they send first.
    """

    def __init__(
        self,
        most: int,
        *,
        retries: int = 2,
        delay_seconds: float = 0.0,
        patience_seconds: float = 120.0,
        share: int = 1,
        turn: Turn | None = None,
        pause_seconds: float = 0.0,
    ) -> None:
        self.most = most
        self._allowed = Allowance(most, alone=share == 1)
        self._retries = retries
        self._delay_seconds = delay_seconds
        self._patience_seconds = patience_seconds
        self._share = share
        self._pause_seconds = pause_seconds
        self._turn = Turn() if turn is None else turn
        self._running = 0
        self._waiting: deque[anyio.Event] = deque()
        self._refused_since = math.inf
        self._refused_alone = 0
        self._served_at = -math.inf
        self._last_start = -math.inf
        self._starting = anyio.Lock()
        self._successes = 0

    async def run(self, operation: Callable[[], Awaitable[T]]) -> T:
        """The operation's result, once there is room for it; its last error where repeating did not help."""
        tries = _Tries(began=anyio.current_time())
        while True:
            await self._enter()
            started, successes = anyio.current_time(), self._successes
            try:
                result = await operation()
            except MeasurementError as error:
                alone = self._running == 1 and successes == self._successes
                goes_on = False
                try:
                    wait = self._wait_seconds(error, tries, started=started, alone=alone)
                    if alone and is_overload(error) and not self._refuses_all(error):
                        await anyio.sleep(wait)
                        goes_on = True
                finally:
                    self._leave(goes_on=goes_on)
                if goes_on:
                    continue
            except BaseException:
                self._leave()
                raise
            else:
                others_wait = bool(self._waiting)
                self._succeeded()
                if others_wait and self._pause_seconds:
                    await anyio.sleep(self._pause_seconds)
                return result
            await anyio.sleep(wait)

    def _wait_seconds(self, error: MeasurementError, tries: _Tries, *, started: float, alone: bool) -> float:
        """How long to wait before the request is repeated; raises the error where that would not help."""
        if not is_transient(error):
            raise error
        tries.made += 1
        if not is_overload(error):
            tries.failed += 1
            wait = wait_seconds(error, tries.made)
        else:
            if alone:
                tries.failed += self._refuses_all(error)
                self._refused_alone += 1
                if self._refused_alone >= _STARVED and self._turn.take():
                    self._refused_alone = 1  # the room that the others leave is there soon
                # One after another comes to ask this, and not each has to find out how long it takes.
                # Other processes that look more often would take all the room.
                longest = LONGEST_WAIT_SECONDS if self._share == 1 else _LONGEST_WAIT_FOR_ROOM_SECONDS
                wait = wait_seconds(error, self._refused_alone, longest=longest)
            else:
                wait = wait_seconds(error, tries.made, longest=_LONGEST_WAIT_FOR_ROOM_SECONDS)
            now = anyio.current_time()
            self._allowed.refused(self._running, began=started, now=now)
            if now + wait - max(tries.began, self._served_at) > self._patience_seconds:
                raise error
        if tries.failed > self._retries:
            raise error
        return wait

    async def _enter(self) -> None:
        if self._running >= self._allowed.number or self._waiting:
            room = anyio.Event()
            self._waiting.append(room)
            try:
                await room.wait()
            except BaseException:
                if room.is_set():
                    self._leave()
                else:
                    self._waiting.remove(room)
                raise
        else:
            self._running += 1
        try:
            if await self._turn.end_of_others():
                # What others were refused for, or served in, is the same room.
                self._served_at = anyio.current_time()
                self._refused_since = math.inf
            if self._delay_seconds:
                # One after another, so that one who starts late does not start close to the next.
                async with self._starting:
                    await anyio.sleep(max(0.0, self._last_start + self._delay_seconds - anyio.current_time()))
                    self._last_start = anyio.current_time()
        except BaseException:
            self._leave()
            raise

    def _leave(self, *, goes_on: bool = False) -> None:
        """Makes room; *goes_on*: the request that leaves comes back at once."""
        self._running -= 1
        while self._waiting and self._running < self._allowed.number:
            # The room passes on at once, so that nobody who comes later takes it first.
            self._running += 1
            self._waiting.popleft().set()
        if not self._running and not goes_on:
            self._turn.free()

    def _refuses_all(self, error: MeasurementError) -> bool:
        """Whether the refusal of the only request says that the other side is not just busy."""
        now = anyio.current_time()
        self._refused_since = min(self._refused_since, now)
        # The only one of this process may not be the only one.
        down_seconds = _DOWN_SECONDS if self._share > 1 else 0.0
        return now - self._refused_since >= (_LIMITED_SECONDS if status_of(error) == LIMITED else down_seconds)

    def _succeeded(self) -> None:
        self._successes += 1
        self._served_at = anyio.current_time()
        self._refused_since, self._refused_alone = math.inf, 0
        self._allowed.served(self._running)
        self._turn.free(served=True)
        self._leave()


@dataclass(slots=True)
class _Tries:
    """What became of one request so far."""

    began: float
    made: int = 0
    failed: int = 0
