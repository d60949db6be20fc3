"""Asks a model through chat completions for one JSON object, in a request format that its server accepts."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from enum import Enum
from functools import partial
from typing import TYPE_CHECKING, Any, Generic, TypeVar
from weakref import WeakKeyDictionary

from pytest_ragcheck.errors import JudgeReplyError
from pytest_ragcheck.frozen import frozen
from pytest_ragcheck.judging.judge_prompt import REPAIR
from pytest_ragcheck.judging.model.completion import (
    Refused,
    ReplyText,
    check_for_error,
    member,
    note_use,
    reply_text,
    reported_use,
    tokens_of_cut,
)

if TYPE_CHECKING:
    from pytest_ragcheck.judging.model.model_server import ModelServer

T = TypeVar("T")

_LONGEST_SENT_BACK = 20_000
_UNREADABLE = "json_validate_failed"
"""Groq's code for one reply of the model that is not the requested JSON."""

_MORE_TOKENS = "Raise max_tokens in rag_judge_parameters, or lower reasoning_effort there."

# 404: a router has no backend for the parameters. 500: some servers fail on a schema.
_REFUSING_STATUSES = frozenset({400, 404, 415, 422, 500, 501})
_OTHER_CAUSES = frozenset({"model_not_found", "context_length_exceeded", "invalid_api_key"})


class ResponseFormat(Enum):
    """The ways to request JSON, the strictest first."""

    JSON_SCHEMA = "json_schema"
    JSON_OBJECT_WITH_SCHEMA = "json_object with schema"
    JSON_OBJECT = "json_object"
    PLAIN = "plain"


@frozen
class RequestFormat:
    """The parameters of a request besides model and messages."""

    reply_format: ResponseFormat = ResponseFormat.JSON_SCHEMA
    temperature: bool = True
    """True sends temperature 0, for repeatable verdicts; some models reject it."""

    def parameters(self, name: str, schema: Mapping[str, Any]) -> dict[str, Any]:
        parameters: dict[str, Any] = {"temperature": 0} if self.temperature else {}
        if self.reply_format is ResponseFormat.JSON_SCHEMA:
            named = {"name": name, "strict": True, "schema": schema}
            parameters["response_format"] = {"type": "json_schema", "json_schema": named}
        elif self.reply_format is ResponseFormat.JSON_OBJECT_WITH_SCHEMA:
            parameters["response_format"] = {"type": "json_object", "schema": schema}
        elif self.reply_format is ResponseFormat.JSON_OBJECT:
            parameters["response_format"] = {"type": "json_object"}
        return parameters


_BARE = RequestFormat(reply_format=ResponseFormat.PLAIN, temperature=False)


class FormatSearch:
    """
    Finds the request format that one server accepts.

    All requests use the best format until one is refused. The first refused request searches for a format that works,
    and the other refused requests wait for the result.
    """

    def __init__(self) -> None:
        self._form = RequestFormat()
        self._settled = False
        self._searching: WeakKeyDictionary[asyncio.AbstractEventLoop, asyncio.Lock] = WeakKeyDictionary()

    async def ask(self, create: Callable[[RequestFormat], Awaitable[T]]) -> T:
        """
        The result of `create` with the best format that the server accepts.

        Raises:
            Exception: The error of `create`; if the server refuses every format, its refusal of the barest one.
        """
        while True:
            form, settled = self._form, self._settled
            try:
                reply = await create(form)
            except Refused as error:
                if settled or not _may_be_about_the_form(error):
                    raise
                refusal = error
            else:
                self._settled = True
                return reply
            # A lock of asyncio belongs to one loop, but a judge may be used in several.
            async with self._searching.setdefault(asyncio.get_running_loop(), asyncio.Lock()):
                if not self._settled:
                    return await self._search(create, form, refusal)

    async def _search(self, create: Callable[[RequestFormat], Awaitable[T]], refused: RequestFormat, why: Refused) -> T:
        if why.param == "temperature":
            form = replace(refused, temperature=False)
            if (reply := await _unless_refused(create, form)) is not None:
                return self._settle(form, reply)
        # The barest format first: if it fails too, the format is not the cause.
        bare = await create(_BARE)
        plain = await _unless_refused(create, replace(_BARE, temperature=True))
        temperature = plain is not None
        for reply_format in list(ResponseFormat)[:-1]:
            form = RequestFormat(reply_format=reply_format, temperature=temperature)
            # A 5xx may have been an outage, so the format is tried again.
            if form == refused and why.status < 500:
                continue
            if (reply := await _unless_refused(create, form)) is not None:
                return self._settle(form, reply)
        return self._settle(replace(_BARE, temperature=temperature), bare if plain is None else plain)

    def _settle(self, form: RequestFormat, reply: T) -> T:
        self._form, self._settled = form, True
        return reply


async def _unless_refused(create: Callable[[RequestFormat], Awaitable[T]], form: RequestFormat) -> T | None:
    try:
        return await create(form)
    except Refused as error:
        if _may_be_about_the_form(error):
            return None
        raise


def _may_be_about_the_form(error: Refused) -> bool:
    other_cause = error.code in _OTHER_CAUSES or error.wrong_key or error.declined is not None
    return error.status in _REFUSING_STATUSES and not other_cause


@frozen
class ExpectedReply(Generic[T]):
    name: str
    """The name of the schema, in letters and underscores."""

    schema: Mapping[str, Any]
    """A strict schema: every field is required, and no others are allowed."""

    read: Callable[..., T]
    """Called with the text and `nonce=`; returns the value, or raises a JudgeReplyError that names the mistake."""

    advice: str = "Use a model that follows formats more closely."
    """The advice to the user if the model's replies cannot be read."""

    repair: str = REPAIR
    """The message of the repair turn, with the placeholder `{problem}`."""


class AsksModel:
    """The model of a judge; a class and no protocol, because the `chat` of a user's judge may have any other `ask`."""

    async def ask(self, prompt: str, wanted: ExpectedReply[T], *, nonce: str) -> T:
        raise NotImplementedError


@frozen
class ModelReply(Generic[T]):
    value: T
    text: str
    """The reply as received."""

    served_by: str
    """See `Judgement`."""


class Chat(AsksModel):
    """Asks one model, by requests that may be concurrent."""

    def __init__(self, server: ModelServer) -> None:
        self.server = server
        self._format = FormatSearch()

    async def ask(self, prompt: str, wanted: ExpectedReply[T], *, nonce: str) -> T:
        """
        The value in the model's reply to a prompt that requests the nonce.

        Raises:
            JudgeUnavailable: The server gave no reply.
            JudgeReplyError: The model declined, or two replies could not be read.
        """
        return (await self.reply(prompt, wanted, nonce=nonce)).value

    async def reply(self, prompt: str, wanted: ExpectedReply[T], *, nonce: str) -> ModelReply[T]:
        """Like `ask`, with the text of the reply."""
        messages = [{"role": "user", "content": prompt}]
        is_repaired = False
        while True:
            reply = await self._reply(messages, wanted)
            try:
                value = wanted.read(reply.text, nonce=nonce)
                return ModelReply(value=value, text=reply.text, served_by=reply.served_by)
            except JudgeReplyError as error:
                problem = _problem(reply, error)
            if is_repaired:
                advice = _MORE_TOKENS if reply.cut_off else wanted.advice
                raise self.server.failures.of_reply(problem, reply.text, advice=advice)
            messages += _repair_turn(reply, wanted.repair.replace("{problem}", problem))
            is_repaired = True

    async def _reply(self, messages: list[dict[str, str]], wanted: ExpectedReply[T]) -> ReplyText:
        async def send() -> ReplyText:
            return reply_text(await self._format.ask(partial(self._create, messages, wanted)))

        return await self.server.call(send)

    async def _create(self, messages: list[dict[str, str]], wanted: ExpectedReply[T], form: RequestFormat) -> Any:
        body = {
            "messages": messages,
            "model": self.server.model,
            **form.parameters(wanted.name, wanted.schema),
        }
        try:
            reply = await self.server.post(body)
        except Refused as refused:
            if refused.code != _UNREADABLE:
                raise
            # The server accepted the format, but the reply does not have it, so a repair turn follows.
            return {"choices": [{"message": {"content": member(refused.error, "failed_generation")}}]}
        note_use(reported_use(reply, model=self.server.model, url=self.server.shown_url))
        check_for_error(reply)
        prompt = messages[0]["content"]
        if tokens := tokens_of_cut(prompt, reply):
            raise self.server.failures.of_cut_prompt(tokens, len(prompt.split()))
        return reply


def _problem(reply: ReplyText, error: JudgeReplyError) -> str:
    if reply.text.strip():
        return f"the reply was cut off before its end: {error}" if reply.cut_off else str(error)
    if reply.cut_off:
        return f"the token limit was reached {'while reasoning, ' if reply.reasoned else ''}before the reply"
    return "the server sent reasoning and no reply" if reply.reasoned else "the reply is empty"


def _repair_turn(reply: ReplyText, asked: str) -> list[dict[str, str]]:
    # None after an empty reply, which some servers reject in a request.
    if not reply.text.strip():
        return []
    content = reply.text[:_LONGEST_SENT_BACK].encode("utf-8", "replace").decode("utf-8")
    return [{"role": "assistant", "content": content}, {"role": "user", "content": asked}]
