"""Caches the judge model's other replies, so that a later run does not ask again."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from pytest_ragcheck.errors import JudgeReplyError
from pytest_ragcheck.judging.judged_material import digest_of

if TYPE_CHECKING:
    from pytest_ragcheck.judging.model.chat import Chat, ExpectedReply

T = TypeVar("T")


class Keeps(Protocol):
    """A cache of JSON values by key, which returns each value once in a run."""

    async def take_kept(self, key: str) -> Any:
        """Return the value that an earlier run kept; None without one."""
        ...

    async def keep(self, key: str, value: Any) -> None:
        """Keep the value for later runs."""
        ...


class CachingChat:
    """
    Asks a model only if the cache has no reply; a reply that cannot be read is not kept.

    The key is a digest of the model, its server, the reply schema, and the whole prompt except its nonce: the
    instructions, the question, the accepted answers, the contexts and the answer.

    Args:
        chat: The model.
        cache: The cache, which this class does not close.
        afresh: True to ask the model even if the cache has a reply.
    """

    def __init__(self, chat: Chat, cache: Keeps, *, afresh: bool = False) -> None:
        self.server = chat.server
        self._chat = chat
        self._cache = cache
        self._afresh = afresh

    async def ask(self, prompt: str, wanted: ExpectedReply[T], *, nonce: str) -> T:
        """
        Return the parsed reply of the model, from now or from an earlier run. The arguments are those of `Chat.ask`.

        Raises:
            JudgeError: As `Chat.ask` does.
        """
        key = digest_of([self.server.fingerprint, wanted.name, wanted.schema, prompt.replace(nonce, "")])
        kept = None if self._afresh else await self._cache.take_kept(key)
        if isinstance(kept, dict):
            try:
                return wanted.read(str(kept.get("text")), nonce=str(kept.get("nonce")))
            except JudgeReplyError:
                pass  # written by another version, or edited
        reply = await self._chat.reply(prompt, wanted, nonce=nonce)
        await self._cache.keep(key, {"nonce": nonce, "text": reply.text})
        return reply.value
