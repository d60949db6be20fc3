"""Asks an endpoint over HTTP, and a RAG service by its routes for questions, passages and documents."""

from __future__ import annotations

from collections.abc import Mapping
from copy import copy
from http import HTTPStatus
from typing import TYPE_CHECKING, Any

from pytest_ragcheck.errors import EndpointError, EndpointStreamError
from pytest_ragcheck.frozen import replace
from pytest_ragcheck.rag.ask import ConversationState, check_identity
from pytest_ragcheck.rag.body.json_body import ReplyMismatch
from pytest_ragcheck.rag.http.endpoint_address import base_of, joined, read_address
from pytest_ragcheck.rag.http.http_exchange import HttpExchange
from pytest_ragcheck.rag.shapes.reading import EXAMPLE, LATER
from pytest_ragcheck.rag.shapes.shape import CHAT, CONTRACT, Shape, read_shape

if TYPE_CHECKING:
    from pytest_ragcheck.rag.answer import RagAnswer
    from pytest_ragcheck.rag.documents.document_routes import DocumentRoutes
    from pytest_ragcheck.rag.http.route import HttpRoute


class HttpEndpoint:
    """
    An endpoint that is asked over HTTP.

    Without *stream*, a stream of events is an error. Without *answers*, as in the tier `retrieval`, no answer is read.
    """

    def __init__(self, route: HttpRoute, shape: Shape, *, stream: bool = True, answers: bool = True) -> None:
        self._route = route
        self._shape = shape if answers else shape.without_answer
        self._reads_streams = stream
        self._reads_answers = answers

    async def ask(self, query: str, top_k: int, conversation: ConversationState, **beside: Any) -> RagAnswer:
        """
        The endpoint's answer; raises an `EndpointError` if there is none.

        *beside* has further keys of the request's JSON object.
        """
        self._check_carries(conversation)
        question: Any = self._shape.request.fill(query, top_k, conversation)
        events = self._shape.stream if self._reads_streams else None
        exchange = HttpExchange(self._shape.request.method, self._shape.request.shown, events)
        exchange.session = conversation.session
        return await self.send({**question, **beside} if beside else question, exchange)

    async def send(self, question: Any, exchange: HttpExchange) -> RagAnswer:
        """
        The answer to a request that is filled in; raises an `EndpointError` if there is none.

        The *question* is the JSON value of the body, or the query string.
        """
        if self._reads_answers and self._shape.reading.answer is None:
            to_do = f"Write, for example, {EXAMPLE}, or choose rag_tier = retrieval."
            raise self._error("rag_response does not say where the answer is", to_do)
        await self._route.fetch(exchange, **self._shape.request.sent(question, self._route.url))
        return self._answer(exchange)

    def _check_carries(self, conversation: ConversationState) -> None:
        carried = self._shape.request.carried
        if conversation.is_lost(carried):
            found = "the request has no place for the earlier turns of the conversation"
            to_do = (
                f"Write {{history}} into rag_request, such as {{{CHAT}}}; or {{session}}, if the endpoint "
                "keeps conversations, and session=EXPRESSION into rag_response."
            )
        elif conversation.needs_session(carried) and self._shape.reading.session is None:
            found = "the request has {session}, but rag_response does not say where the session is"
            to_do = "Add session=EXPRESSION to rag_response, such as session=conversation_id."
        elif conversation.needs_session(carried) and conversation.lacks_session:
            found = "no earlier reply of the conversation named a session"
            to_do = "Correct session=EXPRESSION in rag_response, or send the earlier turns by {history} in rag_request."
        else:
            return
        raise self._error(found, to_do)

    def _error(self, found: str, to_do: str) -> EndpointError:
        return EndpointError(f"{self._route.name}: {found}\n{to_do}", url=self._route.name)

    def _answer(self, exchange: HttpExchange) -> RagAnswer:
        if (stream := exchange.stream) is not None:
            try:
                answer = stream.answer(exchange.body)
            except ReplyMismatch as mismatch:
                raise self._route.unusable(exchange, mismatch, EndpointStreamError) from None
            return replace(
                answer,
                latency_seconds=stream.latency_seconds or exchange.seconds,
                first_token_seconds=stream.first_token_seconds if exchange.is_traced else None,
            )
        reply = self._route.value(exchange)
        is_accepted = exchange.status == HTTPStatus.ACCEPTED
        try:
            answer = self._shape.reading.read(reply)
        except ReplyMismatch as mismatch:
            from pytest_ragcheck.rag.shapes.variants import with_fitting_setting

            fitting = with_fitting_setting(mismatch, reply, self._shape)
            if is_accepted and "rag_response = " not in fitting.to_do:
                fitting = ReplyMismatch(fitting.found, LATER)
            raise self._route.unusable(exchange, fitting) from None
        if is_accepted and not (answer.text.strip() if self._reads_answers else answer.contexts):
            raise self._route.unusable(exchange, ReplyMismatch("the reply has no answer yet", LATER))
        return replace(answer, latency_seconds=exchange.seconds)


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
