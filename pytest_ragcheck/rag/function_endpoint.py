"""A RAG system that is a Python function in this process."""

from __future__ import annotations

import functools
import inspect
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from copy import copy
from dataclasses import replace
from typing import Any, NoReturn

from pytest_ragcheck.concurrency.frames import is_own_failure
from pytest_ragcheck.concurrency.limiter import TimeLimit
from pytest_ragcheck.concurrency.tasks import in_task
from pytest_ragcheck.errors import EndpointError, EndpointReplyError, EndpointTimeout, UsageError
from pytest_ragcheck.rag.answer import RagAnswer
from pytest_ragcheck.rag.ask import ConversationState, is_async, settled
from pytest_ragcheck.rag.body.json_body import ReplyMismatch, excerpt, instance, shown_error
from pytest_ragcheck.rag.shapes.reading import EXAMPLE, FIX_THE_CAUSE, LATER, Reading, readable
from pytest_ragcheck.rag.shapes.shape import REPLY, REPLY_WITHOUT_ANSWER, read_reply, read_shape

_TO_DO = {
    FIX_THE_CAUSE: "Fix its cause in the RAG system, and raise an exception for such failures.",
    LATER: "Wait for the answer in the function.",
}
"""What to do in a function, by what to do in a server."""


class FunctionEndpoint:
    """
    An endpoint that calls a function as `RagClient.from_callable` describes.

    A parameter `identity` gets the name of the identity that asks, or None.
    In the tier `generation` it calls `function(query, context_passages=[{"text": ..., "doc_id": ...}])`.

    Raises:
        UsageError: The function has another signature, or an expression is invalid.
    """

    def __init__(self, function: Callable[..., Any], *, timeout_seconds: float, response: str | None = None) -> None:
        if not callable(function):
            raise UsageError(
                f"RagClient.from_callable takes a function, not {excerpt(repr(function), 60)}. "
                "Give a function(query) or function(query, top_k); a URL goes to RagClient(url)."
            )
        self._function = function
        self._timeout_seconds = timeout_seconds
        self._reading = None if response is None else read_shape(response=response).reading
        self.name = _qualified_name(function)
        self._identity: str | None = None
        self._signature = _signature(function)
        self._carried = {
            each.name: each.default is each.empty
            for each in [*self._signature.parameters.values()][1:]
            if each.name in {"history", "session", "identity"}
        }
        """These parameters of the function; True for a required one."""

        self._takes_top_k = self._check_signature()

    def as_identity(self, name: str) -> FunctionEndpoint:
        """
        The same function with the name of the identity; an empty name removes the identity.

        Raises:
            EndpointError: The function takes no identity.
        """
        if not name:
            return self
        if "identity" not in self._carried:
            raise self._error(
                f"takes no identity, and the question is asked as {name!r}",
                "Let the function take the name of the identity, as function(query, identity), or ask without 'as'.",
            )
        asked = copy(self)
        asked._identity = name
        return asked

    async def ask(
        self,
        query: str,
        top_k: int,
        conversation: ConversationState,
        *,
        include_chunks: bool,  # noqa: ARG002 - a function has no such choice
        answers: bool,
    ) -> RagAnswer:
        """The function's reply, without *answers* only its contexts; raises an `EndpointError` if it has none."""
        return await self._call(query, {"top_k": top_k} if self._takes_top_k else {}, conversation, answers=answers)

    async def ask_with_context(
        self, query: str, passages: list[dict[str, Any]], conversation: ConversationState
    ) -> RagAnswer:
        if not self._takes("context_passages"):
            raise self._error(
                "takes no context_passages",
                "The tier generation gives a function its passages as function(query, context_passages=[...]), each "
                '{"text": ..., "doc_id": ...}. Let it take them, or choose another rag_tier. ragcheck dataset lists '
                "the tiers of each dataset.",
            )
        return await self._call(query, {"context_passages": passages}, conversation)

    @property
    def documents(self) -> NoReturn:
        raise UsageError(
            f"{self.name} is a function, which has no routes for documents: give it its documents in the rag_client "
            "fixture, and do not ask for ingestion."
        )

    async def _call(
        self, query: str, keywords: dict[str, Any], conversation: ConversationState, *, answers: bool = True
    ) -> RagAnswer:
        self._check_carries(conversation)
        before = {"history": conversation.messages, "session": conversation.session, "identity": self._identity}
        # Outside of a conversation, a function's own default applies.
        is_turn = conversation.turn is not None
        is_given = {"history": is_turn, "session": is_turn, "identity": self._identity is not None}
        keywords |= {name: before[name] for name, required in self._carried.items() if required or is_given[name]}
        started = time.perf_counter()

        def called() -> Any:
            # In the thread of a plain function the result is read too, since its properties may do the work.
            returned = self._function(query, **keywords)
            return awaited(returned) if inspect.isawaitable(returned) else self._read(returned, started, answers)

        async def awaited(returned: Awaitable[Any]) -> RagAnswer:
            return self._read(await returned, started, answers)

        function = called if is_async(self._function) else functools.partial(settled, called)
        with TimeLimit(self._timeout_seconds):
            try:
                answer: RagAnswer = await in_task(function)
            except EndpointError:
                raise  # raised by another client inside the function
            except Exception as error:
                if is_own_failure(error):  # in the reading
                    raise
                raise self._raised(error) from error
            return answer
        to_do = "Make it return sooner, or raise timeout_seconds."
        if is_async(self._function):
            to_do += (
                " Questions have an event loop of their own: make queues, tasks and pools in the function's first "
                "call, because those of a fixture's loop never answer."
            )
        raise self._error(f"returned nothing within {self._timeout_seconds:g} s", to_do, EndpointTimeout)

    async def aclose(self) -> None:
        """Does nothing: a function has nothing to close."""

    def _check_carries(self, conversation: ConversationState) -> None:
        if conversation.is_lost(self._carried):
            raise self._error(
                "takes no earlier turns of a conversation",
                "Let it take them as function(query, history), a list of OpenAI messages; or as function(query, "
                "session), if it keeps conversations, and return their id as session.",
            )
        if conversation.needs_session(self._carried) and conversation.lacks_session:
            raise self._error(
                "returned no session for the earlier turns of the conversation",
                "Return the id of the conversation as session, or let the function take history.",
            )

    def _check_signature(self) -> bool:
        # True if the function takes `top_k`.
        if self._takes("top_k"):
            return True
        if self._takes() or self._takes("context_passages"):
            return False
        raise UsageError(
            f"{self.name}{self._signature} cannot be asked. "
            "RagClient.from_callable takes a function(query) or a function(query, top_k)."
        )

    def _takes(self, *keywords: str) -> bool:
        try:
            self._signature.bind("query", **dict.fromkeys((*keywords, *self._carried)))
        except TypeError:
            return False
        # LangChain hands `**kwargs` on to a function that may not take them.
        return self._signature.parameters.keys() >= set(keywords)

    def _read(self, returned: object, started: float, answers: bool) -> RagAnswer:
        try:
            if isinstance(returned, RagAnswer):
                read = self._read_mapping({"answer": returned.text, "contexts": returned.contexts}, answers=answers)
                answer = replace(returned, contexts=read.contexts)
            elif self._reading is not None:
                answer = self._read_object(returned, self._reading, answers=answers)
            else:
                answer = self._read_mapping(returned, answers=answers)
        except ReplyMismatch as mismatch:
            to_do = _TO_DO.get(mismatch.to_do, mismatch.to_do)
            if to_do == mismatch.to_do and self._reading is None and not isinstance(returned, RagAnswer | str | None):
                to_do += f' Or give RagClient.from_callable the paths of its parts, such as response="{EXAMPLE}".'
            raise self._error(mismatch.found, to_do, EndpointReplyError) from None
        if answer.latency_seconds is None:  # else the function measured it itself
            answer = replace(answer, latency_seconds=time.perf_counter() - started)
        return answer

    def _read_mapping(self, returned: object, *, answers: bool) -> RagAnswer:
        if not isinstance(returned, Mapping):
            found = "None" if returned is None else f"{instance(returned)} ({excerpt(repr(returned), 60)})"
            to_do = f"Return {REPLY if answers else REPLY_WITHOUT_ANSWER}, or a RagAnswer."
            raise ReplyMismatch(f"returned {found}", to_do)
        return read_reply(returned, answers=answers, sessions="session" in self._carried)

    def _read_object(self, returned: object, reading: Reading, *, answers: bool) -> RagAnswer:
        if answers and reading.answer is None:
            to_do = f"Write, for example, {EXAMPLE}, or ask in the tier retrieval."
            raise ReplyMismatch("response= does not say where the answer is", to_do)
        if isinstance(returned, Iterator | AsyncIterator):
            raise ReplyMismatch(
                f"returned {instance(returned)}, whose values are not read",
                "Give the function that returns the whole result, such as invoke instead of stream.",
            )
        answer = (reading if answers else replace(reading, answer=None)).read(readable(returned))
        # A metric of the user reads the objects themselves.
        return replace(
            answer, extra={key: returned[key] for key in answer.extra} if isinstance(returned, Mapping) else {}
        )

    def _raised(self, error: Exception) -> EndpointError:
        to_do = 'Fix the function; where the system declines to answer, return "" as its answer.'
        return self._error(f"raised {shown_error(error)}", to_do)

    def _error(self, found: str, to_do: str, error_type: type[EndpointError] = EndpointError) -> EndpointError:
        return error_type(f"{self.name}: {found}\n{to_do}", url=self.name)


def _signature(function: Callable[..., Any]) -> inspect.Signature:
    try:
        return inspect.signature(function)
    except (TypeError, ValueError):  # some functions written in C have none
        return inspect.signature(lambda query: query)


def _qualified_name(function: Callable[..., Any]) -> str:
    while isinstance(function, functools.partial):
        function = function.func
    named = function if hasattr(function, "__qualname__") else type(function)
    return f"{named.__module__}.{named.__qualname__}"
