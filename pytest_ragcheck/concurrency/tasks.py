"""Runs coroutines and plain functions for an event loop: several at once, in batches, or until they are abandoned."""

from __future__ import annotations

import asyncio
import contextvars
import inspect
import threading
from collections.abc import Awaitable, Callable, Collection, Coroutine, Iterable, Iterator, Sequence
from concurrent.futures import Future
from contextlib import AsyncExitStack, contextmanager, suppress
from functools import partial
from typing import Any, Generic, TypeVar

from pytest_ragcheck.concurrency.private_loop import end_tasks, settled

T = TypeVar("T")
R = TypeVar("R")

_CLEANUP_SECONDS = 1.0
"""Time for a cancelled task to end before it is abandoned."""

AbandonedCall = Future[None] | asyncio.Task[Any]
"""A cancelled call that runs on in a thread, or in a task; done when the call ends."""

_ABANDONED: contextvars.ContextVar[list[AbandonedCall]] = contextvars.ContextVar("_ABANDONED")


@contextmanager
def abandoned_calls() -> Iterator[list[AbandonedCall]]:
    """Yield a list of the block's cancelled calls that run on."""
    found: list[AbandonedCall] = []
    token = _ABANDONED.set(found)
    try:
        yield found
    finally:
        _ABANDONED.reset(token)


async def in_thread(function: Callable[..., T], *arguments: Any) -> T:
    """
    Return the result of `function(*arguments)` from a new thread, or raise its exception.

    The thread is a daemon, unlike those of a pool, so that a hanging call cannot keep the process from ending. A
    cancelled call runs on and is added to `abandoned_calls`.
    """
    loop = asyncio.get_running_loop()
    result: asyncio.Future[T] = loop.create_future()
    ended: Future[None] = Future()

    def settle(value: T | None, error: BaseException | None) -> None:
        if result.done():  # cancelled
            return
        if error is None:
            result.set_result(value)  # type: ignore[arg-type]  # T where there is no error
        else:
            result.set_exception(error)

    def run() -> None:
        value: T | None = None
        error: BaseException | None = None
        try:
            value = call()
        except StopIteration as stop:  # a future refuses StopIteration
            error = RuntimeError("StopIteration").with_traceback(stop.__traceback__)
            error.__cause__ = stop
        except BaseException as raised:  # raised in the waiting task, KeyboardInterrupt too
            error = raised
        with suppress(RuntimeError):  # the loop has ended, so no task waits
            loop.call_soon_threadsafe(settle, value, error)
        ended.set_result(None)

    call = partial(contextvars.copy_context().run, function, *arguments)
    threading.Thread(target=run, name="ragcheck call", daemon=True).start()
    try:
        return await result
    except asyncio.CancelledError:
        if not ended.done():
            _ABANDONED.get([]).append(ended)
        raise


class Batches(Generic[T, R]):
    """
    Collects items while a batch is computed, and computes them as the next batch.

    *compute* gets a batch at a time, in a thread, and returns a result or an error for each item.
    """

    def __init__(self, compute: Callable[[Sequence[T]], Sequence[R | Exception]]) -> None:
        self._compute = compute
        self._turn = threading.Lock()
        self._arrival = threading.Lock()
        self._waiting: list[tuple[T, Future[R]]] = []

    async def result(self, item: T) -> R:
        """
        Return the result of the item, or raise its error.

        An exception of `compute` itself is raised for each item of the batch. Tasks of several event loops may wait.
        """
        future: Future[R] = Future()
        with self._arrival:
            self._waiting.append((item, future))
            is_first = len(self._waiting) == 1
        if is_first:
            # While the thread waits for its turn, further items may arrive, which it takes too.
            await in_thread(self._work)
        return await asyncio.wrap_future(future)

    def _work(self) -> None:
        with self._turn:
            with self._arrival:
                arrived, self._waiting = self._waiting, []
            # Items of cancelled tasks are dropped.
            batch = [(item, future) for item, future in arrived if future.set_running_or_notify_cancel()]
            if not batch:
                return
            try:
                results: Sequence[R | Exception] = self._compute([item for item, _ in batch])
            except Exception as error:
                results = [error] * len(batch)
        for (_, future), result in zip(batch, results, strict=True):
            if isinstance(result, Exception):
                future.set_exception(result)
            else:
                future.set_result(result)


async def waited_for(tasks: Collection[asyncio.Task[Any]], seconds: float | None = None) -> bool:
    """True if all the tasks end within *seconds*. Their exceptions are not raised."""
    if not tasks:
        return True
    _, running = await asyncio.wait(tasks, timeout=seconds)
    return not running


async def together(coroutines: Iterable[Coroutine[Any, Any, T]]) -> list[T]:
    """
    The results of all coroutines, in their order.

    The first exception, or a cancellation of the caller, cancels the others and is raised when they have ended.
    """
    tasks = list(map(asyncio.create_task, coroutines))
    try:
        return await asyncio.gather(*tasks)
    except BaseException:
        await end_tasks({task for task in tasks if not task.done()})
        raise


async def in_task(function: Callable[..., Awaitable[T]], *arguments: Any) -> T:
    """
    Return the result of `function(*arguments)` from a task of its own, or raise its exception.

    A cancellation of the caller cancels the task. A task that ignores its cancellation is abandoned after a while, so
    that a time limit holds, and is added to `abandoned_calls`.
    """
    loop = asyncio.get_running_loop()
    ended: asyncio.Future[None] = loop.create_future()
    task = asyncio.create_task(_noted(ended, function, *arguments))
    try:
        # `asyncio.wait` would return two rounds of the event loop later.
        await ended
        return task.result()()
    except asyncio.CancelledError as error:
        task.cancel()
        cancelled = error
    end = loop.time() + _CLEANUP_SECONDS
    while not task.done() and loop.time() < end:
        try:
            await asyncio.wait({task}, timeout=end - loop.time())
        except asyncio.CancelledError:  # noqa: PERF203 - a time limit cancels again and again
            task.cancel()
    if not task.done():
        _ABANDONED.get([]).append(task)
    elif not task.cancelled() and (raised := task.exception()) is not None:
        raise raised
    raise cancelled


async def _noted(
    ended: asyncio.Future[None], function: Callable[..., Awaitable[T]], *arguments: Any
) -> Callable[[], T]:
    try:
        return await settled(function, *arguments)
    finally:
        if not ended.done():
            ended.set_result(None)


def closing(*parts: object) -> AsyncExitStack:
    """An exit stack that calls the `aclose` of each part, the last part first; parts of users need not have one."""
    stack = AsyncExitStack()
    for part in parts:
        aclose = getattr(part, "aclose", None)
        if aclose is not None:
            stack.push_async_callback(_called, aclose)
    return stack


async def _called(aclose: Callable[[], Any]) -> None:
    # A plain one of a user may block, or run a loop of its own.
    called = aclose() if inspect.iscoroutinefunction(aclose) else await in_thread(aclose)
    if inspect.isawaitable(called):
        await called
