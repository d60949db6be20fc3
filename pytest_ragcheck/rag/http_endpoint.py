"""An endpoint that answers questions over HTTP."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from pytest_ragcheck.concurrency.time_limit import TimeLimit
from pytest_ragcheck.errors import EndpointError, EndpointStreamError
from pytest_ragcheck.rag.body.event_parsers import parser_for
from pytest_ragcheck.rag.body.json_body import ReplyMismatch
from pytest_ragcheck.rag.conversation_state import NO_CONVERSATION
from pytest_ragcheck.rag.http.exchange_failures import SentRequest, timed_out
from pytest_ragcheck.rag.http.exchange_progress import Progress
from pytest_ragcheck.rag.http.route import LOOKED_AT_BYTES, HttpRoute
from pytest_ragcheck.rag.shapes.reading import EXAMPLE
from pytest_ragcheck.rag.shapes.shape import read_shape
from pytest_ragcheck.rag.shapes.streamed_reply import StreamedReply

if TYPE_CHECKING:
    from pytest_ragcheck.rag.answer import RagAnswer
    from pytest_ragcheck.rag.conversation_state import ConversationState
    from pytest_ragcheck.rag.http.connections import AnyResponse
    from pytest_ragcheck.rag.shapes.shape import Shape

_HISTORY_EXAMPLE = '{"messages": ["{history}", {"role": "user", "content": "{query}"}]}'

_DRAIN_SECONDS = 0.02
"""Time for the end of a reply after the end of its stream; servers send it within a millisecond."""


class HttpEndpoint(HttpRoute):
    """
    An endpoint that is asked over HTTP.

    Args:
        url: The route for questions.
        shape: The form of requests and replies; the contract if None.
        stream: Whether a reply may be a stream of events.
        answers: False in the tier `retrieval`, which reads no answers.
        route: Further arguments of `HttpRoute`.

    Raises:
        UsageError: URL, header or client cannot work.
    """

    def __init__(
        self, url: str, *, shape: Shape | None = None, stream: bool = True, answers: bool = True, **route: Any
    ) -> None:
        super().__init__(url, **route)
        self._reads_streams = stream
        self._reads_answers = answers
        shape = read_shape() if shape is None else shape
        self._shape = shape if answers else shape.without_answer
        self._asked = SentRequest(method=self._shape.request.method, shown=self._shape.request.shown)

    async def ask(
        self, query: str, top_k: int, conversation: ConversationState = NO_CONVERSATION, **beside: Any
    ) -> RagAnswer:
        """
        The endpoint's answer; raises an `EndpointError` if there is none.

        Args:
            query: The question.
            top_k: The number of contexts to request.
            conversation: The earlier turns.
            beside: Further keys of the request's JSON object.
        """
        self._check_carries(conversation)
        question = self._shape.request.fill(query, top_k, conversation)
        if beside:
            question = {**question, **beside}
        await self._ready()
        progress = Progress()
        with TimeLimit(self._timeout_seconds):
            return await self._ask(question, progress)
        raise timed_out(self._address, self._timeout_seconds, progress.phase)

    def _check_carries(self, conversation: ConversationState) -> None:
        """Raise an `EndpointError` if the request cannot tell the endpoint what the conversation is about."""
        carried = self._shape.request.carried
        if conversation.is_lost(carried):
            found = "the request has no place for the earlier turns of the conversation"
            to_do = (
                f"Write {{history}} into rag_request, such as {_HISTORY_EXAMPLE}; or {{session}}, if the endpoint "
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
        raise EndpointError(f"{self.name}: {found}\n{to_do}", url=self.name)

    async def _ask(self, question: Any, progress: Progress) -> RagAnswer:
        if self._reads_answers and self._shape.reading.answer is None:
            raise EndpointError(
                f"{self.name}: rag_response does not say where the answer is\n"
                f"Write it such as {EXAMPLE}, or choose --rag-tier=retrieval.",
                url=self.name,
            )
        template = self._shape.request
        request = {"content": template.content(question), "headers": template.headers}
        exchanged = await self._exchange(self._url_for(question), progress, self._asked, request)
        answer = self._read(*exchanged, progress.stream)
        return answer if progress.is_traced else replace(answer, first_token_seconds=None)

    def _url_for(self, question: Any) -> Any:
        url = self._shape.request.url(self._address.url, question)
        if url == self._address.url:
            return self._url
        try:
            return self._library.URL(url)
        except self._library.InvalidURL as error:
            raise EndpointError(
                f"{self.name}: no URL can be made from the question ({error})\n"
                "Ask by POST: set rag_request to JSON, if the endpoint takes it.",
                url=self.name,
            ) from None

    async def _read_body(self, response: AnyResponse, progress: Progress) -> bytes:
        """The body, or the start of a stream, whose events go to `progress.stream` as they come."""
        parser = parser_for(response.headers.get("content-type", "")) if self._reads_streams else None
        if parser is None or not response.is_success:
            return await super()._read_body(response, progress)
        progress.stream = StreamedReply(parser, self._shape.stream, started=progress.started)
        start, stream = bytearray(), progress.stream
        chunks = response.aiter_bytes()
        async for chunk in chunks:
            if len(start) < LOOKED_AT_BYTES:
                start += chunk
            stream.feed(chunk)
            if stream.is_done:
                await self._drain(chunks)
                break
            if stream.size_bytes > self._max_reply_bytes:
                break
        return bytes(start)

    async def _drain(self, chunks: AsyncIterator[bytes]) -> None:
        """Read the end of the reply after the end of its stream if it comes at once, to keep the connection."""
        with suppress(self._library.RequestError), TimeLimit(_DRAIN_SECONDS):
            async for _ in chunks:
                pass

    def _read(
        self, response: AnyResponse, body: bytes, latency_seconds: float, stream: StreamedReply | None
    ) -> RagAnswer:
        self._check(response, body, self._asked, None if stream is None else stream.size_bytes)
        if stream is not None:
            latency_seconds = stream.latency_seconds or latency_seconds
            try:
                answer = stream.answer()
            except ReplyMismatch as mismatch:
                raise self.unusable(response, body, mismatch, error_type=EndpointStreamError) from None
            return replace(answer, latency_seconds=latency_seconds, first_token_seconds=stream.first_token_seconds)
        reply = self.value(response, body)
        try:
            answer = self._shape.reading.read(reply)
        except ReplyMismatch as mismatch:
            from pytest_ragcheck.rag.shapes.variants import with_the_setting

            raise self.unusable(response, body, with_the_setting(mismatch, reply, self._shape)) from None
        return replace(answer, latency_seconds=latency_seconds)
