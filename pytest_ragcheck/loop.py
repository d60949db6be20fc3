"""One private event loop in a thread, so that nobody else's loop is touched."""

from __future__ import annotations

import asyncio
import threading
from concurrent.futures import Future, wait
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

T = TypeVar("T")


class PrivateLoop:
    """
    Runs coroutine functions for threads that wait, any number at once; the loop starts with the first of them.

    They run beside each other, from wherever they are called, the thread of a running event loop included.
    """

    def __init__(self) -> None:
        self._running: _LoopThread | None = None
        self._changing = threading.Lock()

    def run(
        self,
        function: Callable[..., Awaitable[T]],
        *arguments: Any,
        every_seconds: float = 0.0,
        meanwhile: Callable[[], object] | None = None,
    ) -> T:
        """
        The result of `function(*arguments)`; what it raises is raised here.

        Args:
            function: What is run in the loop.
            arguments: Its own.
            every_seconds: How often `meanwhile` is called by the thread that waits; 0: never.
            meanwhile: Something to do or to say while it takes long.
        """
        with self._changing:
            if self._running is None:
                self._running = _LoopThread()
            loop = self._running.loop
        future = asyncio.run_coroutine_threadsafe(settled(function, *arguments), loop)
        try:
            while meanwhile is not None and every_seconds and not wait([future], every_seconds).done:
                meanwhile()
            outcome: Callable[[], T] = future.result()
        except BaseException:
            # Ctrl-C ends the waiting, and what is waited for.
            future.cancel()
            raise
        return outcome()

    def close(self) -> None:
        """
        Ends the loop, whatever runs in it, and its thread; a further `run` starts both anew.

        A loop that never started costs nothing to close.
        """
        with self._changing:
            running, self._running = self._running, None
        if running is not None:
            running.end()


class _LoopThread:
    """
    An event loop in a daemon thread.

    The interpreter would wait for any other thread at its end, which comes to nothing where nobody calls `close()`.
    """

    def __init__(self) -> None:
        self._started: Future[tuple[asyncio.AbstractEventLoop, asyncio.Event]] = Future()
        self._thread = threading.Thread(target=lambda: asyncio.run(self._run()), name="ragcheck loop", daemon=True)
        self._thread.start()
        self.loop, self._ending = self._started.result()

    def end(self) -> None:
        """Cancels what still runs, ends the loop and waits for its thread."""
        self.loop.call_soon_threadsafe(self._ending.set)
        self._thread.join()

    async def _run(self) -> None:
        ending = asyncio.Event()
        self._started.set_result((asyncio.get_running_loop(), ending))
        await ending.wait()


async def settled(function: Callable[..., Awaitable[T]], *arguments: Any) -> Callable[[], T]:
    """
    A function that returns or raises what the coroutine did.

    What is no `Exception`, as Ctrl-C or a `pytest.skip()` in a user's client, would end the loop that it passes
    through.
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
