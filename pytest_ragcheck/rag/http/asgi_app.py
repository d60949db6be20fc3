"""Runs an ASGI app in this process, and sends it HTTP requests."""

from __future__ import annotations

import asyncio
import inspect
import logging
import os
import sys
import threading
from collections.abc import AsyncIterator, Callable, Coroutine, Mapping, MutableMapping
from functools import cached_property
from types import ModuleType
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import urlsplit

from pytest_ragcheck.concurrency.limiter import TimeLimit
from pytest_ragcheck.concurrency.tasks import waited_for
from pytest_ragcheck.errors import EndpointError, UsageError
from pytest_ragcheck.rag.body.json_body import shown_error
from pytest_ragcheck.rag.http.asgi_lifespan import VERSION, AsgiCallable, AsgiLifespan
from pytest_ragcheck.rag.http.connections import http_library, stateless
from pytest_ragcheck.rag.http.exchange_failures import AppFailure
from pytest_ragcheck.redaction import shown_url

if TYPE_CHECKING:
    from pytest_ragcheck.rag.http.connections import AnyClient

_CHUNKS_AHEAD = 8
"""Chunks that an app may send before they are read."""

_log = logging.getLogger(__name__)


class AsgiTransport:
    """
    The transport of an HTTP client whose requests go to an ASGI app.

    `httpx.ASGITransport` returns a reply when it is complete; this one returns it when it begins, so that streams are
    read as they arrive.
    """

    def __init__(self, app: AsgiCallable, library: ModuleType, lifespan: Callable[[], AsgiLifespan]) -> None:
        self._app = app
        self._library: Any = library
        self._lifespan = lifespan
        # A client accepts only streams of its library.
        self._exchange: type[_AppExchange] = type("AsgiStream", (_AppExchange, library.AsyncByteStream), {})

    async def handle_async_request(self, request: Any) -> Any:
        await request.extensions["trace"]("asgi.send_request_headers.started", {})
        lifespan = self._lifespan()
        body = await request.aread()
        exchange = self._exchange(self._app, _scope(request, lifespan.state), body, lifespan.requests)
        try:
            await exchange.begun.wait()
        except BaseException:
            await exchange.aclose()
            raise
        exchange.check_begun()
        return self._library.Response(exchange.status, headers=exchange.headers, stream=exchange)

    async def aclose(self) -> None:
        """Does nothing: there is no connection."""


def _scope(request: Any, state: Mapping[str, Any]) -> dict[str, Any]:
    url = request.url
    return {
        "type": "http",
        "asgi": VERSION,
        "http_version": "1.1",
        "method": request.method,
        "scheme": url.scheme,
        "path": url.path,
        "raw_path": url.raw_path.partition(b"?")[0],
        "query_string": url.query,
        "root_path": "",
        "headers": [(name.lower(), value) for name, value in request.headers.raw],
        "client": ("127.0.0.1", 0),
        "server": (url.host, url.port or (443 if url.scheme == "https" else 80)),
        "state": dict(state),
    }


class _AppExchange:
    # One call of the app, and the stream of its reply's body.
    # Its task, which outlives the reply if the app has background work, is *under_way* until it ends or is cancelled.

    def __init__(
        self, app: AsgiCallable, scope: dict[str, Any], body: bytes, under_way: set[asyncio.Task[None]]
    ) -> None:
        self.status = 0
        self.headers: list[tuple[bytes, bytes]] = []
        self.begun = asyncio.Event()
        """Set once the reply has begun, or the app has ended without one."""

        self._body: bytes | None = body
        self._chunks: asyncio.Queue[bytes | None] = asyncio.Queue(_CHUNKS_AHEAD)
        self._is_complete = False
        self._is_closed = False
        self._over = asyncio.Event()
        self._error: BaseException | None = None
        self._task = asyncio.create_task(self._run_app(app, scope))
        self._under_way = under_way
        under_way.add(self._task)
        self._task.add_done_callback(under_way.discard)

    def check_begun(self) -> None:
        # Raise an `AppFailure` if the app has ended without a reply.
        if not self.status:
            raise self._failure("returned without a reply") from self._error

    async def __aiter__(self) -> AsyncIterator[bytes]:
        while (chunk := await self._chunks.get()) is not None:
            yield chunk
        if self.status >= 500:
            # Starlette raises the error of a route after it has sent the page "Internal Server Error".
            await waited_for({self._task})
        if not self._is_complete or (self._error is not None and self.status >= 500):
            raise self._failure("returned before its reply was complete") from self._error

    async def aclose(self) -> None:
        # Send a disconnect to the app, and cancel it unless its reply is complete.
        self._is_closed = True
        self._over.set()
        if not self._is_complete:
            self._task.cancel()
            self._under_way.discard(self._task)  # the shutdown waits for no app that swallows its cancellation

    def _failure(self, otherwise: str) -> AppFailure:
        return AppFailure(otherwise if self._error is None else f"raised {shown_error(self._error)}")

    async def _run_app(self, app: AsgiCallable, scope: dict[str, Any]) -> None:
        try:
            await app(scope, self._receive, self._send)
        except asyncio.CancelledError as error:
            self._error = error
            if self._is_closed:
                raise
        except GeneratorExit:  # the loop was closed with this task in it
            raise
        except BaseException as error:  # also SystemExit, which would end the loop
            self._error = error
            if self._is_complete and self.status < 500:
                _log.warning("the app raised %s after its reply", shown_error(error), exc_info=error)
        self._over.set()
        self.begun.set()
        if not self._is_complete:
            await self._chunks.put(None)

    async def _receive(self) -> Mapping[str, Any]:
        body, self._body = self._body, None
        if body is not None:
            return {"type": "http.request", "body": body, "more_body": False}
        await self._over.wait()
        return {"type": "http.disconnect"}

    async def _send(self, message: MutableMapping[str, Any]) -> None:
        if self._is_closed:
            raise OSError("the client has closed the connection")  # as the ASGI specification asks
        if message["type"] == "http.response.start":
            self.status = message["status"]
            self.headers = [(bytes(name), bytes(value)) for name, value in message.get("headers", ())]
            self.begun.set()
        elif message["type"] == "http.response.body" and not self._is_complete:
            await self._chunks.put(bytes(message.get("body", b"")))
            if not message.get("more_body", False):
                await self._chunks.put(None)
                self._is_complete = True
                self._over.set()


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
