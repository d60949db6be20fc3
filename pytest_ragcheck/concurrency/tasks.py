"""Runs coroutines: several at once, one that can be abandoned, and those that close what a run has opened."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Awaitable, Callable, Collection, Coroutine, Iterable
from contextlib import AsyncExitStack
from typing import Any, TypeVar

from pytest_ragcheck.concurrency.private_loop import end_tasks, settled
from pytest_ragcheck.concurrency.threads import note_abandoned

T = TypeVar("T")

_CLEANUP_SECONDS = 1.0
"""Time for a cancelled task to end before it is abandoned."""


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
        await _wait_for(task, end - loop.time())
    if not task.done():
        note_abandoned(task)
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


async def _wait_for(task: asyncio.Task[Any], seconds: float) -> None:
    # Wait for the task, and pass on a further cancellation: a time limit cancels again and again.
    try:
        await asyncio.wait({task}, timeout=seconds)
    except asyncio.CancelledError:
        task.cancel()


def closing(*parts: object) -> AsyncExitStack:
    """An exit stack that calls the `aclose` of each part, the last part first; parts of users need not have one."""
    stack = AsyncExitStack()
    for part in parts:
        aclose = getattr(part, "aclose", None)
        if aclose is not None:
            stack.push_async_callback(_called, aclose)
    return stack


async def _called(aclose: Callable[[], Any]) -> None:
    if inspect.isawaitable(called := aclose()):  # that of a user may be plain
        await called
