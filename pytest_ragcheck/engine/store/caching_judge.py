"""Asks a judge and its model only if no earlier run has asked the same."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from typing import Any, Protocol, TypeVar

from pytest_ragcheck.concurrency.tasks import closing
from pytest_ragcheck.engine.store.verdict_cache import VerdictCache
from pytest_ragcheck.errors import JudgeReplyError
from pytest_ragcheck.judging.judgement import Judge, JudgeIdentity, Judgement, digest_of, material_digest
from pytest_ragcheck.judging.model.chat import Chat, ExpectedReply
from pytest_ragcheck.questions.question import Question
from pytest_ragcheck.rag.answer import RagAnswer
from pytest_ragcheck.verdict.record import members

T = TypeVar("T")


class Fingerprinted(Judge, Protocol):
    """A judge whose verdicts depend only on its fingerprint, the question and the answer."""

    identity: JudgeIdentity
    fingerprint: str
    """Digest of the model, the server, the prompt and the parameters."""


class CachingJudge:
    """
    Asks the judge only if the cache has no judgement. Errors of the judge are not kept.

    The cache is closed with the judge. *repeat* is the index of this judgement among several of the same answer, from
    0; each has its own entry. With *afresh*, the judge is asked even if the cache has a judgement.
    """

    def __init__(self, judge: Fingerprinted, cache: VerdictCache, *, repeat: int = 0, afresh: bool = False) -> None:
        self.identity = judge.identity
        chat = getattr(judge, "chat", None)
        self.chat = None if chat is None else CachingChat(chat, cache, afresh=afresh)
        """The judge's model behind the same cache; None without one."""

        self.asked = judge
        """The judge behind the cache."""

        self._cache = cache
        self._repeat = repeat
        self._afresh = afresh

    async def judge(self, question: Question, answer: RagAnswer) -> Judgement:
        """The judgement, from the cache (`cached` is True) or from the judge."""
        key = digest_of([self.asked.fingerprint, self._repeat, material_digest(question, answer)])
        known = None if self._afresh else _judgement(await self._cache.take(key))
        if known is not None:
            return known
        judgement = await self.asked.judge(question, answer)
        await self._cache.keep(key, members(judgement))
        return judgement

    def for_repeat(self, index: int) -> CachingJudge:
        """The same judge and cache for another of several judgements of the same answer."""
        return CachingJudge(self.asked, self._cache, repeat=index, afresh=self._afresh)

    def afresh(self) -> CachingJudge:
        return CachingJudge(self.asked, self._cache, repeat=self._repeat, afresh=True)

    async def aclose(self) -> None:
        await closing(self._cache, self.asked).aclose()


class CachingChat:
    """
    Asks a model only if the cache has no reply; a reply that cannot be read is not kept.

    The key is a digest of the model, its server, the reply schema, and the whole prompt except its nonce: the
    instructions, the question, the accepted answers, the contexts and the answer.

    With *afresh*, the model is asked even if the cache has a reply. This class does not close the cache.
    """

    def __init__(self, chat: Chat, cache: VerdictCache, *, afresh: bool) -> None:
        self.server = chat.server
        self._chat = chat
        self._cache = cache
        self._afresh = afresh

    async def ask(self, prompt: str, wanted: ExpectedReply[T], *, nonce: str) -> T:
        """The parsed reply, new or from an earlier run. Arguments and errors are those of `Chat.ask`."""
        key = digest_of([self.server.fingerprint, wanted.name, wanted.schema, prompt.replace(nonce, "")])
        kept = None if self._afresh else await self._cache.take(key)
        if isinstance(kept, dict):
            with suppress(JudgeReplyError):  # written by another version, or edited
                return wanted.read(str(kept.get("text")), nonce=str(kept.get("nonce")))
        reply = await self._chat.reply(prompt, wanted, nonce=nonce)
        await self._cache.keep(key, {"nonce": nonce, "text": reply.text})
        return reply.value


def _judgement(kept: Any) -> Judgement | None:
    # The kept judgement; None if there is none, or it cannot be read.
    try:
        return replace(Judgement.from_wire(kept), cached=True)
    except (AttributeError, KeyError, TypeError, ValueError):
        return None
