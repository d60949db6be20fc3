"""`exchange_over` sends one request of the probe with the client's own code, and keeps all details of the exchange."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import TYPE_CHECKING, Any

from pytest_ragcheck.errors import EndpointError, EndpointUnreachable
from pytest_ragcheck.frozen import frozen
from pytest_ragcheck.rag.http.http_exchange import HttpExchange
from pytest_ragcheck.rag.http.route import HttpRoute
from pytest_ragcheck.rag.http_service import HttpEndpoint

if TYPE_CHECKING:
    from pytest_ragcheck.rag.answer import RagAnswer
    from pytest_ragcheck.rag.http.connections import AnyResponse
    from pytest_ragcheck.rag.shapes.shape import Shape


@frozen
class Target:
    url: str = field(repr=False)
    headers: Mapping[str, str] = field(repr=False)
    """Sent with every request; may hold secrets."""

    question: str
    top_k: int
    """Number of contexts that the first question requests, >= 1."""

    timeout_seconds: float
    """Limit of a whole exchange, > 0."""

    shape_settings: Mapping[str, str]
    """The settings `rag_shape`, `rag_request` and `rag_response` of the user's ini file, if any."""


class Exchange(HttpExchange):
    """A request with its reply or its error, from which the checks are decided."""

    def __init__(self, sent: Any, shape: Shape) -> None:
        super().__init__(shape.request.method, shape.request.shown, shape.stream)
        self.sent = sent
        """The body, or the query string of a GET."""

        self.answer: RagAnswer | None = None
        """None if the reply breaks the contract."""

        self.error: EndpointError | None = None
        self.local_port: int | None = None
        """Identifies the connection; None if the transport does not expose it."""

    async def read(self, response: AnyResponse, library: Any, max_bytes: int) -> None:
        # The address is available only while the connection is open.
        stream = response.extensions.get("network_stream")
        address = stream.get_extra_info("client_addr") if stream is not None else None
        self.local_port = address[1] if address else None
        await super().read(response, library, max_bytes)

    @property
    def content_type(self) -> str:
        return "" if self.response is None else str(self.response.headers.get("content-type", ""))

    @property
    def found(self) -> str:
        """The first line of the error, the cause; empty without an error."""
        return "" if self.error is None else str(self.error).partition("\n")[0].removeprefix(f"{self.error.url}: ")

    @property
    def to_do(self) -> str:
        """The remedy in the error, with the options of `ragcheck probe`; empty without an error."""
        return str(self.error or "").partition("\n")[2].replace("rag_headers", "--header")


def route_to(target: Target) -> HttpRoute:
    """
    The route of the target, for all exchanges of a probe.

    Raises:
        UsageError: The URL, a header or the environment is invalid.
    """
    return HttpRoute(target.url, headers=target.headers, timeout_seconds=target.timeout_seconds)


async def exchange_over(route: HttpRoute, body: Any, shape: Shape) -> Exchange:
    """
    The exchange for *body*; an error of the endpoint is part of the exchange, not raised.

    The request is repeated if the server had closed the kept connection, as uvicorn does after an exception of the app.
    """
    exchange = Exchange(body, shape)
    try:
        # A `rag_response` for contexts alone is of the tier retrieval.
        endpoint = HttpEndpoint(route, shape, answers=shape.reading.answer is not None)
        exchange.answer = await endpoint.send(body, exchange)
    except EndpointUnreachable as error:
        if exchange.is_over_kept_connection:
            return await exchange_over(route, body, shape)
        exchange.error = error
    except EndpointError as error:
        exchange.error = error
    return exchange


async def get_status(route: HttpRoute) -> int | None:
    exchange = _StatusOnly("GET", "a GET")
    try:
        await route.fetch(exchange)
    except EndpointUnreachable:
        if exchange.is_over_kept_connection:
            return await get_status(route)
    except EndpointError:
        pass
    return exchange.status


class _StatusOnly(HttpExchange):
    async def read(self, response: AnyResponse, library: Any, max_bytes: int) -> None:  # noqa: ARG002
        self.response = response
        await response.aclose()
