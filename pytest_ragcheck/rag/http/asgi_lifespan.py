"""Runs the lifespan of an ASGI app: its startup before the first request, and its shutdown at the end."""

from __future__ import annotations

import asyncio
import logging
import sys
from collections.abc import Awaitable, Callable, Mapping, MutableMapping
from typing import Any

from pytest_ragcheck.concurrency.tasks import waited_for
from pytest_ragcheck.errors import EndpointError, EndpointUnreachable
from pytest_ragcheck.rag.body.json_body import excerpt, shown_error

AsgiCallable = Callable[[Any, Any, Any], Awaitable[None]]

VERSION = {"version": "3.0", "spec_version": "2.4"}

_ERROR_SECONDS = 1.0
"""Time for an app to raise the error of its `startup.failed`."""

_log = logging.getLogger(__name__)


class AsgiLifespan:
    """
    One lifespan of an ASGI app, in the event loop that makes the object.

    The app stays in one task, since its shutdown closes the task groups of its startup. A loop that ends cancels this
    task, which then runs the shutdown. Each has *limit_seconds*.
    """

    def __init__(self, app: AsgiCallable, name: str, limit_seconds: float) -> None:
        self.loop = asyncio.get_running_loop()
        self.state: dict[str, Any] = {}
        """The values that the startup passes to the requests."""

        self.requests: set[asyncio.Task[None]] = set()
        """The calls of the app for which the shutdown waits."""

        self._name = name
        self._limit_seconds = limit_seconds
        self._is_received = False
        self._is_complete = False
        self._is_late = False
        self._is_stopped = False
        self._message: str | None = None
        """The message of `startup.failed` or `shutdown.failed`."""

        self._error: BaseException | None = None
        self._decided = asyncio.Event()
        """Set once the startup has succeeded or failed."""

        self._ending = asyncio.Event()
        self._task = asyncio.create_task(self._run(app))
        # A loop that its user never ends would warn about this task at the end of the process.
        self._task._log_destroy_pending = False  # type: ignore[attr-defined]
        self._timer = self.loop.call_later(limit_seconds, self._expire)

    async def started(self) -> None:
        """Wait for the end of the startup; raises an `EndpointUnreachable` if it failed, now or before."""
        await self._decided.wait()
        # An app that raises before it receives anything takes no lifespan, by the ASGI specification.
        is_refused = self._is_late or self._message is not None or (self._is_received and self._error is not None)
        if self._is_complete or not is_refused:
            return
        # Starlette sends `startup.failed` with a printed traceback, and then raises the error.
        await waited_for({self._task}, _ERROR_SECONDS)
        to_do = "Fix the lifespan of the app, which runs once before the first question."
        if self._is_late:
            found = f"its startup did not end within {self._limit_seconds:g} s"
            to_do = "Make it faster, or raise the limit (rag_timeout)."
        else:
            found = self._problem("startup")
        text = f"{self._name}: {found}\n{to_do}"
        raise EndpointUnreachable(text, url=self._name, transient=False) from self._error

    async def stop(self) -> None:
        """
        Wait for the last requests, and run the shutdown.

        Raises:
            EndpointError: The shutdown failed, or the app ended before with an error.
        """
        self._is_stopped = True
        if not self._is_complete:
            self._task.cancel()
            await waited_for({self._task}, self._limit_seconds)
            return
        await waited_for(self.requests, self._limit_seconds)
        self._ending.set()
        found = ""
        if not await waited_for({self._task}, self._limit_seconds):
            self._task.cancel()
            found = f"its shutdown did not end within {self._limit_seconds:g} s"
        elif self._has_failed:
            found = self._problem("shutdown")
        if found:
            text = f"{self._name}: {found}\nFix the lifespan of the app. The answers are not affected."
            raise EndpointError(text, url=self._name) from self._error

    async def _run(self, app: AsgiCallable) -> None:
        scope = {"type": "lifespan", "asgi": VERSION, "state": self.state}
        try:
            await app(scope, self._receive, self._send)
        except (asyncio.CancelledError, GeneratorExit) as error:
            self._error = None if self._is_complete else error
            raise
        except BaseException as error:  # also SystemExit, which would end the loop
            self._error = error
        finally:
            self._timer.cancel()
            self._decided.set()
        if self._is_complete and not self._is_stopped and self._has_failed:
            _log.warning("%s: %s", self._name, self._problem("lifespan"))

    async def _receive(self) -> Mapping[str, str]:
        if not self._is_received:
            self._is_received = True
            return {"type": "lifespan.startup"}
        try:
            await self._ending.wait()
        except asyncio.CancelledError:
            if not self._is_complete:
                raise
            # The loop is ending: the shutdown runs in its last iterations.
            self._ending.set()
            task = asyncio.current_task()
            if sys.version_info >= (3, 11) and task is not None:
                task.uncancel()
        return {"type": "lifespan.shutdown"}

    async def _send(self, message: MutableMapping[str, Any]) -> None:
        if message["type"] == "lifespan.startup.complete":
            self._is_complete = True
        elif message["type"] in {"lifespan.startup.failed", "lifespan.shutdown.failed"}:
            self._message = str(message.get("message") or "")
        self._timer.cancel()
        self._decided.set()

    def _expire(self) -> None:
        self._is_late = True
        self._decided.set()
        self._task.cancel()

    @property
    def _has_failed(self) -> bool:
        return self._error is not None or self._message is not None

    def _problem(self, step: str) -> str:
        if self._error is not None:
            return f"its {step} raised {shown_error(self._error)}"
        return f"its {step} failed{f': {excerpt(self._message)}' if self._message else ', without a message'}"
