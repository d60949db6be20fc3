"""Finds the request format for JSON that a server accepts."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from enum import Enum
from typing import Any, TypeVar
from weakref import WeakKeyDictionary

from pytest_ragcheck.frozen import frozen
from pytest_ragcheck.judging.model.completion import Refused

T = TypeVar("T")

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
