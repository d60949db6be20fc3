"""A language model as judge, behind any OpenAI-compatible server."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_ragcheck.judging.chat import Chat, Wanted
from pytest_ragcheck.judging.enclosure import new_nonce
from pytest_ragcheck.judging.formats import RequestForm
from pytest_ragcheck.judging.judgement import JudgeIdentity
from pytest_ragcheck.judging.material import digest_of
from pytest_ragcheck.judging.model_server import ModelServer
from pytest_ragcheck.judging.prompt import load_prompt
from pytest_ragcheck.judging.reply_schema import reply_schema

if TYPE_CHECKING:
    from openai import AsyncOpenAI

    from pytest_ragcheck.judging.judgement import Judgement
    from pytest_ragcheck.judging.prompt import JudgePrompt
    from pytest_ragcheck.questions.question import Question
    from pytest_ragcheck.rag.answer import RagAnswer


class OpenAIJudge:
    """
    Asks a model through chat completions for a verdict, reads it strictly, and asks once more if it cannot be read.

    One judge is used from one event loop; it may be made on another thread.

    Args:
        model: The model's name at the server.
        api_key: What the server wants as key; a server that wants none takes any.
        base_url: The API's base, such as `http://localhost:8000/v1`; `ModelServer` says more.
        prompt: The instructions; None: the packaged English ones.
        timeout_seconds: For one request from its start to the last byte, > 0.
        max_retries: How often a request that failed in passing is repeated, >= 0; `ModelServer` says after what.
        client: A client that is used as it is, with its own URL, key, headers and retries; `aclose` leaves it open.

    Raises:
        UsageError: the model's name or the key is empty, the key cannot stand in a header, or the URL is none.
    """

    identity: JudgeIdentity

    fingerprint: str
    """Digest of all that a verdict depends on beside question and answer; empty with a client of the caller's."""

    def __init__(
        self,
        *,
        model: str,
        api_key: str,
        base_url: str | None = None,
        prompt: JudgePrompt | None = None,
        timeout_seconds: float = 60.0,
        max_retries: int = 2,
        client: AsyncOpenAI | None = None,
    ) -> None:
        server = ModelServer(
            model=model,
            api_key=api_key,
            base_url=base_url,
            timeout_seconds=timeout_seconds,
            max_retries=max_retries,
            client=client,
        )
        self.chat = Chat(server)
        """The model, for whoever has further questions to it."""

        self.prompt = prompt or load_prompt("en")
        """What the model is told."""

        self._wanted = Wanted(
            name="judgement",
            schema=reply_schema(),
            read=_read,
            advice="Take a model that follows formats more closely, or look at rag_judge_prompt.",
            repair=self.prompt.repair,
        )
        self.identity = JudgeIdentity(
            kind="openai", model=server.model, url=server.shown_url, prompt_version=self.prompt.version
        )
        # The server takes what it can of the best form, so that stands for what it really takes.
        asked = RequestForm().parameters(self._wanted.name, self._wanted.schema)
        self.fingerprint = server.fingerprint and digest_of(
            [server.fingerprint, self.prompt.digest, self.prompt.repair, asked]
        )

    async def judge(self, question: Question, answer: RagAnswer) -> Judgement:
        """
        The model's verdict.

        Raises:
            JudgeUnavailable: the server gave no reply; carries its status and Retry-After, where there were any.
            JudgeReplyError: the model declined, or twice replied without a verdict that can be read.
        """
        nonce = new_nonce()
        return await self.chat.ask(self.prompt.render(question, answer, nonce=nonce), self._wanted, nonce=nonce)

    async def aclose(self) -> None:
        """Closes the connections, unless the client is the caller's."""
        await self.chat.server.aclose()


def _read(text: str, *, nonce: str) -> Judgement:
    from pytest_ragcheck.judging.reply import read_reply  # noqa: PLC0415 - not needed before there is a reply

    return read_reply(text, nonce=nonce)
