"""`exchange_over` sends one request of the probe with the client's own code, and keeps all details of the exchange."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import field
from typing import TYPE_CHECKING, Any

from pytest_ragcheck.errors import EndpointError, EndpointTimeout, EndpointUnreachable
from pytest_ragcheck.frozen import frozen
from pytest_ragcheck.package_text import package_text
from pytest_ragcheck.rag.body.json_body import ReplyMismatch, parse_json
from pytest_ragcheck.rag.http.http_exchange import HttpExchange
from pytest_ragcheck.rag.http.route import HttpRoute
from pytest_ragcheck.rag.http_service import HttpEndpoint
from pytest_ragcheck.rag.shapes.shape import NAMED_SHAPES, Shape, read_shape
from pytest_ragcheck.rag.shapes.variants import NO_CONTEXTS, fitting_events, fitting_response

if TYPE_CHECKING:
    from pytest_ragcheck.rag.answer import RagAnswer
    from pytest_ragcheck.rag.http.connections import AnyResponse


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
    """The route for all exchanges of a probe; raises a `UsageError` as `probe_endpoint`."""
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
    except EndpointError as error:
        if isinstance(error, EndpointUnreachable) and exchange.is_over_kept_connection:
            return await exchange_over(route, body, shape)
        exchange.error = error
    return exchange


async def get_status(route: HttpRoute) -> int | None:
    exchange = _StatusOnly("GET", "a GET")
    try:
        await route.fetch(exchange)
    except EndpointError as error:
        if isinstance(error, EndpointUnreachable) and exchange.is_over_kept_connection:
            return await get_status(route)
    return exchange.status


class _StatusOnly(HttpExchange):
    async def read(self, response: AnyResponse, library: Any, max_bytes: int) -> None:  # noqa: ARG002
        self.response = response
        await response.aclose()


_REFUSED = frozenset({400, 404, 405, 415, 422, 500, 501})
"""
Statuses of an endpoint that takes another request; after any other status, further requests are pointless.

Some endpoints answer 500 to a request that lacks their key, and Express answers 404 to another method.
"""


@frozen
class Fit:
    settings: Mapping[str, str]
    parts: int = 0
    """Number of parts of the reply that the settings read: the answer, the contexts, and their ids."""

    context: str = ""
    """The first context that they read; empty without one."""

    found: str = ""
    """Why the settings do not read the reply, and the remedy; empty if they do, or if only contexts are missing."""


async def fitting_settings(target: Target) -> Fit | None:
    """
    The ini settings that read an answer with contexts, with ids if any settings find them.

    Settings that find no contexts fit only if they are the user's own. If no settings fit, returns the first request
    that gets JSON, or that lacks credentials alone; None if none does.
    """
    route = route_to(target)
    best, refused = None, False
    try:
        for request in _requests(target.shape_settings):
            exchange = await _ask(route, target, request)
            if exchange.status is None or isinstance(exchange.error, EndpointTimeout):
                break
            if exchange.status < 300:
                fit = await _fit(route, target, request, exchange)
                best = max(filter(None, (best, fit)), key=lambda each: each.parts, default=None)
                if best and best.parts == 3:
                    break
            elif exchange.status in _REFUSED:
                refused = True
            else:
                if refused and exchange.status in {401, 403}:
                    # The endpoint checks the body before the token.
                    best = best or Fit(settings=request, found=f"{exchange.found}. {exchange.to_do} Then probe again")
                break
    finally:
        await route.aclose()
    return best


def _requests(own: Mapping[str, str]) -> Iterator[Mapping[str, str]]:
    if own:
        yield own
    for name in NAMED_SHAPES:
        yield {} if name == "query" else {"rag_shape": name}
    for line in package_text("rag/requests.txt").splitlines():
        if not line.startswith("#"):
            yield {"rag_request": line}


async def _ask(route: HttpRoute, target: Target, settings: Mapping[str, str]) -> Exchange:
    shape = read_shape(settings.get("rag_shape", "query"), settings.get("rag_request"), settings.get("rag_response"))
    return await exchange_over(route, shape.request.fill(target.question, target.top_k), shape)


async def _fit(route: HttpRoute, target: Target, request: Mapping[str, str], exchange: Exchange) -> Fit | None:
    # The settings that read the reply of the exchange, tried out by another request; None if it is not JSON.
    settings, answer = dict(request), exchange.answer
    is_own = "rag_response" in request and answer is not None and bool(answer.text or answer.contexts)
    if not is_own and (answer is None or not answer.contexts):
        response = _response_for(exchange)
        if response is None:
            return None
        settings["rag_response"] = response
        answer = (await _ask(route, target, settings)).answer if response else None
    # Without contexts, a wrong expression looks like a system that found nothing.
    if answer is None or not (is_own or answer.contexts):
        found = f"{exchange.found}. {exchange.to_do} Or"
        if answer:
            found = f'it returned no contexts for "{target.question}", so'
        return Fit(settings=request, found=f"{found} give --question TEXT that your documents answer")
    first = next(iter(answer.contexts), "")
    return Fit(settings=settings, parts=1 + bool(answer.contexts) + bool(answer.source_ids), context=first)


def _response_for(exchange: Exchange) -> str | None:
    # The `rag_response` that fits; empty if no known form does, and None if the reply is not JSON.
    if exchange.stream is not None:
        setting = fitting_events(exchange.stream.firsts, exchange.stream.values) or ""
        return setting if NO_CONTEXTS not in setting else ""
    try:
        return fitting_response(parse_json(exchange.body, exchange.content_type)) or ""
    except ReplyMismatch:
        return None
