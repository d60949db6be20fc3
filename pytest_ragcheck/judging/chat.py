"""Asks a model through chat completions for one JSON object, reads it strictly, and asks once more if it has to."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar

from pytest_ragcheck.errors import JudgeReplyError
from pytest_ragcheck.judging.completion import ReplyText, reply_text
from pytest_ragcheck.judging.formats import Negotiation, RequestForm
from pytest_ragcheck.judging.prompt import REPAIR
from pytest_ragcheck.judging.usage import note_use, use_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pytest_ragcheck.judging.model_server import ModelServer

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)

_LONGEST_SENT_BACK = 20_000


class Reads(Protocol[T_co]):
    """Reads a reply."""

    def __call__(self, text: str, *, nonce: str) -> T_co:
        """What the reply says, or a JudgeReplyError with what is wrong with it."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted(Generic[T]):
    """One kind of reply that a model is asked for."""

    name: str
    """Of the schema, as servers are told it: letters and underscores."""

    schema: Mapping[str, Any]
    """Strict: every field required, nothing beside."""

    read: Reads[T]

    advice: str = "Take a model that follows formats more closely."
    """What to do where a model does not reply so."""

    repair: str = REPAIR
    """What the model is told once where it does not reply so, with `{problem}` where that is to stand."""


class Asking(Protocol):
    """The seam to a model that is asked for JSON."""

    async def ask(self, prompt: str, wanted: Wanted[T], *, nonce: str) -> T:
        """What the model's reply says; `Chat.ask` says more."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Read(Generic[T]):
    """A reply that could be read."""

    value: T
    text: str
    """The reply as it came."""


class Chat:
    """
    One model that is asked for JSON, in whatever form its server takes.

    Many questions may be asked at once; the form is found out once for all of them.
    """

    def __init__(self, server: ModelServer) -> None:
        self.server = server
        self._negotiation = Negotiation()

    async def ask(self, prompt: str, wanted: Wanted[T], *, nonce: str) -> T:
        """
        What the model's reply says.

        Args:
            prompt: The one message, which tells the model to carry the nonce.
            wanted: What the reply has to be.
            nonce: Drawn for this prompt alone.

        Raises:
            JudgeUnavailable: the server gave no reply; carries its status and Retry-After, where there were any.
            JudgeReplyError: the model declined, or twice replied with nothing that can be read.
        """
        return (await self.reply(prompt, wanted, nonce=nonce)).value

    async def reply(self, prompt: str, wanted: Wanted[T], *, nonce: str) -> Read[T]:
        """As `ask`, with the text of the reply."""
        messages = [{"role": "user", "content": prompt}]
        reply = await self._reply(messages, wanted)
        try:
            return Read(value=wanted.read(reply.text, nonce=nonce), text=reply.text)
        except JudgeReplyError as error:
            messages += _repair_turn(reply, wanted.repair.replace("{problem}", _problem(reply, error)))
        reply = await self._reply(messages, wanted)
        try:
            return Read(value=wanted.read(reply.text, nonce=nonce), text=reply.text)
        except JudgeReplyError as error:
            failure = self.server.failures.of_reply(_problem(reply, error), reply.text, advice=wanted.advice)
        raise failure

    async def _reply(self, messages: list[dict[str, str]], wanted: Wanted[T]) -> ReplyText:
        async def send() -> ReplyText:
            return reply_text(await self._negotiation.ask(partial(self._create, messages, wanted)))

        return await self.server.call(send)

    async def _create(self, messages: list[dict[str, str]], wanted: Wanted[T], form: RequestForm) -> Any:
        body = {
            "messages": messages,
            "model": self.server.model,
            **form.parameters(wanted.name, wanted.schema),
        }
        reply = await self.server.complete(body)
        note_use(use_of(reply, model=self.server.model, url=self.server.shown_url))
        return reply


def _problem(reply: ReplyText, error: JudgeReplyError) -> str:
    if not reply.text.strip():
        return "the reply is empty"
    return f"the reply was cut off before its end: {error}" if reply.cut_off else str(error)


def _repair_turn(reply: ReplyText, asked: str) -> list[dict[str, str]]:
    """The further messages; none after an empty reply, which some servers do not take back: the same is asked anew."""
    if not reply.text.strip():
        return []
    said = reply.text[:_LONGEST_SENT_BACK].encode("utf-8", "replace").decode("utf-8")
    return [{"role": "assistant", "content": said}, {"role": "user", "content": asked}]
