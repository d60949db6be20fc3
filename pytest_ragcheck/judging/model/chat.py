"""Asks a model through chat completions for one JSON object, with one repair turn if the reply cannot be read."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar

from pytest_ragcheck.errors import JudgeReplyError
from pytest_ragcheck.frozen import frozen
from pytest_ragcheck.judging.model.completion import Refused, ReplyText, check_for_error, member, reply_text
from pytest_ragcheck.judging.model.response_format import FormatSearch, RequestFormat
from pytest_ragcheck.judging.model.usage import note_use, reported_use
from pytest_ragcheck.judging.prompts.judge_prompt import REPAIR

if TYPE_CHECKING:
    from pytest_ragcheck.judging.model.model_server import ModelServer

T = TypeVar("T")

_LONGEST_SENT_BACK = 20_000
_UNREADABLE = "json_validate_failed"
"""Groq's code for one reply of the model that is not the requested JSON."""

_MORE_TOKENS = "Raise max_tokens in rag_judge_parameters, or lower reasoning_effort there."


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


class AsksModel(Protocol):
    async def ask(self, prompt: str, wanted: ExpectedReply[T], *, nonce: str) -> T: ...


@frozen
class ModelReply(Generic[T]):
    value: T
    text: str
    """The reply as received."""

    served_by: str
    """See `Judgement`."""


class Chat:
    """
    Asks one model for JSON, in the request format that its server accepts.

    Requests may be concurrent; the request format is searched for once.
    """

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
        return reply


def _problem(reply: ReplyText, error: JudgeReplyError) -> str:
    if reply.text.strip():
        return f"the reply was cut off before its end: {error}" if reply.cut_off else str(error)
    if reply.cut_off:
        return f"the token limit was reached {'while reasoning, ' if reply.reasoned else ''}before the reply"
    return "the server sent reasoning and no reply" if reply.reasoned else "the reply is empty"


def _repair_turn(reply: ReplyText, asked: str) -> list[dict[str, str]]:
    # The messages of the repair turn; none after an empty reply, which some servers reject in a request.
    if not reply.text.strip():
        return []
    content = reply.text[:_LONGEST_SENT_BACK].encode("utf-8", "replace").decode("utf-8")
    return [{"role": "assistant", "content": content}, {"role": "user", "content": asked}]
