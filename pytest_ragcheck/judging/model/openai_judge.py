"""Judges by a language model on an OpenAI-compatible server."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from functools import cache, partial
from typing import TYPE_CHECKING, Any

from pytest_ragcheck.errors import UsageError
from pytest_ragcheck.frozen import replace
from pytest_ragcheck.judging.judge_prompt import JudgePrompt, Nonces, load_prompt
from pytest_ragcheck.judging.judgement import JudgeIdentity, Judgement, digest_of, grounding_contexts
from pytest_ragcheck.judging.model.chat import Chat, ExpectedReply, RequestFormat
from pytest_ragcheck.judging.model.model_server import ModelServer
from pytest_ragcheck.package_text import package_text

if TYPE_CHECKING:
    from openai import AsyncOpenAI

    from pytest_ragcheck.questions.question import Question
    from pytest_ragcheck.rag.answer import RagAnswer


@cache
def reply_schema() -> dict[str, Any]:
    """
    The JSON schema of the judge's reply in strict form: every field is required, and no others are allowed.

    The file is written from `JudgeReply`, whose import takes 0.05 s and is not needed before the first reply.
    """
    schema: dict[str, Any] = json.loads(package_text("judging/prompts/reply.schema.json"))
    return schema


class OpenAIJudge:
    """
    Asks a model through chat completions for a verdict, with one repair turn if the reply cannot be read.

    A judge is used from one event loop; it may be created in another thread.

    Args:
        model: The model's name on the server.
        api_key: The server's key; a server without keys takes any. Not used with a `client`.
        base_url: The API's base, such as `http://localhost:8000/v1`. User and password are sent as Basic
            authentication, and a query is added to every request. None: OPENAI_BASE_URL, or else OpenAI's own.
        prompt: The instructions; None takes the packaged English ones.
        timeout_seconds: Limit of one request from its start to the last byte, > 0.
        max_retries: Number of retries after a transient failure of the server or the connection, >= 0.
        client: An `AsyncOpenAI` with its own URL, key, headers and retries; `aclose` leaves it open.
        headers: Further headers of every request, which replace the key's; not used with a `client`.
        parameters: Further parameters of every request, such as `{"max_tokens": 4096}`.
        secrets: Secrets in the headers, besides the values of headers whose name says that they are secret.

    Raises:
        UsageError: The model's name or the key is empty, the key cannot be sent in a header, or the URL is invalid.
    """

    identity: JudgeIdentity

    fingerprint: str
    """Digest of everything that a verdict depends on besides question and answer; empty with a `client`."""

    def __init__(
        self,
        *,
        model: str,
        api_key: str = "",
        base_url: str | None = None,
        prompt: JudgePrompt | None = None,
        timeout_seconds: float = 60.0,
        max_retries: int = 2,
        client: AsyncOpenAI | None = None,
        headers: Mapping[str, str] | None = None,
        parameters: Mapping[str, Any] | None = None,
        secrets: Iterable[str] = (),
    ) -> None:
        server = ModelServer(
            model=model,
            api_key=api_key,
            base_url=base_url,
            timeout_seconds=timeout_seconds,
            max_retries=max_retries,
            client=client,
            headers=headers,
            parameters=parameters,
            secrets=secrets,
        )
        self.chat = Chat(server)
        """The model, for other questions to it."""

        if not isinstance(prompt, JudgePrompt | None):
            raise UsageError(f"OpenAIJudge: prompt is {prompt!r:.80}. Write prompt=load_prompt(...).")
        self.prompt = prompt or load_prompt("en")

        self._nonces = Nonces()
        self._wanted = ExpectedReply(
            name="judgement",
            schema=reply_schema(),
            read=_read,
            advice="Use a model that follows formats more closely, or look at rag_judge_prompt.",
            repair=self.prompt.repair,
        )
        self._wanted_bare = replace(self._wanted, read=partial(_read, bare=True))
        self.identity = JudgeIdentity(
            kind="openai",
            model=server.model,
            url=server.shown_url,
            prompt_version=self.prompt.version,
            parameters=server.parameters,
        )
        # The format that the server accepts is unknown here, so the best one is used.
        asked = RequestFormat().parameters(self._wanted.name, self._wanted.schema)
        self.fingerprint = server.fingerprint and digest_of(
            [server.fingerprint, self.prompt.digest, self.prompt.repair, asked]
        )

    async def judge(self, question: Question, answer: RagAnswer) -> Judgement:
        """
        The model's verdict.

        Raises:
            JudgeUnavailable: The server gave no reply.
            JudgeReplyError: The model declined, or two replies could not be read.
        """
        nonce = self._nonces.of(question.question)
        prompt = self.prompt.render(question, answer, nonce=nonce)
        wanted = self._wanted if _may_hold_verdict(question, answer) else self._wanted_bare
        reply = await self.chat.reply(prompt, wanted, nonce=nonce)
        return replace(reply.value, served_by=reply.served_by)

    async def aclose(self) -> None:
        await self.chat.server.aclose()


def _may_hold_verdict(question: Question, answer: RagAnswer) -> bool:
    # True if the model could copy a verdict from the material.
    earlier = (text for turn in question.history for text in (turn.question, turn.answer or ""))
    contexts = grounding_contexts(question, answer)
    material = (question.question, *question.acceptable_answers, *contexts, answer.text, *earlier)
    # JSON can also write a letter of the name as an escape.
    named = any("answer_correctness" in text or "\\u" in text for text in material)
    return named and any("{" in text for text in material)


def _read(text: str, *, nonce: str, bare: bool = False) -> Judgement:
    from pytest_ragcheck.judging.model.judge_reply import read_reply

    return read_reply(text, nonce=nonce, bare=bare)
