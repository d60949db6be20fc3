"""A `RagClient` for code without an event loop."""

from __future__ import annotations

import asyncio
import threading
from concurrent.futures import Future
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine
    from types import TracebackType

    from typing_extensions import Self

    from pytest_ragcheck.questions.question import Question
    from pytest_ragcheck.rag.answer import RagAnswer
    from pytest_ragcheck.rag.client import RagClient

T = TypeVar("T")


class BlockingRagClient:
    """
    The methods of a `RagClient` as plain calls.

    They run in a private event loop in a thread, so that they work from anywhere, a running event loop's thread
    and several threads at once included.
    """

    def __init__(self, client: RagClient) -> None:
        self._client = client
        self._loop: _LoopThread | None = None
        self._changing = threading.Lock()

    def ask(self, question: Question) -> RagAnswer:
        """As `RagClient.ask`."""
        return self._call(lambda: self._client.ask(question))

    def query(self, text: str, top_k: int | None = None) -> RagAnswer:
        """As `RagClient.query`."""
        return self._call(lambda: self._client.query(text, top_k))

    def close(self) -> None:
        """Closes the connections and ends the thread; a further question starts both anew."""
        with self._changing:
            loop, self._loop = self._loop, None
        if loop is not None:
            loop.end()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _call(self, function: Callable[[], Coroutine[Any, Any, T]]) -> T:
        with self._changing:
            if self._loop is None:
                self._loop = _LoopThread()
            loop = self._loop
        return loop.call(function)


class _LoopThread:
    """
    An event loop in a daemon thread.

    A blocking portal of anyio's earlier versions has a thread that the interpreter waits for at its end, which
    comes to nothing where nobody calls `close()`.
    """

    def __init__(self) -> None:
        self._started: Future[tuple[asyncio.AbstractEventLoop, asyncio.Event]] = Future()
        self._thread = threading.Thread(target=lambda: asyncio.run(self._run()), name="ragcheck client", daemon=True)
        self._thread.start()
        self._loop, self._ending = self._started.result()

    def call(self, function: Callable[[], Coroutine[Any, Any, T]]) -> T:
        """The result of the coroutine; what it raises is raised here."""
        waiting = asyncio.run_coroutine_threadsafe(_settled(function), self._loop)
        try:
            settled = waiting.result()
        except BaseException:  # Ctrl-C while waiting
            waiting.cancel()
            raise
        return settled()

    def end(self) -> None:
        """Cancels what still runs, ends the loop and waits for its thread."""
        self._loop.call_soon_threadsafe(self._ending.set)
        self._thread.join()

    async def _run(self) -> None:
        ending = asyncio.Event()
        self._started.set_result((asyncio.get_running_loop(), ending))
        await ending.wait()


async def _settled(function: Callable[[], Coroutine[Any, Any, T]]) -> Callable[[], T]:
    """A function that returns or raises what the coroutine did: these two would end the loop that they pass through."""
    try:
        value = await function()
    except (KeyboardInterrupt, SystemExit) as error:
        stopped = error

        def reraise() -> T:
            raise stopped

        return reraise
    return lambda: value
