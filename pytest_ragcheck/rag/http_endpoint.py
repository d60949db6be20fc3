"""Asks an endpoint over HTTP."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pytest_ragcheck.errors import EndpointError, EndpointStreamError
from pytest_ragcheck.frozen import replace
from pytest_ragcheck.rag.body.json_body import ReplyMismatch
from pytest_ragcheck.rag.http.http_exchange import HttpExchange
from pytest_ragcheck.rag.shapes.named_shapes import CHAT
from pytest_ragcheck.rag.shapes.reading import EXAMPLE

if TYPE_CHECKING:
    from pytest_ragcheck.rag.answer import RagAnswer
    from pytest_ragcheck.rag.conversation_state import ConversationState
    from pytest_ragcheck.rag.http.route import HttpRoute
    from pytest_ragcheck.rag.shapes.shape import Shape


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
        return await self.send({**question, **beside} if beside else question, exchange)

    async def send(self, question: Any, exchange: HttpExchange) -> RagAnswer:
        """
        The answer to a request that is filled in; raises an `EndpointError` if there is none.

        The *question* is the JSON value of the body, or the query string.
        """
        if self._reads_answers and self._shape.reading.answer is None:
            raise EndpointError(
                f"{self._route.name}: rag_response does not say where the answer is\n"
                f"Write, for example, {EXAMPLE}, or choose rag_tier = retrieval.",
                url=self._route.name,
            )
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
        raise EndpointError(f"{self._route.name}: {found}\n{to_do}", url=self._route.name)

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
        try:
            answer = self._shape.reading.read(reply)
        except ReplyMismatch as mismatch:
            from pytest_ragcheck.rag.shapes.variants import with_fitting_setting

            raise self._route.unusable(exchange, with_fitting_setting(mismatch, reply, self._shape)) from None
        return replace(answer, latency_seconds=exchange.seconds)
