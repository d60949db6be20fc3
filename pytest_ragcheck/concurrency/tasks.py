"""Runs several coroutines at once."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, TypeVar

from pytest_ragcheck.concurrency.private_loop import end_tasks

if TYPE_CHECKING:
    from collections.abc import Collection, Coroutine, Iterable

T = TypeVar("T")


async def waited_for(tasks: Collection[asyncio.Task[Any]], seconds: float | None = None) -> bool:
    """Return True if all the tasks end within *seconds*. Their exceptions are not raised."""
    if not tasks:
        return True
    _, running = await asyncio.wait(tasks, timeout=seconds)
    return not running


async def together(coroutines: Iterable[Coroutine[Any, Any, T]]) -> list[T]:
    """
    Return the results of all coroutines, in their order.

    The first exception, or a cancellation of the caller, cancels the others and is raised when they have ended.
    """
    tasks = [asyncio.create_task(each) for each in coroutines]
    try:
        return await asyncio.gather(*tasks)
    except BaseException:
        await end_tasks({task for task in tasks if not task.done()})
        raise
