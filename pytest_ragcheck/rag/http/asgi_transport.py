"""Sends the requests of an HTTP client to an ASGI app in this process."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Mapping, MutableMapping
from types import ModuleType
from typing import Any

from pytest_ragcheck.concurrency.tasks import waited_for
from pytest_ragcheck.rag.body.json_body import shown_error
from pytest_ragcheck.rag.http.asgi_lifespan import VERSION, AsgiCallable, AsgiLifespan
from pytest_ragcheck.rag.http.exchange_failures import AppFailure

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
    # The call runs in a task, which outlives the reply if the app has background work. The set *under_way* holds the
    # task until it ends or is cancelled.

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
