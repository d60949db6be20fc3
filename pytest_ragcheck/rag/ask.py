"""Asks a client, accepts only an answer that can be judged, and keeps the turns of a conversation."""

from __future__ import annotations

import inspect
import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from pytest_ragcheck.errors import EndpointError, EndpointReplyError
from pytest_ragcheck.frozen import frozen, replace
from pytest_ragcheck.questions.question import EarlierTurn, Question
from pytest_ragcheck.rag.answer import Asks, RagAnswer
from pytest_ragcheck.scores import number


async def ask(question: Question, client: Asks, identities: Collection[str] = ()) -> RagAnswer:
    """
    The client's answer, checked field by field; *identities* are the names in the settings, if any.

    Raises:
        EndpointError: The endpoint gave no answer that can be judged, or the identity is unknown.
    """
    name = endpoint_name(client)
    if identities:
        check_identity(question.identity, identities, endpoint=name)
    if not hasattr(client, "ask"):
        raise EndpointError(
            f"{name}: the rag_client has no method ask(question)\n"
            "Return a function, an object with that method, or a RagClient: RagClient(URL), or with a client of httpx "
            "or httpx2 RagClient.from_settings(rag_settings, http=client).",
            url=name,
        )
    if isinstance(client, type):
        name = client.__qualname__
        raise EndpointError(
            f"{name}: the rag_client is a class\nReturn an object of it, such as {name}(...).", url=name
        )
    answer = await settled(client.ask, question)
    if not isinstance(answer, RagAnswer):
        raise EndpointReplyError(f"{name}: ask() returned {type(answer).__name__}, not a RagAnswer.", url=name)
    if problem := _problem(answer):
        raise EndpointReplyError(f"{name}: ask() returned a RagAnswer whose {problem}.", url=name)
    return replace(
        answer,
        text=answer.text if question.is_answered else "",
        contexts=tuple(answer.contexts),
        source_ids=None if answer.source_ids is None else tuple(answer.source_ids),
        latency_seconds=None if answer.latency_seconds is None else float(answer.latency_seconds),
        first_token_seconds=None if answer.first_token_seconds is None else float(answer.first_token_seconds),
    )


def check_identity(name: str, known: Collection[str], *, endpoint: str) -> None:
    """Raise an `EndpointError` unless the identity is *known* or empty."""
    if name and name not in known:
        names = ", ".join(sorted(known)) or "none"
        raise EndpointError(
            f"{endpoint}: the identity {name!r} is not in rag_identities (known: {names})\n"
            f"Add a line such as '{name}: Authorization: Bearer {{env:TOKEN}}', or correct the question's 'as'. "
            "A RagClient of your own takes them from RagClient.from_settings, or as identities=; "
            "ragcheck cleanup takes them as --identity too.",
            url=endpoint,
        )


def endpoint_name(client: Asks) -> str:
    """The name of the system under test in results: its `endpoint`, or else its class."""
    endpoint = getattr(client, "endpoint", None)
    return endpoint if isinstance(endpoint, str) else type(client).__qualname__


def is_async(function: Any) -> bool:
    return inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(type(function).__call__)


async def settled(function: Any, *arguments: Any, **keywords: Any) -> Any:
    """The function's result, awaited; a plain function runs in a thread, so that it does not block the loop."""
    if is_async(function):
        return await function(*arguments, **keywords)
    from pytest_ragcheck.concurrency.tasks import in_thread

    result = await in_thread(partial(function, *arguments, **keywords))
    return await result if inspect.isawaitable(result) else result


def are_texts(values: Any) -> bool:
    return isinstance(values, list | tuple) and all(isinstance(value, str) for value in values)


def _problem(answer: RagAnswer) -> str:
    for name, kind, wanted in (("text", str, "str"), ("extra", Mapping, "mapping")):
        value = getattr(answer, name)
        if not isinstance(value, kind):
            return f"{name} is {value!r:.80}, not a {wanted}"
    if not are_texts(answer.contexts):
        return f"contexts are {answer.contexts!r:.80}, not a tuple of str"
    ids = answer.source_ids
    if ids is not None and not (are_texts(ids) and len(ids) == len(answer.contexts)):
        return f"source_ids are {ids!r:.80}, not a tuple of str, one for each context"
    session: Any = answer.session
    if isinstance(session, bool) or not isinstance(session, str | int | float | None):
        return f"session is {session!r:.80}, not a str or a number"
    for name in ("latency_seconds", "first_token_seconds"):
        seconds = getattr(answer, name)
        if seconds is not None and not 0 <= number(seconds) < math.inf:
            return f"{name} is {seconds!r:.80}, not a number from 0"
    return ""


@frozen
class ConversationState:
    """The earlier turns of a conversation; empty for a question outside of one."""

    turn: int | None = None
    """The number of the turn that is asked, >= 1; None outside of a conversation."""

    history: tuple[EarlierTurn, ...] = ()
    session: str | float | None = None
    """The session of the earlier replies, a text or a number as they have it; None before the first."""

    @property
    def messages(self) -> list[dict[str, str]]:
        """The earlier turns as messages of OpenAI's chat API: `role` and `content`, one for each text of a turn."""
        return [{"role": role, "content": content} for role, content in self._texts]

    @property
    def text(self) -> str:
        """The earlier turns as lines, `User: ...` and `Assistant: ...`; empty without any."""
        return "\n".join(f"{role.capitalize()}: {content}" for role, content in self._texts)

    @property
    def _texts(self) -> list[tuple[str, str]]:
        turns = ((("user", each.question), ("assistant", each.answer)) for each in self.history)
        return [(role, content) for turn in turns for role, content in turn if content is not None]

    def is_lost(self, carried: Collection[str]) -> bool:
        """True in a conversation whose requests carry neither `history` nor `session`."""
        return self.turn is not None and not {"history", "session"} & set(carried)

    def needs_session(self, carried: Collection[str]) -> bool:
        return self.turn is not None and "session" in carried and "history" not in carried

    @property
    def lacks_session(self) -> bool:
        """True after the first turn if no reply has named a session."""
        return (self.turn or 1) > 1 and self.session is None


NO_CONVERSATION = ConversationState()


@dataclass(slots=True)
class Dialogue:
    """The answered turns of a conversation with the system, so that the next turn can be asked."""

    history: tuple[EarlierTurn, ...] = ()
    """The turns with the answers as the system gave them, secrets included."""

    recorded: tuple[EarlierTurn, ...] = ()
    """The same turns without secrets, for the judge and the record."""

    session: str | float | None = None
    """The last session that a reply named."""

    def next_turn(self, question: Question, *, recorded: bool = False) -> Question:
        """The question with the turns and the session so far, for the system, or *recorded* for judge and record."""
        return replace(question, history=self.recorded if recorded else self.history, session=self.session)

    def has(self, question: Question) -> bool:
        return question.turn is not None and len(self.history) >= question.turn

    def add(self, question: Question, given: RagAnswer, answer: RagAnswer) -> None:
        """Add an answered turn; *answer* is *given* without secrets."""
        self.history = (*self.history, earlier_turn(question, given))
        self.recorded = (*self.recorded, earlier_turn(question, answer))
        self.session = self.session if given.session is None else given.session


def earlier_turn(question: Question, answer: RagAnswer) -> EarlierTurn:
    text = answer.text if question.is_answered else None
    return EarlierTurn(question=question.question, answer=text, contexts=answer.contexts)
