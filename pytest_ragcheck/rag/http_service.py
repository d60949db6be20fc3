"""A RAG service over HTTP, with routes for questions, passages and documents."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from pytest_ragcheck.errors import EndpointError
from pytest_ragcheck.rag.conversation_state import NO_CONVERSATION
from pytest_ragcheck.rag.http.endpoint_address import base_of, in_app, joined, read_address
from pytest_ragcheck.rag.http.route import HttpRoute
from pytest_ragcheck.rag.http_endpoint import HttpEndpoint
from pytest_ragcheck.rag.shapes.named_shapes import CONTRACT
from pytest_ragcheck.rag.shapes.shape import read_shape
from pytest_ragcheck.redaction import shown_url

if TYPE_CHECKING:
    from pytest_ragcheck.questions.question import GoldPassage
    from pytest_ragcheck.rag.answer import RagAnswer
    from pytest_ragcheck.rag.conversation_state import ConversationState
    from pytest_ragcheck.rag.documents.document_routes import DocumentRoutes
    from pytest_ragcheck.rag.http.asgi_app import AsgiApp

WITH_CHUNKS = "server"
"""The shape that requests the texts of the chunks and the ids of their documents."""

_PASSAGES = '{"query": "{query}", "context_passages": [{"text": "...", "doc_id": "..."}], "session_id": "{session}"}'
"""The request as error texts show it; the sent request holds the passages of the question."""


class HttpService:
    """
    A RAG service that is asked over HTTP.

    Args:
        url: The route for questions.
        base_url: The base of its other routes; *url* without a final `/query` if None.
        shape: The name of the endpoint's shape. If None, the contract, or `server` for requests of chunks.
        request: Replaces the request of the shape.
        response: Replaces the response of the shape.
        stream: As for `HttpEndpoint`.
        identities: The headers of each identity, in addition to those of the route.
        identity: The identity that is used; empty for none.
        app: An app in this process that takes the requests; the URLs may then be paths.
        route: Further arguments of `HttpRoute`.

    Raises:
        UsageError: URL, header, client or shape cannot work.
    """

    def __init__(
        self,
        url: str,
        *,
        base_url: str | None,
        shape: str | None,
        request: str | None,
        response: str | None,
        stream: bool,
        app: AsgiApp | None = None,
        identities: Mapping[str, Mapping[str, str]] = MappingProxyType({}),
        identity: str = "",
        **route: Any,
    ) -> None:
        self._identities, self._identity = identities, identity
        self._services: dict[str, HttpService] = {}
        if app is not None:
            url = in_app(url)
            base_url = None if base_url is None else in_app(base_url)
        self._app = app
        self._own_headers = route.pop("headers")
        headers = {**self._own_headers, **(identities[identity] if identity else {})}
        self._route = {**route, "headers": headers, "app": app}
        self._stream = stream
        self._shape, self._request, self._response = shape, request, response
        self._own_shape = read_shape(shape or CONTRACT, request, response)
        self._endpoint = HttpEndpoint(url, shape=self._own_shape, stream=stream, **self._route)
        self._endpoints = {(False, True): self._endpoint}
        """By whether the chunks and whether an answer are requested, filled when they are."""
        self._url = url
        self._base_url = base_of(url) if base_url is None else read_address(base_url, {}, also_secret={}).url

    @property
    def name(self) -> str:
        """The URL of the route for questions, without secrets."""
        return self._endpoint.name

    def as_identity(self, name: str) -> HttpService:
        """
        The same service with the headers of the identity; an empty name gives the service without one.

        Raises:
            EndpointError: The identity is unknown.
        """
        if name == self._identity:
            return self
        if name and name not in self._identities:
            known = ", ".join(sorted(self._identities)) or "none"
            raise EndpointError(
                f"{self.name}: the identity {name!r} is not in rag_identities (known: {known})\n"
                f"Add a line such as '{name}: Authorization: Bearer {{env:TOKEN}}', or correct the question's 'as'.",
                url=self.name,
            )
        if name not in self._services:
            self._services[name] = HttpService(
                self._url,
                base_url=self._base_url,
                shape=self._shape,
                request=self._request,
                response=self._response,
                stream=self._stream,
                identities=self._identities,
                identity=name,
                **{**self._beside(), "headers": self._own_headers},
            )
        return self._services[name]

    async def ask(
        self,
        query: str,
        top_k: int,
        conversation: ConversationState = NO_CONVERSATION,
        *,
        include_chunks: bool = False,
        answers: bool = True,
    ) -> RagAnswer:
        """The reply, without *answers* only its contexts; raises an `EndpointError` if there is none to read."""
        endpoint = self._endpoint_for(chunks=include_chunks, answers=answers)
        return await endpoint.ask(query, top_k, conversation)

    async def ask_with_context(
        self, query: str, passages: Sequence[GoldPassage], conversation: ConversationState = NO_CONVERSATION
    ) -> RagAnswer:
        """The answer from these passages alone; raises an `EndpointError` if there is none."""
        rows = [{"text": passage.text, "doc_id": passage.doc_id} for passage in passages]
        beside = {"context_passages": rows, "session_id": conversation.session}
        return await self._with_context.ask(query, len(rows), conversation, **beside)

    @property
    def documents(self) -> DocumentRoutes:
        from pytest_ragcheck.rag.documents.document_routes import DocumentRoutes

        def route(url: str, to_do: Mapping[int, str]) -> HttpRoute:
            return HttpRoute(url, to_do=to_do, **self._beside())

        shown = shown_url(self._base_url) if self._app is None else self._app.shown(self._base_url)
        return DocumentRoutes(
            self._base_url,
            route,
            shown,
            identity=self._identity,
            of_identity=lambda identity: self.as_identity(identity).documents,
        )

    async def aclose(self) -> None:
        """Closes the connections of the running loop."""
        await self._endpoint.aclose()

    def _endpoint_for(self, *, chunks: bool, answers: bool) -> HttpEndpoint:
        # A setting says what to request.
        chunks = chunks and self._shape is None and self._request is None and self._response is None
        if (chunks, answers) not in self._endpoints:
            self._endpoints[chunks, answers] = HttpEndpoint(
                self._url,
                shape=read_shape(WITH_CHUNKS) if chunks else self._own_shape,
                stream=self._stream,
                answers=answers,
                **self._beside(),
            )
        return self._endpoints[chunks, answers]

    @cached_property
    def _with_context(self) -> HttpEndpoint:
        """The route for passages; its replies have the shape of the settings, if they name one."""
        to_do: dict[int, str] = dict.fromkeys(
            (404, 405),
            "The tier generation needs the route POST /query/with-context there: check the ini option rag_base_url "
            "(by default --rag-url without its final /query), or choose another --rag-tier. ragcheck dataset lists the "
            "tiers of each dataset.",
        )
        shape = read_shape(self._shape or WITH_CHUNKS, _PASSAGES, self._response)
        url = joined(self._base_url, "/query/with-context")
        return HttpEndpoint(url, shape=shape, stream=self._stream, to_do=to_do, **self._beside())

    def _beside(self) -> dict[str, Any]:
        """The arguments of a further route, which shares the endpoint's connections."""
        return {**self._route, "beside": self._endpoint}
