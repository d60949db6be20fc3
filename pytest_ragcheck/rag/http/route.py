"""Sends a request over HTTP and returns the reply, or raises the reason why there is none."""

from __future__ import annotations

import asyncio
import ssl
import sys
import time
from collections import deque
from collections.abc import Mapping
from copy import copy
from dataclasses import replace
from http import HTTPStatus
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from pytest_ragcheck.concurrency.limiter import TimeLimit
from pytest_ragcheck.errors import EndpointError, EndpointReplyError, EndpointStreamError, UsageError
from pytest_ragcheck.rag.body.json_body import ReplyMismatch, parse_json
from pytest_ragcheck.rag.http.connections import Connections, Phase, http_library, library_of, unlogged
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
from pytest_ragcheck.rag.http.http_exchange import ERROR_BODY_BYTES, HttpExchange
from pytest_ragcheck.redaction import cookie_secrets, header_secrets

if TYPE_CHECKING:
    from pytest_ragcheck.rag.http.asgi_app import AsgiApp
    from pytest_ragcheck.rag.http.connections import AnyClient, AnyResponse


class HttpRoute:
    """A URL that takes requests over HTTP; the arguments, and the errors about them, are those of `RagClient`."""

    def __init__(
        self,
        url: str,
        *,
        headers: Mapping[str, str],
        timeout_seconds: float,
        max_reply_bytes: int = 10_000_000,
        http: AnyClient | None = None,
        app: AsgiApp | None = None,
        close_http: bool = False,
    ) -> None:
        self._library = http_library() if http is None else library_of(http)
        self._http = http if app is None else app.client
        self._app = app
        self._close_http = close_http
        self._connections: Connections | None = None
        self._timeout_seconds = timeout_seconds
        self._max_reply_bytes = max_reply_bytes
        # A TLS handshake that is cancelled from outside leaves its socket open, so connecting ends a little earlier.
        self._step_limits = self._library.Timeout(None, connect=timeout_seconds - min(1, timeout_seconds / 2))
        self._to_do: Mapping[int, str] = {}
        self.sent_secrets = deque[str](maxlen=50)
        """The last secrets that the user's own client added to requests, by its auth and its cookies."""

        self._set_target(url, headers)

    def at(self, url: str, *, to_do: Mapping[int, str] = MappingProxyType({})) -> HttpRoute:
        """The route of another URL over the same connections; remedies in *to_do* replace the usual ones, by status."""
        route = copy(self)
        route._to_do = to_do
        route._set_target(url, self._headers)
        return route

    def with_headers(self, further: Mapping[str, str]) -> HttpRoute:
        """The same route with further headers, which replace others of their names."""
        route = copy(self)
        route._set_target(self.url, {**self._headers, **further})
        return route

    def _set_target(self, url: str, headers: Mapping[str, str]) -> None:
        self._headers = headers
        self._address = read_address(url, headers, also_secret=getattr(self._http, "headers", None))
        # The library resolves redirects against this text, so it is a URL for an app too.
        self._unlogged = unlogged(self._library, self._address.shown)
        if self._app is not None:
            self._address = replace(self._address, shown=self._app.shown(url))
        self._is_tls = not url.lower().startswith("http:")
        if self._http is None:
            self._connections = self._connections or Connections(self._library, tls=self._is_tls)
            if self._is_tls:
                self._connections.load_certificates()
        self._sent_headers = {"accept": "application/json", **{name.lower(): headers[name] for name in headers}}
        self._merged_headers: dict[str, Any] = {}
        """The client's headers with those of the route, by the content type of the request."""

        try:
            self._url = self._library.URL(url)
        except self._library.InvalidURL as error:
            raise UsageError(f"the endpoint's URL {self.name!r} cannot be used: {error}.") from None

    @property
    def url(self) -> str:
        return self._address.url

    @property
    def name(self) -> str:
        return self._address.shown

    async def aclose(self) -> None:
        if self._connections is not None:
            await self._connections.aclose()
        elif self._http is not None and self._close_http:
            await self._http.aclose()

    async def fetch(self, exchange: HttpExchange, *, url: str | None = None, **request: Any) -> HttpExchange:
        """
        The exchange, after its reply.

        The *url* is that of the route with the parameters of a question. The *request* has further arguments of the
        library's `build_request`, such as `content=`.

        Raises:
            EndpointError: There is no complete reply, or its status is outside 200 to 299.
        """
        target = self._url if url is None else self._target(url)
        if self._app is not None:
            await self._app.started()  # the startup has a time limit of its own
        with TimeLimit(self._timeout_seconds):
            await self._exchange(exchange, target, request)
            self._check(exchange)
            return exchange
        raise timed_out(self._address, self._timeout_seconds, exchange.phase)

    def _target(self, url: str) -> Any:
        try:
            return self._library.URL(url)
        except self._library.InvalidURL as error:
            raise EndpointError(
                f"{self.name}: no URL can be made from the question ({error})\n"
                "Ask by POST: set rag_request to JSON, if the endpoint takes it.",
                url=self.name,
            ) from None

    async def _exchange(self, exchange: HttpExchange, url: Any, request: Mapping[str, Any]) -> None:
        if self._app is not None:
            await self._app.run(self._exchange_over, self._http, exchange, url, request)
        elif self._connections is None:
            await self._exchange_over(self._http, exchange, url, request)
        else:
            async with self._connections.client(tls=self._is_tls) as client:
                await self._exchange_over(client, exchange, url, request)

    async def _exchange_over(self, client: Any, exchange: HttpExchange, url: Any, request: Mapping[str, Any]) -> None:
        built = self._request(client, exchange, url, request)
        built.url = self._unlogged(url)
        # The auth of a user's client would replace the token of an identity.
        auth = {"auth": None} if "authorization" in self._sent_headers else {}
        exchange.before = sys.exc_info()[1]
        exchange.started = time.perf_counter()
        try:
            response = await client.send(built, stream=True, follow_redirects=False, **auth)
            if self._http is not None:
                self.sent_secrets += cookie_secrets([cookie.value for cookie in client.cookies.jar])
                for header in response.request.headers.items():
                    self.sent_secrets += header_secrets(*header)
            await exchange.read(response, self._library, self._max_reply_bytes)
        except Exception as error:
            exchange.seconds = time.perf_counter() - exchange.started
            failure = self._failure(error, exchange)
            if failure is None:
                raise
            raise failure from error
        except asyncio.CancelledError:
            await exchange.cut_short()
            raise

    def _request(self, client: Any, exchange: HttpExchange, url: Any, request: Mapping[str, Any]) -> Any:
        # The only header of a request itself is its content type.
        given = request.get("headers", {})
        headers = {**given, **self._sent_headers}
        extensions: dict[str, Any] = {"trace": exchange.trace}
        if self._http is not None:
            request = {**request, "headers": headers, "timeout": self._step_limits, "extensions": extensions}
            return client.build_request(exchange.method, url, **request)
        # `build_request` would merge the same headers for each request, which takes 0.04 ms.
        content_type = given.get("content-type", "")
        if content_type not in self._merged_headers:
            merged = self._merged_headers[content_type] = self._library.Headers(client.headers)
            merged.update(headers)
        extensions["timeout"] = self._step_limits.as_dict()
        request = {**request, "headers": self._merged_headers[content_type], "extensions": extensions}
        return self._library.Request(exchange.method, url, **request)

    def _check(self, exchange: HttpExchange) -> None:
        if not exchange.response.is_success:
            raise wrong_status(self._address, exchange, exchange.response, _start(exchange), to_do=self._to_do)
        if exchange.size_bytes > self._max_reply_bytes:
            found = f"the reply is larger than {self._max_reply_bytes:,} bytes"
            raise self.unusable(exchange, ReplyMismatch(found, "Return fewer or shorter contexts."))

    def value(self, exchange: HttpExchange) -> Any:
        response = exchange.response
        try:
            return parse_json(
                exchange.body, response.headers.get("content-type", ""), compressed_as=unasked_encoding(response)
            )
        except ReplyMismatch as mismatch:
            raise self.unusable(exchange, mismatch) from None

    def unusable(
        self, exchange: HttpExchange, mismatch: ReplyMismatch, kind: type[EndpointReplyError] = EndpointReplyError
    ) -> EndpointError:
        return unusable_reply(self._address, exchange.response.status_code, mismatch, _start(exchange), kind)

    def _failure(self, error: Any, exchange: HttpExchange) -> EndpointError | None:
        # The endpoint's failure behind an exception; None for a bug of this package.
        library, address = self._library, self._address
        if isinstance(error, library.TimeoutException):
            is_ours = isinstance(error, library.ConnectTimeout)
            # The user's own transport may have other limits.
            seconds = self._timeout_seconds if is_ours else round(exchange.seconds, 1)
            return timed_out(address, seconds, Phase.CONNECTING if is_ours else exchange.phase)
        if isinstance(error, library.ProxyError):
            return refused_by_proxy(address, error)
        if isinstance(error, library.DecodingError):
            found = "the reply's body is not compressed as its Content-Encoding says"
            mismatch = ReplyMismatch(found, "Check what compresses it: the endpoint, or a proxy before it.")
            return unusable_reply(address, 200, mismatch, "")
        if isinstance(error, library.HTTPStatusError):  # an event hook called raise_for_status()
            return wrong_status(address, exchange, error.response, "", to_do=self._to_do)
        # The library does not wrap all TLS errors, such as a missing client certificate, nor those of a guard that
        # forbids sockets.
        if isinstance(error, (library.TransportError, ssl.SSLError)) or exchange.phase is Phase.CONNECTING:
            phase = Phase.CONNECTING if isinstance(error, library.ConnectError) else exchange.phase
            failure: EndpointError = unreachable(address, error, phase, exchange.before)
            if exchange.stream is not None and exchange.stream.first_token_seconds:
                # Not transient: a retry would send a session the same turn again.
                failure = EndpointStreamError(str(failure), url=failure.url, status=HTTPStatus.OK, body="")
            return failure
        is_of_user = self._http is not None if self._app is None else isinstance(error, AppFailure)
        return raised_inside(address, error) if is_of_user else None


def _start(exchange: HttpExchange) -> str:
    return decoded(exchange.body[:ERROR_BODY_BYTES], exchange.response.encoding)


def unasked_encoding(response: AnyResponse) -> str:
    """The Content-Encoding of a reply that did not ask for it, so that the body is not decoded; else empty."""
    encoding: str = response.headers.get("content-encoding", "")
    asked = "identity, " + response.request.headers.get("accept-encoding", "").lower()
    return "" if all(each.strip() in asked for each in encoding.lower().split(",")) else encoding


def decoded(body: bytes, encoding: str | None) -> str:
    try:
        return body.decode(encoding or "utf-8", "replace")
    except (LookupError, ValueError):  # an unknown charset, or a codec that is not for text, such as hex
        return body.decode("utf-8", "replace")
