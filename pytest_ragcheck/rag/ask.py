"""Asks a client, the user's own included, and accepts only an answer that can be judged."""

from __future__ import annotations

import inspect
import math
from collections.abc import Collection, Mapping
from functools import partial
from typing import Any

from pytest_ragcheck.errors import EndpointError, EndpointReplyError
from pytest_ragcheck.frozen import replace
from pytest_ragcheck.questions.question import Question
from pytest_ragcheck.rag.answer import Asks, RagAnswer
from pytest_ragcheck.scores.score import number


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
    return type(client).__qualname__ if endpoint is None else str(endpoint)


def is_async(function: Any) -> bool:
    return inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(type(function).__call__)


async def settled(function: Any, *arguments: Any, **keywords: Any) -> Any:
    """The function's result, awaited; a plain function runs in a thread, so that it does not block the loop."""
    if is_async(function):
        return await function(*arguments, **keywords)
    from pytest_ragcheck.concurrency.threads import in_thread

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
