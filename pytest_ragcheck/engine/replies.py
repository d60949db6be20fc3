"""What the judge's model replied once to a question beside its verdict, it need not be asked again in a later run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from pytest_ragcheck.errors import JudgeReplyError
from pytest_ragcheck.judging.material import digest_of

if TYPE_CHECKING:
    from pytest_ragcheck.judging.chat import Chat, Wanted

T = TypeVar("T")


class Keeps(Protocol):
    """Holds by key what JSON can hold, and gives it out once a run."""

    def take_kept(self, key: str) -> Any:
        """What an earlier run kept; None if there is nothing."""
        ...

    def keep(self, key: str, value: Any) -> None:
        """Keeps the value for later runs."""
        ...


class CachingChat:
    """
    Asks a model only what the cache does not know; a reply that cannot be read is not kept.

    A reply is known by the model, its server, the form that is asked for, and all of the prompt but its nonce: so by
    the instructions, the question, the accepted answers, the contexts and the answer.

    Args:
        chat: The model.
        cache: Stays open.
        afresh: Whether the model is asked whatever the cache knows.
    """

    def __init__(self, chat: Chat, cache: Keeps, *, afresh: bool = False) -> None:
        self.server = chat.server
        self._chat = chat
        self._cache = cache
        self._afresh = afresh

    async def ask(self, prompt: str, wanted: Wanted[T], *, nonce: str) -> T:
        """
        What the model's reply says, now or in an earlier run; the arguments are those of `Chat.ask`.

        Raises:
            JudgeError: As `Chat.ask` does.
        """
        key = digest_of([self.server.fingerprint, wanted.name, wanted.schema, prompt.replace(nonce, "")])
        kept = None if self._afresh else self._cache.take_kept(key)
        if isinstance(kept, dict):
            try:
                return wanted.read(str(kept.get("text")), nonce=str(kept.get("nonce")))
            except JudgeReplyError:
                pass  # of another version, or of somebody else's hand
        reply = await self._chat.reply(prompt, wanted, nonce=nonce)
        self._cache.keep(key, {"nonce": nonce, "text": reply.text})
        return reply.value
