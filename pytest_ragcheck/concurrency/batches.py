"""Computes the results that concurrent tasks wait for, in batches in a thread."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from typing import Generic, TypeVar

from pytest_ragcheck.concurrency.threads import in_thread

T = TypeVar("T")
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
