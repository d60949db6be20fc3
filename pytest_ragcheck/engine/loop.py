"""One private event loop in a thread, so that nobody else's loop is touched."""

from __future__ import annotations

from asyncio import CancelledError
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from contextlib import AbstractContextManager

    from anyio.from_thread import BlockingPortal

T = TypeVar("T")


class PrivateLoop:
    """Runs coroutine functions for a thread that waits; the loop starts with the first of them."""

    def __init__(self) -> None:
        self._starting: AbstractContextManager[BlockingPortal] | None = None
        self._portal: BlockingPortal | None = None

    def run(self, function: Callable[..., Awaitable[T]], *arguments: Any) -> T:
        """The result of `function(*arguments)`; what it raises is raised here."""
        if self._portal is None:
            from anyio.from_thread import start_blocking_portal  # noqa: PLC0415 - only where questions run

            self._starting = start_blocking_portal("asyncio")
            self._portal = self._starting.__enter__()
        future = self._portal.start_task_soon(_settled, function, arguments)
        try:
            settled: Callable[[], T] = future.result()
        except BaseException:
            # Ctrl-C ends the waiting, not what is waited for.
            future.cancel()
            raise
        return settled()

    def close(self) -> None:
        """Ends the loop, whatever runs in it, and its thread; a loop that never started costs nothing to close."""
        if self._portal is not None and self._starting is not None:
            self._portal.call(partial(self._portal.stop, cancel_remaining=True))
            self._starting.__exit__(None, None, None)
        self._starting = self._portal = None


async def _settled(function: Callable[..., Awaitable[T]], arguments: tuple[Any, ...]) -> Callable[[], T]:
    """
    A function that returns or raises what the coroutine did.

    What is no `Exception`, as Ctrl-C or a `pytest.skip()` in a user's client, would end the loop.
    """
    try:
        value = await function(*arguments)
    except (Exception, CancelledError):
        raise
    except BaseException as error:
        stopped = error

        def reraise() -> T:
            raise stopped

        return reraise
    return lambda: value
