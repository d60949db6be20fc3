"""Finds out, once a run, how a server lets us ask for JSON."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import Enum
from typing import TYPE_CHECKING, Any, TypeVar

import anyio

from pytest_ragcheck.judging.model_requests import Refused

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping

T = TypeVar("T")

# 404: a router without a backend that takes the parameters. 500: what some servers make of a schema.
_REFUSING_STATUSES = frozenset({400, 404, 415, 422, 500, 501})
_OTHER_CAUSES = frozenset({"model_not_found", "context_length_exceeded", "content_filter", "invalid_api_key"})


class ReplyFormat(Enum):
    """How the reply's form is asked for, the most binding first."""

    JSON_SCHEMA = "json_schema"
    JSON_OBJECT_WITH_SCHEMA = "json_object with schema"
    JSON_OBJECT = "json_object"
    PLAIN = "plain"


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestForm:
    """The parameters of a request beside model and messages."""

    reply_format: ReplyFormat = ReplyFormat.JSON_SCHEMA
    temperature: bool = True
    """True: temperature 0 is sent, for verdicts that repeat; some models take none but their own."""

    def parameters(self, name: str, schema: Mapping[str, Any]) -> dict[str, Any]:
        """The keyword arguments that ask for a reply of that schema in this form."""
        parameters: dict[str, Any] = {"temperature": 0} if self.temperature else {}
        if self.reply_format is ReplyFormat.JSON_SCHEMA:
            named = {"name": name, "strict": True, "schema": schema}
            parameters["response_format"] = {"type": "json_schema", "json_schema": named}
        elif self.reply_format is ReplyFormat.JSON_OBJECT_WITH_SCHEMA:
            parameters["response_format"] = {"type": "json_object", "schema": schema}
        elif self.reply_format is ReplyFormat.JSON_OBJECT:
            parameters["response_format"] = {"type": "json_object"}
        return parameters


_BARE = RequestForm(reply_format=ReplyFormat.PLAIN, temperature=False)


class Negotiation:
    """
    The form of request that one server takes.

    Everybody asks in the best form until it is refused, so nothing waits where a server takes it. The first who is
    refused finds the form that works, while the others who were refused wait for what it finds.
    """

    def __init__(self) -> None:
        self._form = RequestForm()
        self._settled = False
        self._searching = anyio.Lock()

    async def ask(self, create: Callable[[RequestForm], Awaitable[T]]) -> T:
        """
        What `create` returns in the best form that the server takes.

        Raises:
            Exception: whatever `create` raises; if the server refuses even the barest form, its refusal of that.
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
            async with self._searching:
                if not self._settled:
                    return await self._search(create, form, refusal)

    async def _search(self, create: Callable[[RequestForm], Awaitable[T]], refused: RequestForm, why: Refused) -> T:
        if why.param == "temperature":
            form = replace(refused, temperature=False)
            if (reply := await _unless_refused(create, form)) is not None:
                return self._settle(form, reply)
        # The barest form first: if that fails too, the trouble is another and was found in one request.
        bare = await create(_BARE)
        plain = await _unless_refused(create, replace(_BARE, temperature=True))
        temperature = plain is not None
        for reply_format in (ReplyFormat.JSON_SCHEMA, ReplyFormat.JSON_OBJECT_WITH_SCHEMA, ReplyFormat.JSON_OBJECT):
            form = RequestForm(reply_format=reply_format, temperature=temperature)
            # A 5xx may have been an outage that is over.
            if form == refused and why.status < 500:
                continue
            if (reply := await _unless_refused(create, form)) is not None:
                return self._settle(form, reply)
        return self._settle(replace(_BARE, temperature=temperature), bare if plain is None else plain)

    def _settle(self, form: RequestForm, reply: T) -> T:
        self._form, self._settled = form, True
        return reply


async def _unless_refused(create: Callable[[RequestForm], Awaitable[T]], form: RequestForm) -> T | None:
    try:
        return await create(form)
    except Refused as error:
        if _may_be_about_the_form(error):
            return None
        raise


def _may_be_about_the_form(error: Refused) -> bool:
    return error.status in _REFUSING_STATUSES and error.code not in _OTHER_CAUSES
