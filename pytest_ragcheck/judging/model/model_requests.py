"""Posts JSON to one path of an OpenAI-compatible server, and reads the JSON of its reply."""

from __future__ import annotations

import asyncio
import json
import ssl
import threading
from collections.abc import Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit, urlunsplit

from pytest_ragcheck.concurrency.limiter import TimeLimit
from pytest_ragcheck.concurrency.tasks import in_thread
from pytest_ragcheck.errors import UsageError
from pytest_ragcheck.judging.model.completion import OtherContent, Refused, streamed
from pytest_ragcheck.judging.model.server_address import is_http, origin
from pytest_ragcheck.rag.http.connections import Connections, Progress, http_library, unlogged
from pytest_ragcheck.rag.http.route import decoded, unasked_encoding
from pytest_ragcheck.redaction import shown_url

if TYPE_CHECKING:
    from openai import AsyncOpenAI

    from pytest_ragcheck.rag.http.connections import AnyClient, AnyResponse

LARGEST_REPLY_BYTES = 20_000_000
"""After decompression. Enough for hundreds of the longest embeddings, or a thousand verdicts."""

_STAYING_POST = frozenset({307, 308})
"""Redirects that keep the method; they are followed on the same server. Others turn the request into a GET."""

_MOST_REDIRECTS = 5

_NO_TIMEOUT: dict[str, float | None] = dict.fromkeys(("connect", "read", "write", "pool"))
"""No time limit of the library's, because this module limits the whole exchange."""

_ENCODER = json.JSONEncoder(ensure_ascii=False)
_OF_JSON = {"accept": "application/json", "content-type": "application/json"}

_LONGEST_RETRY_WAIT_SECONDS = 120.0
"""The longest Retry-After that the SDK honours."""


class NoConnection(Exception):
    """There was no connection, as a refusal *by_proxy*, or it broke; the cause has the details."""

    def __init__(self, *, by_proxy: bool = False) -> None:
        super().__init__()
        self.by_proxy = by_proxy


class HttpRequests:
    """
    The requests to a model's server over HTTP, without retries, with bodies in the form of OpenAI's API.

    The `openai` package could make these requests, but its import takes 0.4 s of CPU, and each request another half a
    millisecond. It is used for a caller's own client only. Redirects count within the time limit.
    """

    def __init__(self, base_url: str, path: str, *, headers: Mapping[str, str], timeout_seconds: float) -> None:
        base = urlsplit(base_url)
        self._url = urlunsplit(base._replace(path=base.path.rstrip("/") + path, fragment=""))
        self._is_tls = base.scheme == "https"
        self._headers = _OF_JSON | dict(headers)
        self._timeout_seconds = timeout_seconds
        self._merged_headers: Any = None
        """The headers and the client's; None before the first request."""

        self._unlogged_url: Any = None
        self._connections: Connections | None = None
        self._connecting = threading.Lock()

    async def aclose(self) -> None:
        connections, self._connections = self._connections, None
        if connections is not None:
            await connections.aclose()

    async def post(self, body: Mapping[str, Any]) -> Any:
        """The JSON value; raises `Refused`, `NoConnection`, `OtherContent`, or for its time `TimeoutError`."""
        connections = self._connections
        if connections is None:
            # In a thread if certificates have to be read, which would block the loop.
            connections = await in_thread(self._connect) if self._is_tls else self._connect()
        library: Any = http_library()
        try:
            with TimeLimit(self._timeout_seconds):
                response, reply = await self._exchange(connections, library, sendable(body))
                if not response.is_success:
                    raise Refused(response.status_code, _error_body(response, reply), response.headers)
                return _value(response, reply)
        except (library.RequestError, library.InvalidURL, ssl.SSLError, UsageError) as error:
            raise NoConnection(by_proxy=isinstance(error, library.ProxyError)) from error
        raise TimeoutError

    async def _exchange(self, connections: Connections, library: Any, content: bytes) -> tuple[AnyResponse, bytes]:
        progress = Progress()
        extensions: dict[str, Any] = {"timeout": _NO_TIMEOUT}
        if self._is_tls:
            extensions["trace"] = progress.trace  # costs 5 % of a request's CPU, and only TLS needs it
        url = self._url
        request: Any = None
        left = _MOST_REDIRECTS
        while True:
            async with connections.client(tls=url.startswith("https:")) as client:
                if request is None:
                    request = self._request(client, library, content, extensions)
                try:
                    response = await client.send(request, stream=True, follow_redirects=False)
                except asyncio.CancelledError:
                    await progress.cut_short()
                    raise
                try:
                    body = await _body(response, library)
                finally:
                    await response.aclose()
            further = response.next_request if response.status_code in _STAYING_POST else None
            if further is None or not left or not _same_server(str(request.url), str(further.url)):
                return response, body
            left -= 1
            request, url = further, str(further.url)
            request.url = unlogged(library, shown_url(url))(url)

    def _request(self, client: AnyClient, library: Any, content: bytes, extensions: dict[str, Any]) -> Any:
        # Like `client.build_request`, without merging headers and parsing the URL each time, which takes 0.05 ms.
        if self._merged_headers is None:
            self._merged_headers = library.Headers(client.headers)
            self._merged_headers.update(self._headers)
            self._unlogged_url = unlogged(library, shown_url(self._url))(self._url)
        url, headers = self._unlogged_url, self._merged_headers
        request = library.Request("POST", url, content=content, headers=headers, extensions=extensions)
        request.url = url  # the library has copied it to a URL class of its own
        return request

    def _connect(self) -> Connections:
        with self._connecting:
            if self._connections is None:
                try:
                    self._connections = Connections(http_library(), tls=self._is_tls)
                except UsageError as error:
                    raise NoConnection from error
            return self._connections


def _same_server(url: str, target: str) -> bool:
    # True if the redirect stays on its server; another host must not get the prompt, nor the key.
    if not is_http(target):
        return False
    here, there = urlsplit(url), urlsplit(target)
    upgraded = here.hostname == there.hostname and (here.scheme, there.scheme) == ("http", "https")
    return upgraded or origin(url) == origin(target)


def sendable(body: Mapping[str, Any]) -> bytes:
    """The body as JSON in UTF-8, with a question mark for each lone surrogate."""
    return _ENCODER.encode(body).encode("utf-8", "replace")


async def _body(response: AnyResponse, library: Any) -> bytes:
    # For an unsuccessful status the part that could be read.
    status, body = response.status_code, bytearray()
    try:
        async for chunk in response.aiter_bytes():
            body += chunk
            if len(body) > LARGEST_REPLY_BYTES:
                raise OtherContent(f"more than {LARGEST_REPLY_BYTES:,} bytes", status=status)
    except library.DecodingError as error:
        if response.is_success:
            what = "a body that is not compressed as its Content-Encoding says"
            raise OtherContent(what, status=status) from error
    return bytes(body)


def _value(response: AnyResponse, body: bytes) -> Any:
    # The JSON value of the body, whatever its content type.
    with suppress(ValueError, RecursionError):
        return json.loads(body)
    status = response.status_code
    if not body.strip():
        raise OtherContent("nothing", status=status)
    text = decoded(body, response.encoding)
    if (completion := streamed(text)) is not None:
        return completion
    if encoding := unasked_encoding(response):
        raise OtherContent(f"a body with the unrequested Content-Encoding {encoding[:40]!r}", status=status)
    is_json = "json" in response.headers.get("content-type", "").lower()
    raise OtherContent("a body that is not JSON" if is_json else "text", sent=text, status=status)


def _error_body(response: AnyResponse, body: bytes) -> Any:
    try:
        return json.loads(body)
    except (ValueError, RecursionError):
        return decoded(body, response.encoding)


class SdkRequests:
    """
    Requests chat completions through an `AsyncOpenAI`, or a wrapper of one, in place of `HttpRequests`.

    The retries of the client add to the time limit.
    """

    def __init__(self, client: AsyncOpenAI, *, timeout_seconds: float) -> None:
        self._client: Any = client
        repeats = int(getattr(client, "max_retries", 0))
        # The SDK limits each read, so a server that drips bytes would never time out.
        self._limit_seconds = timeout_seconds + repeats * (timeout_seconds + _LONGEST_RETRY_WAIT_SECONDS)

    async def aclose(self) -> None:
        """Does nothing, because the client belongs to the caller."""

    async def post(self, body: Mapping[str, Any]) -> Any:
        """Returns the reply as an object of the package, or its JSON value; raises the errors of `HttpRequests`."""
        import openai

        parameters = json.loads(sendable(body))
        try:
            with TimeLimit(self._limit_seconds):
                reply = await self._client.chat.completions.create(**parameters)
                # The package returns a body of another content type as text.
                return (streamed(reply) or reply) if isinstance(reply, str) else reply
            raise TimeoutError
        except openai.APITimeoutError as error:
            raise TimeoutError from error
        except openai.APIStatusError as error:
            raise Refused(error.status_code, error.body, error.response.headers) from error
        except openai.OpenAIError as error:
            raise NoConnection from error.__cause__ or error
        except (ValueError, RecursionError, OverflowError) as error:  # from the SDK's own reading of the body
            raise OtherContent("a body that is not JSON") from error
