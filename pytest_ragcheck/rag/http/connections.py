"""Opens HTTP clients for each event loop, and tracks the progress of their exchanges."""

from __future__ import annotations

import asyncio
import importlib
import os
import ssl
import sys
import time
from collections.abc import AsyncGenerator, AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from enum import Enum
from functools import cache, lru_cache
from http.cookiejar import CookieJar, DefaultCookiePolicy
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit
from urllib.request import getproxies, getproxies_environment
from weakref import WeakKeyDictionary

from pytest_ragcheck.concurrency.tasks import in_thread
from pytest_ragcheck.errors import UsageError
from pytest_ragcheck.rag.http.plain_transport import PlainTransport

if TYPE_CHECKING:
    import httpx
    import httpx2

    AnyClient = httpx.AsyncClient | httpx2.AsyncClient
    AnyResponse = httpx.Response | httpx2.Response


class Phase(Enum):
    """A part of an exchange; error texts show the value."""

    CONNECTING = "connecting"
    WAITING = "waiting for the reply"
    READING = "reading the reply's body"


class Progress:
    """Tracks an exchange by the trace events of the HTTP library."""

    def __init__(self) -> None:
        self.phase = Phase.WAITING  # a user's own transport may report no events
        self.is_traced = False
        """True if the transport reports events, unlike `httpx.ASGITransport`, which does not stream."""

        self._has_connected = False
        self._connected: Any = None

    @property
    def is_over_kept_connection(self) -> bool:
        """True if the request went over the connection of an earlier exchange."""
        return self.is_traced and not self._has_connected

    async def cut_short(self) -> None:
        """Closes the connection of an exchange that was cancelled in a TLS handshake, as the library does not."""
        if self._connected is not None and self.phase is Phase.CONNECTING:
            await self._connected.aclose()

    async def trace(self, event: str, details: Mapping[str, Any]) -> None:
        self.is_traced = True
        if event.endswith((".connect_tcp.started", ".start_tls.started")):
            self.phase = Phase.CONNECTING
            self._has_connected = True
        elif event.endswith((".connect_tcp.complete", ".start_tls.complete")):
            self._connected = details["return_value"]
        elif event.endswith(".send_request_headers.started"):
            self.phase = Phase.WAITING


_IDLE_SECONDS = 1.5
"""
Time for which an idle connection stays open.

Below the 2 s of gunicorn and the 5 s of uvicorn and Node: a request over a closing connection would be lost.
"""

_UNKEPT_SECONDS = 30.0
"""Time without kept connections after one was lost, longer than a retry waits."""

_REQUESTS_A_CLIENT = 8
"""
Maximum number of concurrent requests over one client.

A client of httpx 0.28 scans its connections for each request, in quadratic time: 1,000 questions of 0.2 s, 128 at
once, took 10.7 s over one client and 2.0 s over clients of 8.
"""


def http_library() -> ModuleType:
    """httpx2 if it is installed, otherwise httpx; both have the same API."""
    try:
        return importlib.import_module("httpx2")
    except ModuleNotFoundError:
        return importlib.import_module("httpx")


def library_of(http: object) -> ModuleType:
    """
    The library of a user's client.

    Raises:
        UsageError: The client is not an AsyncClient of httpx or httpx2.
    """
    for name in ("httpx2", "httpx"):
        library = sys.modules.get(name)  # if not imported, it cannot be the client's
        if library is not None and isinstance(http, library.AsyncClient):
            return library
    kind = f"{type(http).__module__}.{type(http).__qualname__}"
    raise UsageError(f"http= takes an AsyncClient of httpx or httpx2, not {kind}. Write http=httpx.AsyncClient(...).")


@lru_cache
def unlogged(library: Any, shown: str) -> Any:
    """A URL class whose text is *shown*, since the library logs the text of each request's URL."""
    text_only = {"__str__": lambda _: shown, "__repr__": lambda _: f"URL({shown!r})"}
    return type("URL", (library.URL,), text_only)


def stateless(library: Any, **options: Any) -> AnyClient:
    """A client without cookies, because a cookie would carry the session of one question into the next."""
    jar = CookieJar(policy=DefaultCookiePolicy(allowed_domains=[]))
    client: AnyClient = library.AsyncClient(headers={"user-agent": "pytest-ragcheck"}, cookies=jar, **options)
    return client


class Connections:
    """
    Opens clients of *library* for each event loop, on demand.

    Connections belong to the loop that made them. Without *tls*, the first client for TLS loads the certificates, in
    30 ms.

    Raises:
        UsageError: The environment names a proxy or a certificate file that the library cannot use.
    """

    def __init__(self, library: ModuleType, *, tls: bool = True) -> None:
        self._library = library
        self._opened: WeakKeyDictionary[asyncio.AbstractEventLoop, _LoopClients] = WeakKeyDictionary()
        self._tls: ssl.SSLContext | None = None
        self._keeps_from = 0.0
        """When connections are kept again: after a loss, no retry goes over another one that the server is closing."""

        if tls:
            self.load_certificates()
        with _usage_errors(library):
            proxies = getproxies()
            for scheme in ("http", "https", "all"):
                # The library would pass the port 99999 on to the socket.
                _ = urlsplit(proxies.get(scheme)).port
            if not tls and (named := os.environ.get("SSL_CERT_FILE")):
                Path(named).open("rb").close()
            # This raises an error in an unusable environment.
            self._new_client(tls=tls)

    def load_certificates(self) -> None:
        if self._tls is None:
            with _usage_errors(self._library):
                self._tls = _tls(self._library, *map(_named_by, ("SSL_CERT_FILE", "SSL_CERT_DIR")))

    @asynccontextmanager
    async def client(self, *, tls: bool = True) -> AsyncIterator[AnyClient]:
        """A client of the running loop, for one request; an `http:` URL needs no *tls*."""
        loop = asyncio.get_running_loop()
        if (opened := self._opened.get(loop)) is None:
            opened = self._opened[loop] = _LoopClients()
            # A started async generator, and so its clients, are closed with the loop, even without aclose().
            await anext(opened.until_closed)
        if tls and self._tls is None:
            await in_thread(self.load_certificates)
        clients = opened.clients
        keeps = time.monotonic() >= self._keeps_from
        fitting = (each for each in clients if each.tls >= tls and each.keeps == keeps)
        shared = next((each for each in fitting if each.asking < _REQUESTS_A_CLIENT), None)
        if shared is None:
            shared = self._new_client(tls=tls, keeps=keeps)
            clients.append(shared)
        shared.asking += 1
        library: Any = self._library
        try:
            yield shared.client
        except Exception as error:
            # The error of an endpoint has that of the library as its cause.
            lost = (library.ReadError, library.RemoteProtocolError)
            if any(isinstance(each, lost) for each in (error, error.__cause__)):
                self._keeps_from = time.monotonic() + _UNKEPT_SECONDS
            raise
        finally:
            shared.asking -= 1

    async def aclose(self) -> None:
        """Closes the running loop's clients; those of another loop close when that loop ends."""
        if opened := self._opened.pop(asyncio.get_running_loop(), None):
            await opened.until_closed.aclose()

    def _new_client(self, *, tls: bool, keeps: bool = True) -> _Shared:
        # The library would take the proxy of Windows or macOS for localhost too.
        if not tls and not any(map(getproxies_environment().get, ("http", "all"))):
            transport = PlainTransport(self._library, idle_seconds=_IDLE_SECONDS * keeps)
            return _Shared(stateless(self._library, transport=transport), tls, keeps)
        client = stateless(
            self._library,
            # A context without certificates trusts no server.
            verify=self._tls if tls else ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT),
            # The engine limits concurrency; the default of 20 kept connections would reopen the others.
            limits=self._library.Limits(
                max_connections=None,
                max_keepalive_connections=None if keeps else 0,
                keepalive_expiry=_IDLE_SECONDS,
            ),
        )
        return _Shared(client, tls, keeps)


@contextmanager
def _usage_errors(library: Any) -> Iterator[None]:
    try:
        yield
    except (OSError, ValueError, ImportError, library.InvalidURL) as error:
        raise UsageError(
            f"no HTTP client can be made in this environment: {str(error).rstrip('.')}. "
            "Check HTTP_PROXY, HTTPS_PROXY, ALL_PROXY, SSL_CERT_FILE and SSL_CERT_DIR."
        ) from error


def _named_by(variable: str) -> tuple[Path, int] | None:
    # The path in the variable and its modification time (0 if missing); None if not set.
    if not (name := os.environ.get(variable)):
        return None
    path = Path(name).absolute()
    return path, path.stat().st_mtime_ns if path.exists() else 0


@cache
def _tls(library: ModuleType, *_: tuple[Path, int] | None) -> ssl.SSLContext:
    # The library's context with these certificates, cached because loading is slow.
    context: ssl.SSLContext = library.create_ssl_context()
    return context


@dataclass(slots=True)
class _Shared:
    client: AnyClient
    tls: bool
    """False if it has no certificates."""

    keeps: bool
    """True if it uses a connection for further requests."""

    asking: int = 0


class _LoopClients:
    def __init__(self) -> None:
        self.clients: list[_Shared] = []
        self.until_closed = self._until_closed()

    async def _until_closed(self) -> AsyncGenerator[None, Any]:
        try:
            yield
        finally:
            for shared in self.clients:
                await shared.client.aclose()
