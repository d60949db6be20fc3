"""Plain calls beside an event loop."""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
import threading
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

T = TypeVar("T")


async def in_thread(function: Callable[..., T], *arguments: Any) -> T:
    """
    What `function(*arguments)` returns in a thread of its own; what it raises is raised here.

    The thread is a daemon, unlike those of a pool: where the waiting is given up, one that hangs must not keep
    the whole process from ending.
    """
    loop = asyncio.get_running_loop()
    result: asyncio.Future[T] = loop.create_future()

    def settle(value: T | None, error: BaseException | None) -> None:
        if result.done():  # given up
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
        except StopIteration as stop:  # which no future takes
            error = RuntimeError("StopIteration")
            error.__cause__ = stop
        except BaseException as raised:  # carried to whoever waits, KeyboardInterrupt too
            error = raised
        with contextlib.suppress(RuntimeError):  # the loop has ended: nobody waits
            loop.call_soon_threadsafe(settle, value, error)

    call = partial(contextvars.copy_context().run, function, *arguments)
    threading.Thread(target=run, name="ragcheck call", daemon=True).start()
    return await result
