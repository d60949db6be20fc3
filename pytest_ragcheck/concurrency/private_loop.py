"""Runs one private event loop in a thread, apart from the loops of users and other plugins."""

from __future__ import annotations

import asyncio
import math
import os
import selectors
import socket
import threading
import time
from collections.abc import Awaitable, Callable
from concurrent.futures import CancelledError, Future, wait
from contextlib import suppress
from typing import Any, TypeVar

from pytest_ragcheck.errors import UsageError

T = TypeVar("T")

BLOCKED_SECONDS = 2.0
"""A loop that runs nothing for this long counts as blocked."""

PATIENCE_SECONDS = 2.0
"""Time limit for a blocked loop to answer, or for cancelled tasks to end."""

_LOOK_SECONDS = 0.5
"""Pause between two checks for a blocked loop."""


class PrivateLoop:
    """
    Runs coroutine functions for waiting threads, any number at once; the first of them starts the loop.

    Any thread may call `run`, including the thread of a running event loop. While a coroutine blocks the loop, a
    waiting thread calls *on_blocked* with the id of the loop's thread, until it returns True.
    """

    def __init__(self, on_blocked: Callable[[int], bool] | None = None) -> None:
        self._on_blocked = on_blocked
        self._reset()

    def _reset(self) -> None:
        self._pid = os.getpid()
        self._running: _LoopThread | None = None
        self._changing = threading.Lock()

    def start(self) -> None:
        """Start the loop ahead of the first `run`, unless it runs; a `UsageError` if it cannot start."""
        if self._pid != os.getpid():
            # A forked child has no thread but its own.
            self._reset()
        with self._changing:
            self._started()

    def _started(self) -> _LoopThread:
        if self._running is None:
            self._running = _LoopThread()
        return self._running

    def run(
        self,
        function: Callable[..., Awaitable[T]],
        *arguments: Any,
        every_seconds: float = 0.0,
        meanwhile: Callable[[], object] = lambda: None,
    ) -> T:
        """
        The result of `function(*arguments)`; a `UsageError` if the loop cannot start, or another thread closed it.

        During a long wait, the waiting thread calls *meanwhile* every *every_seconds*, as to print a line; 0: never.
        """
        if self._pid != os.getpid():
            self._reset()
        outcome: Future[Callable[[], T]] = Future()
        try:
            with self._changing:
                running = self._started()
                # Inside the lock, because `close` ends only the tasks that it finds in the loop.
                running.loop.call_soon_threadsafe(_begin, running.loop, outcome, function, *arguments)
            result = self._wait(outcome, running, every_seconds or math.inf, meanwhile)
        except BaseException:
            # Ctrl-C ends the wait and the task, begun or not.
            outcome.cancel()
            raise
        return result()

    def _wait(
        self,
        outcome: Future[Callable[[], T]],
        running: _LoopThread,
        every_seconds: float,
        meanwhile: Callable[[], object],
    ) -> Callable[[], T]:
        due = time.monotonic() + every_seconds
        while not wait([outcome], max(0.0, min(_LOOK_SECONDS, due - time.monotonic()))).done:
            if running.loop.is_closed():  # with a task that ignored its cancellation
                outcome.cancel()
                break
            if time.monotonic() >= due:
                due = time.monotonic() + every_seconds
                meanwhile()
            if self._on_blocked is not None and running.is_blocked() and self._on_blocked(running.thread_id):
                self._on_blocked = None
        try:
            return outcome.result()
        except CancelledError:
            if running.is_ending:
                raise UsageError(
                    "the client was closed while a call of another thread waited for its reply. Close it after the "
                    "last call, or give each thread its own client."
                ) from None
            raise

    @property
    def is_open(self) -> bool:
        return self._running is not None and self._pid == os.getpid()

    def answers(self) -> bool:
        """False if a coroutine blocks the loop; the check takes up to `PATIENCE_SECONDS`."""
        running = self._running
        return running is None or self._pid != os.getpid() or running.answers()

    def abandon(self) -> None:
        """Leave the loop, which ends as soon as nothing blocks it; the next `run` starts a new one."""
        with self._changing:
            running, self._running = self._running, None
        if running is not None:
            running.stop()

    def close(self) -> None:
        """
        End the loop with all its tasks, and its thread; a further `run` starts both again.

        A loop that never started costs nothing to close. A blocked loop is abandoned.
        """
        if self._pid != os.getpid():
            self._reset()
        with self._changing:
            running, self._running = self._running, None
        if running is not None:
            running.end()


class _LoopThread:
    # The interpreter would wait at its end for any but a daemon thread, forever if `close()` is never called.

    def __init__(self) -> None:
        started: Future[asyncio.AbstractEventLoop] = Future()
        self.is_ending = False
        self._pinged_at: float | None = None
        self._thread = threading.Thread(target=self._run, args=[started], name="ragcheck loop", daemon=True)
        try:
            self._thread.start()
        except RuntimeError as error:
            raise _limit_reached(error) from error
        self.loop = started.result()

    @property
    def thread_id(self) -> int:
        return self._thread.ident or 0

    def is_blocked(self) -> bool:
        # True if the loop has not run for a while, measured between two calls.
        pinged_at = self._pinged_at
        if pinged_at is not None:
            return time.monotonic() - pinged_at >= BLOCKED_SECONDS
        self._pinged_at = time.monotonic()
        with suppress(RuntimeError):  # the loop is closed
            self.loop.call_soon_threadsafe(setattr, self, "_pinged_at", None)
        return False

    def answers(self) -> bool:
        answered = threading.Event()
        with suppress(RuntimeError):  # the loop is closed
            self.loop.call_soon_threadsafe(answered.set)
        return answered.wait(PATIENCE_SECONDS)

    def stop(self) -> None:
        # Make the loop cancel its tasks and end, as soon as it is not blocked.
        self.is_ending = True
        with suppress(RuntimeError):  # the loop is closed
            self.loop.call_soon_threadsafe(self.loop.stop)

    def end(self) -> None:
        # Cancel the tasks, end the loop and wait for its thread, unless the loop is blocked.
        answers = self.answers()
        self.stop()
        if answers:
            self._thread.join(2 * PATIENCE_SECONDS)

    def _run(self, started: Future[asyncio.AbstractEventLoop]) -> None:
        try:
            _check_sockets()
            loop = asyncio.new_event_loop()
        except BaseException as error:
            started.set_exception(error if isinstance(error, UsageError) else _limit_reached(error))
            return
        asyncio.set_event_loop(loop)
        started.set_result(loop)
        try:
            while not self.is_ending:
                # A user's code may call `loop.stop()`, and a task that raises SystemExit ends `run_forever` too.
                with suppress(KeyboardInterrupt, SystemExit):
                    loop.run_forever()
            loop.run_until_complete(end_tasks(asyncio.all_tasks(loop)))
            loop.run_until_complete(loop.shutdown_asyncgens())
        finally:
            asyncio.set_event_loop(None)
            loop.close()


def _check_sockets() -> None:
    # Raise the error of a new loop before there is one, because the garbage collector cannot close a half-made loop.
    try:
        # Not by `socketpair`, which would leave a descriptor open.
        socket.socket(getattr(socket, "AF_UNIX", socket.AF_INET)).close()
    except BaseException as error:
        if isinstance(error, OSError) and error.errno:
            raise
        what = f"{type(error).__name__}: {error}".rstrip(".")
        raise UsageError(
            f"the event loop that asks questions cannot start: socket.socket raised {what}. It needs a socket pair, "
            "but no network. Forbid sockets in a fixture of function scope."
        ) from None  # a cause would count as a failure of this package
    with selectors.DefaultSelector():
        for each in socket.socketpair():
            each.close()


def _limit_reached(error: BaseException) -> UsageError:
    return UsageError(
        f"the event loop that asks questions cannot start: {error}. Close files and threads of this process, "
        "or raise its limits (ulimit -n, ulimit -u)."
    )


def _begin(
    loop: asyncio.AbstractEventLoop,
    outcome: Future[Callable[[], T]],
    function: Callable[..., Awaitable[T]],
    *arguments: Any,
) -> None:
    # Start a task whose outcome another thread waits for; if that thread cancels it, the task is cancelled.
    if outcome.cancelled():
        return
    task = loop.create_task(settled(function, *arguments))

    def end_task(outcome: Future[Callable[[], T]]) -> None:
        if outcome.cancelled():
            with suppress(RuntimeError):  # the loop is closed
                loop.call_soon_threadsafe(task.cancel)

    def end_wait(task: asyncio.Task[Callable[[], T]]) -> None:
        error = None
        if task.cancelled():
            outcome.cancel()
        else:
            error = task.exception()  # asyncio logs an exception that was never retrieved
        if not outcome.set_running_or_notify_cancel():
            return
        if error is None:
            outcome.set_result(task.result())
        else:
            outcome.set_exception(error)

    task.add_done_callback(end_wait)
    outcome.add_done_callback(end_task)


async def end_tasks(tasks: set[asyncio.Task[Any]]) -> None:
    """Cancel the tasks and wait until they end; tasks that do not end are left after a while."""
    for task in tasks:
        task.cancel()
    if tasks:
        ended, _ = await asyncio.wait(tasks, timeout=PATIENCE_SECONDS)
        for task in ended:
            if not task.cancelled():
                task.exception()  # asyncio logs an exception that was never retrieved


async def settled(function: Callable[..., Awaitable[T]], *arguments: Any) -> Callable[[], T]:
    """
    Return a function that returns the coroutine's result, or raises its exception.

    A `BaseException` from a user's client, such as Ctrl-C or `pytest.skip()`, would otherwise end the loop.
    """
    try:
        value = await function(*arguments)
    except (Exception, asyncio.CancelledError):
        raise
    except BaseException as error:
        stopped = error

        def reraise() -> T:
            raise stopped

        return reraise
    return lambda: value
