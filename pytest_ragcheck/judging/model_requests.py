"""A JSON body to one path of an OpenAI-compatible server, and the JSON value of what comes back."""

from __future__ import annotations

import json
import ssl
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any, Protocol
from urllib.parse import urlsplit, urlunsplit

import anyio
import anyio.to_thread

from pytest_ragcheck.errors import UsageError
from pytest_ragcheck.judging.completion import OtherContent
from pytest_ragcheck.judging.server_address import is_http
from pytest_ragcheck.rag.connections import Connections, http_library, unlogged
from pytest_ragcheck.rag.progress import Progress
from pytest_ragcheck.rag.route import decoded
from pytest_ragcheck.redaction import shown_url

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pytest_ragcheck.rag.connections import AnyResponse

LARGEST_REPLY_BYTES = 20_000_000
"""Decompressed. Hundreds of embeddings of the longest kind have room in it, and a verdict a thousand times over."""

_STAYING_POST = frozenset({307, 308})
"""Redirects that are followed. After any other the request would go on as a GET, without what it asks."""

_MOST_REDIRECTS = 5

_OF_JSON = {"accept": "application/json", "content-type": "application/json"}


class Refused(Exception):
    """
    The server answered with another status than 200 to 299.

    Args:
        status: The status.
        said: The body: its JSON value, of that what stands under `error` where something does, or its text.
        headers: Of the reply, read whatever the case of a name.
    """

    def __init__(self, status: int, said: Any, headers: Mapping[str, str]) -> None:
        super().__init__(status)
        self.status = status
        self.said = said
        self.headers = headers
        fields = said if isinstance(said, dict) else {}
        self.code = _word(fields.get("code"))
        """OpenAI's word for what is wrong, such as `insufficient_quota`; None where there is none."""

        self.param = _word(fields.get("param"))
        """The parameter that is wrong, such as `temperature`; None where none is named."""


class NoConnection(Exception):
    """
    No connection came about, or it broke; the cause says why.

    Args:
        by_proxy: Whether a proxy made none.
    """

    def __init__(self, *, by_proxy: bool = False) -> None:
        super().__init__()
        self.by_proxy = by_proxy


class ModelRequests(Protocol):
    """
    The requests that are made of a model's server; the body of each is what OpenAI's API has it be.

    Each returns the JSON value of the reply, or an object with members of the same names, and raises `Refused`,
    `NoConnection`, `OtherContent` and, where the whole took too long, `TimeoutError`.
    """

    async def complete(self, body: Mapping[str, Any]) -> Any:
        """Chat completions."""
        ...

    async def embed(self, body: Mapping[str, Any]) -> Any:
        """Embeddings."""
        ...

    async def aclose(self) -> None:
        """Closes the connections that it has opened."""
        ...


class HttpRequests:
    """
    The requests over HTTP, each sent once.

    The `openai` package makes the same requests. It takes 0.4 s of CPU to import and half a millisecond more for each
    request, as much as the HTTP library itself: a client of the caller's is asked through it, and nothing else.

    Args:
        url: The API's base. User and password in it are sent as HTTP's Basic scheme, a query goes with every request.
        headers: Sent with every request, the key among them; a redirect to another host does not take them along.
        timeout_seconds: For one request from its start to the last byte, redirects included, > 0.
    """

    def __init__(self, url: str, *, headers: Mapping[str, str], timeout_seconds: float) -> None:
        self._base = urlsplit(url)
        self._headers = dict(headers)
        self._timeout_seconds = timeout_seconds
        self._connections: Connections | None = None
        self._connecting = anyio.Lock()

    async def complete(self, body: Mapping[str, Any]) -> Any:
        """See `ModelRequests`."""
        return await self._post("/chat/completions", body)

    async def embed(self, body: Mapping[str, Any]) -> Any:
        """See `ModelRequests`."""
        return await self._post("/embeddings", body)

    async def aclose(self) -> None:
        """See `ModelRequests`."""
        connections, self._connections = self._connections, None
        if connections is not None:
            await connections.aclose()

    async def _post(self, path: str, body: Mapping[str, Any]) -> Any:
        url = urlunsplit(self._base._replace(path=self._base.path.rstrip("/") + path, fragment=""))
        connections = self._connections or await self._connect()
        library: Any = http_library()
        try:
            with anyio.fail_after(self._timeout_seconds):
                async with connections.client() as client:
                    response, reply = await self._exchange(client, library, url, sendable(body))
        except (library.RequestError, library.InvalidURL, ssl.SSLError) as error:
            raise NoConnection(by_proxy=isinstance(error, library.ProxyError)) from error
        if not response.is_success:
            raise Refused(response.status_code, _said(response, reply), response.headers)
        return _value(response, reply)

    async def _exchange(self, client: Any, library: Any, url: str, content: bytes) -> tuple[AnyResponse, bytes]:
        """The reply, that to the last of redirects, and its body."""
        progress = Progress()
        request = client.build_request(
            "POST",
            url,
            content=content,
            headers=_OF_JSON | self._headers,
            timeout=None,  # the limit is on the whole
            # A twentieth of a request's CPU, that plain HTTP does without.
            extensions={"trace": progress.trace} if self._base.scheme == "https" else {},
        )
        left = _MOST_REDIRECTS
        while True:
            request.url = unlogged(library, shown_url(str(request.url)))(request.url)
            try:
                response = await client.send(request, stream=True, follow_redirects=False)
            except anyio.get_cancelled_exc_class():
                await progress.cut_short()
                raise
            try:
                body = await _body(response, library)
            finally:
                await response.aclose()
            further = response.next_request if response.status_code in _STAYING_POST else None
            if further is None or not left or not is_http(str(further.url)):
                return response, body
            left -= 1
            if "authorization" not in further.headers:  # the library leaves it behind, but no other
                for name in self._headers:
                    further.headers.pop(name, None)
            request = further

    async def _connect(self) -> Connections:
        async with self._connecting:
            if self._connections is None:
                try:
                    # The certificates of a whole world are read, and the loop has other requests to serve.
                    self._connections = await anyio.to_thread.run_sync(partial(Connections, http_library()))
                except UsageError as error:
                    raise NoConnection from error
            return self._connections


def sendable(body: Mapping[str, Any]) -> bytes:
    """The body as JSON in UTF-8, with a question mark for each lone surrogate, which cannot be sent."""
    return json.dumps(body, ensure_ascii=False).encode("utf-8", "replace")


async def _body(response: AnyResponse, library: Any) -> bytes:
    """The body, decompressed; of a reply without success what can be had, for its status says more."""
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
    """The JSON value of the body, also of one that is sent as something else."""
    with suppress(ValueError, RecursionError):
        return json.loads(body)
    status = response.status_code
    if not body:
        raise OtherContent("nothing", status=status)
    if "json" in response.headers.get("content-type", "").lower():
        raise OtherContent("a body that is not JSON", status=status)
    raise OtherContent("text", sent=decoded(body, response.encoding), status=status)


def _said(response: AnyResponse, body: bytes) -> Any:
    try:
        value = json.loads(body)
    except (ValueError, RecursionError):
        return decoded(body, response.encoding)
    return (value.get("error") or value) if isinstance(value, dict) else value


def _word(value: Any) -> str | None:
    return value if isinstance(value, str) else None
