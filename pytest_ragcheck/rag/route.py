"""One exchange over HTTP: a request goes out, and JSON comes back, or an error that says why none did."""

from __future__ import annotations

import math
import ssl
import sys
import time
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import anyio

from pytest_ragcheck.errors import UsageError
from pytest_ragcheck.rag.address import read_address
from pytest_ragcheck.rag.connections import Connections, http_library, library_of, unlogged
from pytest_ragcheck.rag.failures import (
    raised_inside,
    refused_by_proxy,
    timed_out,
    unreachable,
    unusable_reply,
    wrong_status,
)
from pytest_ragcheck.rag.json_body import ReplyMismatch, parse_json
from pytest_ragcheck.rag.progress import Phase, Progress

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pytest_ragcheck.errors import EndpointError, EndpointStatusError, EndpointTimeout
    from pytest_ragcheck.rag.connections import AnyClient, AnyResponse

LOOKED_AT_BYTES = 16_384
"""As much of a body that is of no use is read for the text of its error."""

LOOKED_AT_SECONDS = 1.0
"""And no longer than this."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """A request as texts about its failure name it."""

    method: str
    shown: str
    """What has to be taken, such as `POST with the JSON {...}`."""


class HttpRoute:
    """
    A URL that is asked over HTTP.

    Args:
        url: Where requests are sent.
        headers: Sent with every request.
        timeout_seconds: Limit of a whole exchange, from connecting to the last byte.
        max_reply_bytes: Limit of a reply's body, decompressed.
        http: A user's own client of httpx or httpx2; it is used as it is.
        close_http: Whether `aclose` closes it too.
        beside: Another route, whose connections this one shares.
        to_do: By status what to do in place of the usual.

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
        close_http: bool = False,
        beside: HttpRoute | None = None,
        to_do: Mapping[int, str] = MappingProxyType({}),
    ) -> None:
        self._library = http_library() if http is None else library_of(http)
        self._address = read_address(url, headers, also_secret={} if http is None else http.headers)
        self._http = http
        self._close_http = close_http
        self._connections: Connections | None = None
        if http is None:
            self._connections = Connections(self._library) if beside is None else beside._connections
        self._timeout_seconds = timeout_seconds
        self._max_reply_bytes = max_reply_bytes
        self._to_do = to_do
        self._headers = {"accept": "application/json"}
        self._headers |= {name.lower(): value for name, value in headers.items()}
        # The limit is on the whole exchange, not on its steps. But a TLS handshake that is cancelled from outside
        # leaves its socket open for the garbage collector to complain of: so connecting is given up a little sooner.
        self._step_limits = self._library.Timeout(None, connect=timeout_seconds - min(1, timeout_seconds / 2))
        try:
            self._url = self._library.URL(url)
        except self._library.InvalidURL as error:
            raise UsageError(f"the endpoint's URL {self.name!r} cannot be used: {error}.") from None
        self._unlogged = unlogged(self._library, self.name)

    @property
    def name(self) -> str:
        """The URL as texts may show it."""
        return self._address.shown

    async def aclose(self) -> None:
        """Closes the connections that the running loop has made; a user's own client where that was asked for."""
        if self._connections is not None:
            await self._connections.aclose()
        elif self._http is not None and self._close_http:
            await self._http.aclose()

    async def fetch(self, asked: Asked, **request: Any) -> tuple[AnyResponse, bytes]:
        """
        The reply to one request, and its body, which is cut off soon after the limit.

        Args:
            asked: The request as texts name it.
            request: What the library's `build_request` takes beside method and URL, such as `content=` or `files=`.

        Raises:
            EndpointError: No whole reply came, or one with a status outside 200 to 299.
        """
        progress = Progress()
        with anyio.move_on_after(self._timeout_seconds):
            if self._connections is None:
                response, body, _ = await self._exchange(self._http, self._url, progress, asked, request)
            else:
                async with self._connections.client() as client:
                    response, body, _ = await self._exchange(client, self._url, progress, asked, request)
            self._check(response, body, asked)
            return response, body
        raise timed_out(self._address, self._timeout_seconds, progress.phase)

    async def _exchange(
        self, client: Any, url: Any, progress: Progress, asked: Asked, request: Mapping[str, Any]
    ) -> tuple[AnyResponse, bytes, float]:
        """The reply, its body and how many seconds both took."""
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
        started = time.perf_counter()
        try:
            response = await client.send(built, stream=True, follow_redirects=False)
            progress.phase = Phase.READING
            try:
                body = await self._read_body(response)
            finally:
                await response.aclose()
        except Exception as error:
            failure = self._failure(error, progress, time.perf_counter() - started, asked)
            if failure is None:
                raise
            raise failure from error
        except anyio.get_cancelled_exc_class():
            await progress.cut_short()
            raise
        return response, body, time.perf_counter() - started

    async def _read_body(self, response: AnyResponse) -> bytes:
        """The body, decompressed; cut off soon after the limit."""
        succeeded = response.is_success
        limit = self._max_reply_bytes if succeeded else LOOKED_AT_BYTES
        body = bytearray()
        with anyio.move_on_after(math.inf if succeeded else LOOKED_AT_SECONDS):
            try:
                async for chunk in response.aiter_bytes():
                    body += chunk
                    if len(body) > limit:
                        break
            except self._library.RequestError:
                if succeeded:
                    raise  # else the status says more than what became of the body
        return bytes(body)

    def _check(self, response: AnyResponse, body: bytes, asked: Asked) -> None:
        if not response.is_success:
            raise self._wrong_status(response, decoded(body[:LOOKED_AT_BYTES], response.encoding), asked)
        if len(body) > self._max_reply_bytes:
            found = f"the reply is larger than {self._max_reply_bytes:,} bytes"
            raise self.unusable(response, body, ReplyMismatch(found, "Return fewer or shorter contexts."))

    def value(self, response: AnyResponse, body: bytes) -> Any:
        """The JSON value of a body that was checked."""
        try:
            return parse_json(body, response.headers.get("content-type", ""))
        except ReplyMismatch as mismatch:
            raise self.unusable(response, body, mismatch) from None

    def unusable(self, response: AnyResponse, body: bytes, mismatch: ReplyMismatch) -> EndpointError:
        """The error of a reply that is JSON, and not what was to come."""
        text = decoded(body[:LOOKED_AT_BYTES], response.encoding)
        return unusable_reply(self._address, response.status_code, mismatch, text)

    def _wrong_status(self, response: AnyResponse, body: str, asked: Asked) -> EndpointStatusError:
        return wrong_status(
            self._address,
            response.status_code,
            response.reason_phrase,
            response.headers,
            body,
            asked=asked,
            to_do=self._to_do,
        )

    def _failure(self, error: Any, progress: Progress, seconds: float, asked: Asked) -> EndpointError | None:
        """What the error says of the endpoint; None for a mistake of ours."""
        library, address = self._library, self._address
        if isinstance(error, library.TimeoutException):
            return self._failure_of_time(error, progress, seconds)
        if isinstance(error, library.ProxyError):
            return refused_by_proxy(address, error)
        if isinstance(error, library.DecodingError):
            found = "the reply's body is not compressed as its Content-Encoding says"
            mismatch = ReplyMismatch(found, "Check what compresses it: the endpoint, or a proxy before it.")
            return unusable_reply(address, 200, mismatch, "")
        if isinstance(error, library.HTTPStatusError):  # of an event hook that calls raise_for_status()
            return self._wrong_status(error.response, "", asked)
        # Some ends of a TLS connection come through as they are, such as a client certificate asked for in vain.
        if isinstance(error, (library.TransportError, ssl.SSLError)):
            phase = Phase.CONNECTING if isinstance(error, library.ConnectError) else progress.phase
            return unreachable(address, error, phase, progress.before)
        return None if self._http is None else raised_inside(address, error)

    def _failure_of_time(self, error: Any, progress: Progress, seconds: float) -> EndpointTimeout:
        if isinstance(error, self._library.ConnectTimeout):
            return timed_out(self._address, self._timeout_seconds, Phase.CONNECTING)
        # A transport of the user's own may have limits of its own.
        return timed_out(self._address, round(seconds, 1), progress.phase)


def decoded(body: bytes, encoding: str | None) -> str:
    """The body's text, as far as it can be read."""
    try:
        return body.decode(encoding or "utf-8", "replace")
    except (LookupError, ValueError):  # Python's codecs that are none of text, such as charset=hex
        return body.decode("utf-8", "replace")
