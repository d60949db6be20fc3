"""Asks a RAG service over HTTP, by its routes for questions, passages and documents."""

from __future__ import annotations

from collections.abc import Mapping
from copy import copy
from typing import TYPE_CHECKING, Any

from pytest_ragcheck.rag.ask import check_identity
from pytest_ragcheck.rag.http.endpoint_address import base_of, joined, read_address
from pytest_ragcheck.rag.http_endpoint import HttpEndpoint
from pytest_ragcheck.rag.shapes.named_shapes import CONTRACT
from pytest_ragcheck.rag.shapes.shape import read_shape

if TYPE_CHECKING:
    from pytest_ragcheck.rag.answer import RagAnswer
    from pytest_ragcheck.rag.conversation_state import ConversationState
    from pytest_ragcheck.rag.documents.document_routes import DocumentRoutes
    from pytest_ragcheck.rag.http.route import HttpRoute

WITH_CHUNKS = "server"
"""The shape that requests the texts of the chunks and the ids of their documents."""

_PASSAGES = '{"query": "{query}", "context_passages": [{"text": "...", "doc_id": "..."}], "session_id": "{session}"}'
"""The request in error texts; the sent one holds the passages of the question."""


class HttpService:
    """A RAG service over HTTP; the arguments other than the route for questions are those of `RagClient`."""

    def __init__(
        self,
        route: HttpRoute,
        *,
        base_url: str | None,
        shape: str | None,
        request: str | None,
        response: str | None,
        stream: bool,
        identities: Mapping[str, Mapping[str, str]],
    ) -> None:
        self._route = self._first_route = route
        self._base_url = base_of(route.url) if base_url is None else read_address(base_url, {}).url
        self._shape, self._request, self._response = shape, request, response
        self._own_shape = read_shape(shape or CONTRACT, request, response)
        self._stream = stream
        self._identities, self._identity = identities, ""

    @property
    def name(self) -> str:
        return self._route.name

    def as_identity(self, name: str) -> HttpService:
        """The same service with the headers of the identity, which must be known; an empty name removes it."""
        if name == self._identity:
            return self
        check_identity(name, self._identities, endpoint=self.name)
        service = copy(self)
        service._identity = name
        service._route = self._first_route.with_headers(self._identities.get(name, {}))
        return service

    async def ask(
        self, query: str, top_k: int, conversation: ConversationState, *, include_chunks: bool, answers: bool
    ) -> RagAnswer:
        # The user's setting decides the request.
        is_set = (self._shape, self._request, self._response) != (None, None, None)
        shape = self._own_shape if is_set or not include_chunks else read_shape(WITH_CHUNKS)
        endpoint = HttpEndpoint(self._route, shape, stream=self._stream, answers=answers)
        return await endpoint.ask(query, top_k, conversation)

    async def ask_with_context(
        self, query: str, passages: list[dict[str, Any]], conversation: ConversationState
    ) -> RagAnswer:
        """The answer from these passages alone, in the shape of the settings; else raises an `EndpointError`."""
        to_do: dict[int, str] = dict.fromkeys(
            (404, 405),
            "The tier generation needs the route POST /query/with-context there: check rag_base_url "
            "(by default rag_url without its final /query), or choose another rag_tier. ragcheck dataset lists the "
            "tiers of each dataset.",
        )
        route = self._route.at(joined(self._base_url, "/query/with-context"), to_do=to_do)
        shape = read_shape(self._shape or WITH_CHUNKS, _PASSAGES, self._response)
        beside = {"context_passages": passages, "session_id": conversation.session}
        return await HttpEndpoint(route, shape, stream=self._stream).ask(query, len(passages), conversation, **beside)

    @property
    def documents(self) -> DocumentRoutes:
        from pytest_ragcheck.rag.documents.document_routes import DocumentRoutes

        return DocumentRoutes(
            self._route.at(self._base_url),
            identity=self._identity,
            of_identity=lambda identity: self.as_identity(identity).documents,
        )

    async def aclose(self) -> None:
        await self._route.aclose()
