"""Runs plain functions in threads for an event loop, one by one or in batches."""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from functools import partial
from typing import Any, Generic, TypeVar

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


R = TypeVar("R")


class Batches(Generic[T, R]):
    """
    Collects items while a batch is computed, and computes them as the next batch.

    *compute* returns one result or error for each item; it is called in a thread, one batch at a time.
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
