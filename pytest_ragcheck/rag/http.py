"""One question over HTTP, and what comes back."""

from __future__ import annotations

import math
import ssl
import sys
import time
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import anyio

from pytest_ragcheck.errors import EndpointError, UsageError
from pytest_ragcheck.rag.address import read_address
from pytest_ragcheck.rag.connections import Connections, http_library, library_of
from pytest_ragcheck.rag.failures import (
    Phase,
    raised_inside,
    refused_by_proxy,
    timed_out,
    unreachable,
    unusable_reply,
    wrong_status,
)
from pytest_ragcheck.rag.json_body import ReplyMismatch, parse_json
from pytest_ragcheck.rag.shape import read_shape

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pytest_ragcheck.errors import EndpointStatusError, EndpointTimeout
    from pytest_ragcheck.rag.answer import RagAnswer
    from pytest_ragcheck.rag.connections import AnyClient, AnyResponse
    from pytest_ragcheck.rag.shape import Shape

LOOKED_AT_BYTES = 16_384
"""As much of a body that is of no use is read for the text of its error."""

LOOKED_AT_SECONDS = 1.0
"""And no longer than this."""


class HttpEndpoint:
    """
    An endpoint that is asked over HTTP.

    Args:
        url: Where questions are sent.
        headers: Sent with every question.
        timeout_seconds: Limit of a whole exchange, from connecting to the last byte.
        max_reply_bytes: Limit of a reply's body, decompressed.
        http: A user's own client of httpx or httpx2; it is used as it is.
        close_http: Whether `aclose` closes it too.
        shape: How it is asked, and how its reply is read; as in the contract if None.

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
        shape: Shape | None = None,
    ) -> None:
        self._shape = read_shape() if shape is None else shape
        self._library = http_library() if http is None else library_of(http)
        self._address = read_address(url, headers, also_secret={} if http is None else http.headers)
        self._http = http
        self._close_http = close_http
        self._connections = Connections(self._library) if http is None else None
        self._timeout_seconds = timeout_seconds
        self._max_reply_bytes = max_reply_bytes
        self._headers = {"accept": "application/json", **self._shape.request.headers}
        self._headers |= {name.lower(): value for name, value in headers.items()}
        # The limit is on the whole exchange, not on its steps. But a TLS handshake that is cancelled from outside
        # leaves its socket open for the garbage collector to complain of: so connecting is given up a little sooner.
        self._step_limits = self._library.Timeout(None, connect=timeout_seconds - min(1, timeout_seconds / 2))
        try:
            self._url = self._library.URL(url)
        except self._library.InvalidURL as error:
            raise UsageError(f"the endpoint's URL {self.name!r} cannot be used: {error}.") from None
        # The library logs every request with the text of its URL.
        text_only = {"__str__": lambda _: self.name, "__repr__": lambda _: f"URL({self.name!r})"}
        self._unlogged_type: Any = type("URL", (self._library.URL,), text_only)

    @property
    def name(self) -> str:
        """The URL as texts may show it."""
        return self._address.shown

    async def ask(self, query: str, top_k: int) -> RagAnswer:
        """The endpoint's answer; raises an `EndpointError` where there is none."""
        progress = _Progress()
        with anyio.move_on_after(self._timeout_seconds):
            return await self._ask(self._shape.request.fill(query, top_k), progress)
        raise timed_out(self._address, self._timeout_seconds, progress.phase)

    async def aclose(self) -> None:
        """Closes the connections that the running loop has made; a user's own client where that was asked for."""
        if self._connections is not None:
            await self._connections.aclose()
        elif self._http is not None and self._close_http:
            await self._http.aclose()

    async def _ask(self, question: Any, progress: _Progress) -> RagAnswer:
        if self._connections is None:
            return await self._ask_over(self._http, question, progress)
        async with self._connections.client() as client:
            return await self._ask_over(client, question, progress)

    async def _ask_over(self, client: Any, question: Any, progress: _Progress) -> RagAnswer:
        template = self._shape.request
        url = self._url_for(question)
        request = client.build_request(
            template.method,
            url,
            content=template.content(question),
            headers=self._headers,
            timeout=self._step_limits,
            extensions={"trace": progress.trace},
        )
        request.url = self._unlogged_type(url)
        progress.before = sys.exc_info()[1]
        started = time.perf_counter()
        try:
            response = await client.send(request, stream=True, follow_redirects=False)
            progress.phase = Phase.READING
            try:
                body = await self._read_body(response)
            finally:
                await response.aclose()
        except Exception as error:
            failure = self._failure(error, progress, time.perf_counter() - started)
            if failure is None:
                raise
            raise failure from error
        return self._read(response, body, time.perf_counter() - started)

    def _url_for(self, question: Any) -> Any:
        url = self._shape.request.url(self._address.url, question)
        if url == self._address.url:
            return self._url
        try:
            return self._library.URL(url)
        except self._library.InvalidURL as error:
            raise EndpointError(
                f"{self.name}: the question makes no URL ({error})\n"
                "Ask by POST: set rag_request to JSON, if the endpoint takes it.",
                url=self.name,
            ) from None

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

    def _read(self, response: AnyResponse, body: bytes, latency_seconds: float) -> RagAnswer:
        status = response.status_code
        text = _decoded(body[:LOOKED_AT_BYTES], response.encoding)
        if not response.is_success:
            raise self._wrong_status(response, text)
        if len(body) > self._max_reply_bytes:
            found = f"the reply is larger than {self._max_reply_bytes:,} bytes"
            mismatch = ReplyMismatch(found, "Return fewer or shorter contexts.")
            raise unusable_reply(self._address, status, mismatch, text)
        try:
            reply = parse_json(body, response.headers.get("content-type", ""))
        except ReplyMismatch as mismatch:
            raise unusable_reply(self._address, status, mismatch, text) from None
        try:
            answer = self._shape.reading.read(reply)
        except ReplyMismatch as mismatch:
            from pytest_ragcheck.rag.variants import with_the_setting  # noqa: PLC0415 - few replies need it

            mismatch = with_the_setting(mismatch, reply, self._shape)
            raise unusable_reply(self._address, status, mismatch, text) from None
        return replace(answer, latency_seconds=latency_seconds)

    def _wrong_status(self, response: AnyResponse, body: str) -> EndpointStatusError:
        asked = self._shape.request
        return wrong_status(
            self._address, response.status_code, response.reason_phrase, response.headers, body, asked=asked
        )

    def _failure(self, error: Any, progress: _Progress, seconds: float) -> EndpointError | None:
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
            return self._wrong_status(error.response, "")
        # Some ends of a TLS connection come through as they are, such as a client certificate asked for in vain.
        if isinstance(error, (library.TransportError, ssl.SSLError)):
            phase = Phase.CONNECTING if isinstance(error, library.ConnectError) else progress.phase
            return unreachable(address, error, phase, progress.before)
        return None if self._http is None else raised_inside(address, error)

    def _failure_of_time(self, error: Any, progress: _Progress, seconds: float) -> EndpointTimeout:
        if isinstance(error, self._library.ConnectTimeout):
            return timed_out(self._address, self._timeout_seconds, Phase.CONNECTING)
        # A transport of the user's own may have limits of its own.
        return timed_out(self._address, round(seconds, 1), progress.phase)


class _Progress:
    """Follows an exchange through the events that the library's transport reports."""

    def __init__(self) -> None:
        self.phase = Phase.WAITING  # an app that is called in this process reports no events, and connects to nothing
        self.before: BaseException | None = None
        """What the caller was already handling when the question was sent."""

    async def trace(self, event: str, _: Mapping[str, Any]) -> None:
        if event.endswith((".connect_tcp.started", ".start_tls.started")):
            self.phase = Phase.CONNECTING
        elif event.endswith(".send_request_headers.started"):
            self.phase = Phase.WAITING


def _decoded(body: bytes, encoding: str | None) -> str:
    try:
        return body.decode(encoding or "utf-8", "replace")
    except (LookupError, ValueError):  # Python's codecs that are none of text, such as charset=hex
        return body.decode("utf-8", "replace")
