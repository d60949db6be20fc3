"""Sends the requests of an HTTP client to servers without TLS."""

from __future__ import annotations

import asyncio
import importlib
import os
import re
import select
from collections import defaultdict
from collections.abc import AsyncIterator
from types import ModuleType
from typing import Any

_Address = tuple[bytes, int]

_MAX_HELD_BYTES = 65_536
"""Maximum bytes that wait for the rest of a request, or for the reader of a reply."""

_HAPPY_EYEBALLS_SECONDS = 0.25
"""The time for which an address is tried alone (RFC 8305)."""

_NUMBER = re.compile(rb"[\d.]+|.*:.*")
"""An address of version 4 or 6."""


class PlainTransport:
    """
    The transport of an HTTP client for `http:` URLs without a proxy.

    The HTTP/1.1 of httpcore over connections of asyncio takes 0.3 ms of CPU a request, that of httpx 0.6 ms. The
    callers limit the time. Unused connections stay open *idle_seconds*; with 0 each request has its own.
    """

    def __init__(self, library: ModuleType, *, idle_seconds: float) -> None:
        self._library: Any = library
        self._core: Any = importlib.import_module(library.__name__.replace("httpx", "httpcore"))
        self.failures = (self._core.NetworkError, self._core.ProtocolError)
        self._idle_seconds = idle_seconds
        self._idle: defaultdict[_Address, list[Any]] = defaultdict(list)
        """The unused connections of each server, the one used last at the end."""

        # A client accepts only streams of its library.
        self._stream = type("PlainStream", (_ReplyStream, library.AsyncByteStream), {})

    async def handle_async_request(self, request: Any) -> Any:
        if request.url.scheme != "http":
            raise self._library.UnsupportedProtocol(f"{request.url.scheme}: is not http:")
        url = self._core.URL(
            scheme=request.url.raw_scheme,
            host=request.url.raw_host,
            port=request.url.port,
            target=request.url.raw_path,
        )
        trace = request.extensions.get("trace")
        # httpcore reports twenty events, and `Progress` needs two, which are reported here.
        extensions = {**request.extensions, "trace": None}
        sent = self._core.Request(
            request.method, url, headers=request.headers.raw, content=request.stream, extensions=extensions
        )
        address = (url.host, url.origin.port)
        try:
            connection = await self._idle_connection(address) or await self._connect(url.origin, trace)
            if trace is not None:
                await trace("http11.send_request_headers.started", {})
            reply = await connection.handle_async_request(sent)
        except self.failures as error:
            raise self.of_library(error) from error
        return self._library.Response(
            reply.status,
            headers=reply.headers,
            stream=self._stream(self, address, connection, reply.stream),
            extensions=reply.extensions,
        )

    async def aclose(self) -> None:
        while self._idle:
            for connection in self._idle.popitem()[1]:
                await connection.aclose()
        await asyncio.sleep(0)  # the loop closes the sockets in its next round

    async def release(self, address: _Address, connection: Any) -> None:
        """Keep the connection of a reply, if it can take a further request."""
        if not connection.is_available():
            return
        # Bytes after the reply, as after a wrong Content-Length, would be taken for the start of the next one.
        parser = getattr(connection, "_h11_state", None)
        if not self._idle_seconds or (parser is not None and parser.trailing_data[0]):
            await connection.aclose()
        else:
            self._idle[address].append(connection)

    def of_library(self, error: Exception) -> Exception:
        """The exception of httpx for one of httpcore, which has the same name."""
        failure: Exception = getattr(self._library, type(error).__name__)(str(error))
        return failure

    async def _idle_connection(self, address: _Address) -> Any:
        connections = self._idle[address]
        while connections:
            connection = connections.pop()
            if not connection.has_expired():
                return connection
            await connection.aclose()
        return None

    async def _connect(self, origin: Any, trace: Any) -> Any:
        if trace is not None:
            await trace("connection.connect_tcp.started", {})
        loop = asyncio.get_running_loop()
        options: dict[str, Any] = {}
        # A number is one address, for which no others are tried; the loop of uvloop has no such option.
        if isinstance(loop, asyncio.BaseEventLoop) and not _NUMBER.fullmatch(origin.host):
            options["happy_eyeballs_delay"] = _HAPPY_EYEBALLS_SECONDS
        try:
            _, connected = await loop.create_connection(
                lambda: _Socket(self._core), origin.host.decode(), origin.port, **options
            )
        except (OSError, UnicodeError) as error:
            first = _first_merged(error)
            raise self._core.ConnectError(_words(first)) from first
        return self._core.AsyncHTTP11Connection(origin, connected, keepalive_expiry=self._idle_seconds)


class _Socket(asyncio.Protocol):
    # A connected socket as httpcore uses it (`httpcore.AsyncNetworkStream`).
    # The parts of a request are sent together, in one call of the system and in one packet if they fit.

    def __init__(self, core: Any) -> None:
        self._core = core
        self._transport: Any = None
        self._unsent = bytearray()
        self._received = bytearray()
        self._is_over = False
        self._error: Exception | None = None
        self._has_news = asyncio.Event()
        self._is_writable = asyncio.Event()
        self._is_writable.set()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        self._received += data
        self._has_news.set()
        if len(self._received) >= _MAX_HELD_BYTES:
            self._transport.pause_reading()

    def eof_received(self) -> None:
        self._is_over = True
        self._has_news.set()

    def connection_lost(self, exc: Exception | None) -> None:
        self._error = exc
        self.eof_received()
        self._is_writable.set()

    def pause_writing(self) -> None:
        self._is_writable.clear()

    def resume_writing(self) -> None:
        self._is_writable.set()

    async def read(self, max_bytes: int, timeout: float | None = None) -> bytes:  # noqa: ARG002
        await self._send()
        if not self._received and not self._is_over:
            self._has_news.clear()
            await self._has_news.wait()
        if not self._received and self._error is not None:
            raise self._core.ReadError(str(self._error)) from self._error
        data = bytes(self._received[:max_bytes])
        del self._received[:max_bytes]
        self._transport.resume_reading()
        return data

    async def write(self, buffer: bytes, timeout: float | None = None) -> None:  # noqa: ARG002
        self._unsent += buffer
        if len(self._unsent) >= _MAX_HELD_BYTES:
            await self._send()

    async def aclose(self) -> None:
        self._transport.abort()

    def get_extra_info(self, info: str) -> Any:
        if info == "is_readable":
            # Bytes between two replies belong to neither; at best they are the end of the connection.
            return self._is_over or bool(self._received) or _is_readable(self._transport.get_extra_info("socket"))
        return self._transport.get_extra_info("sockname" if info == "client_addr" else info)

    async def _send(self) -> None:
        if self._unsent and not self._is_over:
            # After an error the reply is still read: a server may refuse a request before it has read all of it.
            self._transport.write(self._unsent)
            self._unsent = bytearray()
            await self._is_writable.wait()


class _ReplyStream:
    def __init__(self, transport: PlainTransport, address: _Address, connection: Any, body: Any) -> None:
        self._transport = transport
        self._address = address
        self._connection = connection
        self._body = body

    async def __aiter__(self) -> AsyncIterator[bytes]:
        try:
            async for part in self._body:
                yield part
        except self._transport.failures as error:
            raise self._transport.of_library(error) from error

    async def aclose(self) -> None:
        # Release the connection after the whole body, and close it otherwise.
        await self._body.aclose()
        await self._transport.release(self._address, self._connection)


def _is_readable(connected: Any) -> bool:
    if not hasattr(select, "poll"):
        return bool(select.select([connected], [], [], 0)[0])
    poll = select.poll()
    poll.register(connected, select.POLLIN)
    return bool(poll.poll(0))


def _words(error: Exception) -> str:
    # The system's words without the address, such as "Connection refused".
    if not isinstance(error, OSError) or not error.errno or error.errno < 0:
        return str(error)
    # Windows has no address there, and other numbers.
    return str(error.strerror) if hasattr(error, "winerror") else os.strerror(error.errno)


def _first_merged(error: Exception) -> Exception:
    # The first of the errors that asyncio merged into one without a number.
    number = re.search(r"\[Errno (\d+)\]", str(error))
    if not isinstance(error, OSError) or error.errno is not None or number is None:
        return error
    return OSError(int(number[1]), os.strerror(int(number[1])))
