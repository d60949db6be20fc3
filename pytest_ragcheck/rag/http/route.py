"""Sends a request over HTTP and returns the reply, or raises the reason why there is none."""

from __future__ import annotations

import asyncio
import math
import ssl
import sys
import time
from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from pytest_ragcheck.concurrency.time_limit import TimeLimit
from pytest_ragcheck.errors import EndpointReplyError, UsageError
from pytest_ragcheck.rag.body.json_body import ReplyMismatch, parse_json
from pytest_ragcheck.rag.http.connections import Connections, http_library, library_of, unlogged
from pytest_ragcheck.rag.http.endpoint_address import read_address
from pytest_ragcheck.rag.http.exchange_failures import (
    AppFailure,
    raised_inside,
    refused_by_proxy,
    timed_out,
    unreachable,
    unusable_reply,
    wrong_status,
)
from pytest_ragcheck.rag.http.exchange_progress import Phase, Progress

if TYPE_CHECKING:
    from pytest_ragcheck.errors import EndpointError, EndpointStatusError, EndpointTimeout
    from pytest_ragcheck.rag.http.asgi_app import AsgiApp
    from pytest_ragcheck.rag.http.connections import AnyClient, AnyResponse
    from pytest_ragcheck.rag.http.exchange_failures import SentRequest

LOOKED_AT_BYTES = 16_384
"""Bytes of the body of a failed request that are read for the error's text."""

LOOKED_AT_SECONDS = 1.0
"""Time limit for reading them."""


class HttpRoute:
    """
    A URL that is asked over HTTP.

    Args:
        url: The URL of the route.
        headers: Sent with every request.
        timeout_seconds: Limit of a whole exchange, from connecting to the last byte.
        max_reply_bytes: Limit of a reply's body, decompressed.
        http: A user's own client of httpx or httpx2, with its own settings.
        app: An ASGI app in this process, which takes the requests in place of a server.
        close_http: Whether `aclose` closes it too.
        beside: Another route, whose connections this route shares.
        to_do: Remedies by status that replace the usual ones.

    Raises:
        UsageError: URL, header or client cannot work.
    """

    def __init__(
        self,
        url: str,
        *,
        headers: Mapping[str, str],
        timeout_seconds: float,
        max_reply_bytes: int,
        http: AnyClient | None,
        app: AsgiApp | None = None,
        close_http: bool = False,
        beside: HttpRoute | None = None,
        to_do: Mapping[int, str] = MappingProxyType({}),
    ) -> None:
        self._library = http_library() if http is None else library_of(http)
        self._address = read_address(url, headers, also_secret={} if http is None else http.headers)
        # The library resolves redirects against this text, so it is a URL for an app too.
        self._unlogged = unlogged(self._library, self._address.shown)
        if app is not None:
            self._address = replace(self._address, shown=app.shown(url))
        self._app = app
        self._http = http if app is None else app.client
        self._close_http = close_http
        self._connections: Connections | None = None
        self._is_tls = not url.lower().startswith("http:")
        if self._http is None:
            shared = None if beside is None else beside._connections
            self._connections = shared or Connections(self._library, tls=self._is_tls)
            if self._is_tls:
                self._connections.load_certificates()
        self._timeout_seconds = timeout_seconds
        self._max_reply_bytes = max_reply_bytes
        self._to_do = to_do
        self._headers = {"accept": "application/json"}
        self._headers |= {name.lower(): value for name, value in headers.items()}
        # A TLS handshake that is cancelled from outside leaves its socket open. So connecting has a limit of its own,
        # a little below that of the whole exchange.
        self._step_limits = self._library.Timeout(None, connect=timeout_seconds - min(1, timeout_seconds / 2))
        try:
            self._url = self._library.URL(url)
        except self._library.InvalidURL as error:
            raise UsageError(f"the endpoint's URL {self.name!r} cannot be used: {error}.") from None

    @property
    def name(self) -> str:
        """The URL without secrets."""
        return self._address.shown

    async def aclose(self) -> None:
        """Closes the connections of the running loop, and the user's own client if `close_http` is set."""
        if self._connections is not None:
            await self._connections.aclose()
        elif self._http is not None and self._close_http:
            await self._http.aclose()

    async def fetch(self, asked: SentRequest, **request: Any) -> tuple[AnyResponse, bytes]:
        """
        The reply to one request, and its body, cut off soon after the limit.

        Args:
            asked: The request in the words of error texts.
            request: Further arguments of the library's `build_request`, such as `content=` or `files=`.

        Raises:
            EndpointError: No whole reply came, or one with a status outside 200 to 299.
        """
        await self._ready()
        progress = Progress()
        with TimeLimit(self._timeout_seconds):
            response, body, _ = await self._exchange(self._url, progress, asked, request)
            self._check(response, body, asked)
            return response, body
        raise timed_out(self._address, self._timeout_seconds, progress.phase)

    async def _ready(self) -> None:
        """Wait for the startup of the app, which has a time limit of its own."""
        if self._app is not None:
            await self._app.started()

    async def _exchange(
        self, url: Any, progress: Progress, asked: SentRequest, request: Mapping[str, Any]
    ) -> tuple[AnyResponse, bytes, float]:
        """The reply, its body, and the seconds that both took."""
        if self._app is not None:
            return await self._app.run(self._exchange_over, self._http, url, progress, asked, request)
        if self._connections is None:
            return await self._exchange_over(self._http, url, progress, asked, request)
        async with self._connections.client(tls=self._is_tls) as client:
            return await self._exchange_over(client, url, progress, asked, request)

    async def _exchange_over(
        self, client: Any, url: Any, progress: Progress, asked: SentRequest, request: Mapping[str, Any]
    ) -> tuple[AnyResponse, bytes, float]:
        headers = {**request.get("headers", {}), **self._headers}
        built = client.build_request(
            asked.method,
            url,
            **{**request, "headers": headers},
            timeout=self._step_limits,
            extensions={"trace": progress.trace},
        )
        built.url = self._unlogged(url)
        progress.before = sys.exc_info()[1]
        progress.started = started = time.perf_counter()
        try:
            response = await client.send(built, stream=True, follow_redirects=False)
            progress.phase = Phase.READING
            try:
                body = await self._read_body(response, progress)
            finally:
                await response.aclose()
        except Exception as error:
            failure = self._failure(error, progress, time.perf_counter() - started, asked)
            if failure is None:
                raise
            raise failure from error
        except asyncio.CancelledError:
            await progress.cut_short()
            raise
        return response, body, time.perf_counter() - started

    async def _read_body(self, response: AnyResponse, progress: Progress) -> bytes:  # noqa: ARG002 - for streams
        """The body, decompressed; cut off soon after the limit."""
        succeeded = response.is_success
        limit = self._max_reply_bytes if succeeded else LOOKED_AT_BYTES
        body = bytearray()
        with TimeLimit(math.inf if succeeded else LOOKED_AT_SECONDS):
            try:
                async for chunk in response.aiter_bytes():
                    body += chunk
                    if len(body) > limit:
                        break
            except self._library.RequestError:
                if succeeded:
                    raise  # otherwise the status is the better reason
        return bytes(body)

    def _check(self, response: AnyResponse, body: bytes, asked: SentRequest, size_bytes: int | None = None) -> None:
        """Raise for a bad status, and for a body above the limit; *body* may be only its start."""
        if not response.is_success:
            raise self._wrong_status(response, decoded(body[:LOOKED_AT_BYTES], response.encoding), asked)
        if (len(body) if size_bytes is None else size_bytes) > self._max_reply_bytes:
            found = f"the reply is larger than {self._max_reply_bytes:,} bytes"
            raise self.unusable(response, body, ReplyMismatch(found, "Return fewer or shorter contexts."))

    def value(self, response: AnyResponse, body: bytes) -> Any:
        """The JSON value of a checked body."""
        try:
            return parse_json(body, response.headers.get("content-type", ""))
        except ReplyMismatch as mismatch:
            raise self.unusable(response, body, mismatch) from None

    def unusable(
        self,
        response: AnyResponse,
        body: bytes,
        mismatch: ReplyMismatch,
        *,
        error_type: type[EndpointReplyError] = EndpointReplyError,
    ) -> EndpointError:
        """The error of a reply that does not have the expected form."""
        text = decoded(body[:LOOKED_AT_BYTES], response.encoding)
        return unusable_reply(self._address, response.status_code, mismatch, text, error_type=error_type)

    def _wrong_status(self, response: AnyResponse, body: str, asked: SentRequest) -> EndpointStatusError:
        return wrong_status(
            self._address,
            response.status_code,
            response.reason_phrase,
            response.headers,
            body,
            asked=asked,
            to_do=self._to_do,
        )

    def _failure(self, error: Any, progress: Progress, seconds: float, asked: SentRequest) -> EndpointError | None:
        """The endpoint's failure behind an exception; None for a bug of this package."""
        library, address = self._library, self._address
        if isinstance(error, library.TimeoutException):
            return self._failure_of_time(error, progress, seconds)
        if isinstance(error, library.ProxyError):
            return refused_by_proxy(address, error)
        if isinstance(error, library.DecodingError):
            found = "the reply's body is not compressed as its Content-Encoding says"
            mismatch = ReplyMismatch(found, "Check what compresses it: the endpoint, or a proxy before it.")
            return unusable_reply(address, 200, mismatch, "")
        if isinstance(error, library.HTTPStatusError):  # an event hook called raise_for_status()
            return self._wrong_status(error.response, "", asked)
        # The library does not wrap all TLS errors, such as a missing client certificate.
        if isinstance(error, (library.TransportError, ssl.SSLError)):
            phase = Phase.CONNECTING if isinstance(error, library.ConnectError) else progress.phase
            return unreachable(address, error, phase, progress.before)
        is_of_user = self._http is not None if self._app is None else isinstance(error, AppFailure)
        return raised_inside(address, error) if is_of_user else None

    def _failure_of_time(self, error: Any, progress: Progress, seconds: float) -> EndpointTimeout:
        if isinstance(error, self._library.ConnectTimeout):
            return timed_out(self._address, self._timeout_seconds, Phase.CONNECTING)
        # The user's own transport may have other limits.
        return timed_out(self._address, round(seconds, 1), progress.phase)


def decoded(body: bytes, encoding: str | None) -> str:
    """The body's text; bytes that cannot be decoded are replaced."""
    try:
        return body.decode(encoding or "utf-8", "replace")
    except (LookupError, ValueError):  # an unknown charset, or a codec that is not for text, such as hex
        return body.decode("utf-8", "replace")
