"""Runs an ASGI app in this process, and sends it HTTP requests."""

from __future__ import annotations

import asyncio
import inspect
import os
import sys
import threading
from collections.abc import Callable, Coroutine
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import urlsplit

from pytest_ragcheck.concurrency.limiter import TimeLimit
from pytest_ragcheck.errors import EndpointError, UsageError
from pytest_ragcheck.rag.http.asgi_lifespan import AsgiCallable, AsgiLifespan
from pytest_ragcheck.rag.http.asgi_transport import AsgiTransport
from pytest_ragcheck.rag.http.connections import http_library, stateless
from pytest_ragcheck.redaction import shown_url

if TYPE_CHECKING:
    from pytest_ragcheck.rag.http.connections import AnyClient

T = TypeVar("T")

_ANSWER_SECONDS = 2.0
"""Time for the loop of an app to answer another thread."""


class AsgiApp:
    """
    An app that runs in the event loop of the first request, with its lifespan.

    Requests from another loop run in it too, since locks and connections of the startup belong to one loop. The
    startup and the shutdown have *limit_seconds* each.

    Raises:
        UsageError: The app is not an ASGI app.
    """

    def __init__(self, app: AsgiCallable, *, limit_seconds: float) -> None:
        _check(app)
        self.name = f"app {_name_of(app)}"
        self._app = app
        self._limit_seconds = limit_seconds
        self._claiming = threading.Lock()
        self._lifespan: AsgiLifespan | None = None
        self._pid = os.getpid()

    @cached_property
    def client(self) -> AnyClient:
        """The HTTP client whose requests the app takes. It has no connections to close."""
        library = http_library()
        return stateless(library, transport=AsgiTransport(self._app, library, self._ensure_lifespan), trust_env=False)

    def shown(self, url: str) -> str:
        parts = urlsplit(shown_url(url))
        return f"{self.name} {parts._replace(scheme='', netloc='').geturl()}".rstrip()

    async def started(self) -> None:
        """Start the app if it is not started, and wait as `AsgiLifespan.started`."""
        lifespan = self._ensure_lifespan()
        await self._in_loop(lifespan.loop, lifespan.started)

    async def run(self, function: Callable[..., Coroutine[Any, Any, T]], *arguments: Any) -> T:
        """The result of `function(*arguments)` in the app's event loop; an `EndpointError` unless that loop runs."""
        return await self._in_loop(self._ensure_lifespan().loop, function, *arguments)

    def refuse_to_block(self) -> None:
        """Raise a `UsageError` for a call in the thread of the app's event loop, which would wait for itself."""
        lifespan = self._lifespan
        try:
            running = asyncio.get_running_loop()
        except RuntimeError:
            return
        if lifespan is not None and running is lifespan.loop:
            raise UsageError(
                f"client.blocking was called in the event loop of {self.name}, which would wait for itself. "
                "Await the client's own method, such as client.query(text)."
            )

    async def aclose(self, *, only_here: bool = False) -> None:
        """
        Shut the app down, with *only_here* if it runs in this event loop; the next request starts it again.

        Raises:
            EndpointError: The shutdown failed.
        """
        with self._claiming:
            lifespan = self._lifespan
            if lifespan is None or (only_here and lifespan.loop is not asyncio.get_running_loop()):
                return
            self._lifespan = None
        if self._pid != os.getpid() or not lifespan.loop.is_running():
            return  # the app ends with its loop, or with its process
        if lifespan.loop is not asyncio.get_running_loop() and not await _responds(lifespan.loop):
            raise EndpointError(
                f"{self.name}: its shutdown did not run, since code of the app blocks its event loop\n"
                "Await what takes long, or run it in a thread.",
                url=self.name,
            )
        await self._in_loop(lifespan.loop, lifespan.stop)

    def _ensure_lifespan(self) -> AsgiLifespan:
        # The lifespan, begun in the running loop if there is none.
        with self._claiming:
            if self._lifespan is None or self._pid != os.getpid() or self._lifespan.loop.is_closed():
                self._pid = os.getpid()
                self._lifespan = AsgiLifespan(self._app, self.name, self._limit_seconds)
            return self._lifespan

    async def _in_loop(
        self, loop: asyncio.AbstractEventLoop, function: Callable[..., Coroutine[Any, Any, T]], *arguments: Any
    ) -> T:
        if loop is asyncio.get_running_loop():
            return await function(*arguments)
        if not loop.is_running():
            raise EndpointError(
                f"{self.name}: was started in another event loop, which is not running now\n"
                "Ask from one event loop, or by client.blocking, or make a client for each loop.",
                url=self.name,
            )
        return await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(function(*arguments), loop))


async def _responds(loop: asyncio.AbstractEventLoop) -> bool:
    # True if the loop of another thread responds, so that no call blocks it.
    with TimeLimit(_ANSWER_SECONDS):
        await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(asyncio.sleep(0), loop))
        return True
    return False


def _check(app: object) -> None:
    try:
        inspect.signature(app).bind("scope", "receive", "send")  # type: ignore[arg-type]
    except TypeError:
        shown = app if isinstance(app, str) else getattr(app, "__qualname__", type(app).__qualname__)
        raise UsageError(
            f"app= takes an ASGI app, which is called as app(scope, receive, send), not {shown!r}. Give the app of "
            "FastAPI, Starlette or Django's asgi.py; a WSGI app, such as Flask's, needs a server and rag_url."
        ) from None
    except ValueError:  # a callable without a signature
        return


def _name_of(app: Any) -> str:
    # The `module:name` of the app; the name of its class if no module holds it.
    if hasattr(app, "__qualname__"):
        return f"{app.__module__}:{app.__qualname__}"
    found = [
        (module, name)
        for module, loaded in list(sys.modules.items())
        for name, value in list(getattr(loaded, "__dict__", {}).items())
        if value is app
    ]
    if not found:
        return type(app).__qualname__
    # A module is registered before those that it imports, so the last one defines the app; test modules come late.
    place = max(reversed(found), key=lambda each: not _is_of_tests(each[0]))
    return ":".join(place)


def _is_of_tests(module: str) -> bool:
    last = module.rpartition(".")[2]
    return last == "conftest" or last.startswith("test_")
