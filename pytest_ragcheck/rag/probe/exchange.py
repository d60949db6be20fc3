"""One request of the probe, sent and read by the client's own code, with everything kept that can be said of it."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import anyio

from pytest_ragcheck.errors import EndpointError
from pytest_ragcheck.rag.http import HttpEndpoint
from pytest_ragcheck.rag.progress import Phase

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pytest_ragcheck.rag.answer import RagAnswer
    from pytest_ragcheck.rag.connections import AnyClient, AnyResponse

MAX_REPLY_BYTES = 10_000_000
"""As the client's default."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """What is probed, and with what."""

    url: str = field(repr=False)
    headers: Mapping[str, str] = field(repr=False)
    """Sent with every request; may hold secrets."""

    question: str
    top_k: int
    """How many contexts the first question asks for, >= 1."""

    timeout_seconds: float
    """Limit of a whole exchange, > 0."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Exchange:
    """A request and what came back."""

    sent: Mapping[str, Any]
    seconds: float
    """From beginning to connect to the last byte of the reply, >= 0."""

    connected: bool
    """True where the request could be sent."""

    answer: RagAnswer | None = None
    """None where the reply does not keep the contract."""

    error: EndpointError | None = None
    """Why there is no answer."""

    status: int | None = None
    """None where no reply came, or one that could not be decompressed."""

    reason_phrase: str = ""
    http_version: str = ""
    content_type: str = ""
    body: bytes = b""
    """Decompressed; of a reply without success its start."""

    local_port: int | None = None
    """Tells connections apart; None where the transport does not say."""

    @property
    def found(self) -> str:
        """What the error says happened; empty without one."""
        return "" if self.error is None else _first_line(self.error)

    @property
    def to_do(self) -> str:
        """What the error says to do, in the words of the command line; empty without one."""
        text = str(self.error or "").partition("\n")[2]
        return text.replace("--rag-url", "the URL").replace("the ini option rag_headers", "--header")


async def post(http: AnyClient, target: Target, body: Mapping[str, Any]) -> Exchange:
    """The exchange that *body* leads to; an endpoint that does not do its work is no exception here."""
    endpoint = _Remembering(http, target, body)
    started = time.perf_counter()
    answer, error = None, None
    try:
        answer = await endpoint.ask("", 0)
    except EndpointError as raised:
        error = raised
    seconds = time.perf_counter() - started
    connected = endpoint.progress is not None and endpoint.progress.phase is not Phase.CONNECTING
    response = endpoint.response
    if response is None:
        return Exchange(sent=body, seconds=seconds, connected=connected, error=error)
    return Exchange(
        sent=body,
        seconds=seconds,
        connected=connected,
        answer=answer,
        error=error,
        status=response.status_code,
        reason_phrase=response.reason_phrase,
        http_version=response.http_version,
        content_type=response.headers.get("content-type", ""),
        body=endpoint.body,
        local_port=endpoint.local_port,
    )


async def get_status(http: AnyClient, target: Target) -> int | None:
    """The status that a GET request gets; None where no reply comes."""
    with anyio.move_on_after(target.timeout_seconds):
        try:
            async with http.stream("GET", target.url, headers=dict(target.headers), timeout=None) as response:
                return response.status_code
        except Exception:  # of either HTTP library; what it was makes no difference to the advice
            return None
    return None


class _Remembering(HttpEndpoint):
    """An endpoint for one exchange, which sends a body of the probe's and keeps what the client throws away."""

    def __init__(self, http: AnyClient, target: Target, body: Mapping[str, Any]) -> None:
        super().__init__(
            target.url,
            headers=target.headers,
            timeout_seconds=target.timeout_seconds,
            max_reply_bytes=MAX_REPLY_BYTES,
            http=http,
        )
        self._sent = dict(body)
        self.progress: Any = None
        self.response: AnyResponse | None = None
        self.body = b""
        self.local_port: int | None = None

    async def _ask(self, question: dict[str, Any], progress: Any) -> RagAnswer:  # noqa: ARG002 - the probe has its own
        self.progress = progress
        return await super()._ask(self._sent, progress)

    async def _read_body(self, response: AnyResponse) -> bytes:
        # The connection can be asked only while it is open.
        stream = response.extensions.get("network_stream")
        address = stream.get_extra_info("client_addr") if stream is not None else None
        self.local_port = address[1] if address else None
        return await super()._read_body(response)

    def _read(self, response: AnyResponse, body: bytes, latency_seconds: float) -> RagAnswer:
        self.response, self.body = response, body
        return super()._read(response, body, latency_seconds)


def _first_line(error: EndpointError) -> str:
    return str(error).partition("\n")[0].removeprefix(f"{error.url}: ")
