"""Runs plain functions in threads for an event loop."""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from functools import partial
from typing import Any, TypeVar

T = TypeVar("T")

AbandonedCall = Future[None] | asyncio.Task[Any]
"""A cancelled call that runs on in a thread, or in a task; done when the call ends."""

_ABANDONED: contextvars.ContextVar[list[AbandonedCall]] = contextvars.ContextVar("_ABANDONED")


@contextlib.contextmanager
def abandoned_calls() -> Iterator[list[AbandonedCall]]:
    """Yield a list of the block's cancelled calls that run on."""
    found: list[AbandonedCall] = []
    token = _ABANDONED.set(found)
    try:
        yield found
    finally:
        _ABANDONED.reset(token)


def note_abandoned(call: AbandonedCall) -> None:
    """Add a cancelled call that runs on to the list of `abandoned_calls`."""
    _ABANDONED.get([]).append(call)


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
        with contextlib.suppress(RuntimeError):  # the loop has ended, so no task waits
            loop.call_soon_threadsafe(settle, value, error)
        ended.set_result(None)

    call = partial(contextvars.copy_context().run, function, *arguments)
    threading.Thread(target=run, name="ragcheck call", daemon=True).start()
    try:
        return await result
    except asyncio.CancelledError:
        if not ended.done():
            note_abandoned(ended)
        raise
