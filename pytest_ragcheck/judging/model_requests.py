"""A JSON body to one path of an OpenAI-compatible server, and the JSON value of what comes back."""

from __future__ import annotations

import json
import ssl
from functools import partial
from typing import TYPE_CHECKING, Any, Protocol
from urllib.parse import urlsplit, urlunsplit

import anyio
import anyio.to_thread

from pytest_ragcheck.errors import UsageError
from pytest_ragcheck.judging.completion import OtherContent
from pytest_ragcheck.rag.connections import Connections, http_library

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pytest_ragcheck.rag.connections import AnyResponse


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
        self.code: Any = fields.get("code")
        """OpenAI's word for what is wrong, such as `insufficient_quota`; None where there is none."""

        self.param: Any = fields.get("param")
        """The parameter that is wrong, such as `temperature`; None where none is named."""


class NoConnection(Exception):
    """No connection came about, or it broke; the cause says why."""


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
        headers: Sent with every request.
        timeout_seconds: For one request from its start to the last byte, redirects included, > 0.
    """

    def __init__(self, url: str, *, headers: Mapping[str, str], timeout_seconds: float) -> None:
        self._base = urlsplit(url)
        self._headers = {"accept": "application/json", "content-type": "application/json", **headers}
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
        # A lone surrogate cannot be sent.
        content = json.dumps(body, ensure_ascii=False).encode("utf-8", "replace")
        connections = self._connections or await self._connect()
        library: Any = http_library()
        # The limit is on the whole. But a TLS handshake that is cancelled from outside leaves its socket open for the
        # garbage collector to complain of: so connecting is given up a little sooner.
        limits = library.Timeout(None, connect=self._timeout_seconds - min(1, self._timeout_seconds / 2))
        try:
            with anyio.fail_after(self._timeout_seconds):
                async with connections.client() as opened:
                    client: Any = opened  # of one of the two libraries
                    request = client.build_request("POST", url, content=content, headers=self._headers, timeout=limits)
                    response = await client.send(request, follow_redirects=True)
        except library.TimeoutException as error:
            raise TimeoutError from error
        except (library.RequestError, library.InvalidURL, ssl.SSLError) as error:
            raise NoConnection from error
        if not response.is_success:
            raise Refused(response.status_code, _said(response), response.headers)
        return _value(response)

    async def _connect(self) -> Connections:
        async with self._connecting:
            if self._connections is None:
                try:
                    # The certificates of a whole world are read, and the loop has other requests to serve.
                    self._connections = await anyio.to_thread.run_sync(partial(Connections, http_library()))
                except UsageError as error:
                    raise NoConnection from error
            return self._connections


def _value(response: AnyResponse) -> Any:
    """The JSON value of the body, also of one that is sent as something else."""
    try:
        return json.loads(response.content)
    except (ValueError, RecursionError):
        is_json = "json" in response.headers.get("content-type", "").lower()
    raise OtherContent("a body that is not JSON") if is_json else OtherContent("text", sent=response.text)


def _said(response: AnyResponse) -> Any:
    try:
        value = json.loads(response.content)
    except (ValueError, RecursionError):
        return response.text
    return (value.get("error") or value) if isinstance(value, dict) else value
