"""A language model as judge, behind any OpenAI-compatible server."""

from __future__ import annotations

import re
from functools import partial
from typing import TYPE_CHECKING, Any, cast
from urllib.parse import parse_qsl, urlsplit, urlunsplit

import anyio
import anyio.to_thread

from pytest_ragcheck.errors import JudgeError, JudgeReplyError, UsageError
from pytest_ragcheck.judging.completion import Declined, NotACompletion, ReplyText, reply_text
from pytest_ragcheck.judging.enclosure import new_nonce
from pytest_ragcheck.judging.failures import Failures
from pytest_ragcheck.judging.formats import Negotiation, RequestForm
from pytest_ragcheck.judging.judgement import JudgeIdentity
from pytest_ragcheck.judging.prompt import load_prompt
from pytest_ragcheck.judging.reply import read_reply
from pytest_ragcheck.judging.server_address import (
    OPENAI_URL,
    checked_key,
    checked_url,
    environment_url,
    host_and_path,
    origin,
)
from pytest_ragcheck.redaction import Redactor, url_secrets

if TYPE_CHECKING:
    from openai import AsyncOpenAI

    from pytest_ragcheck.judging.judgement import Judgement
    from pytest_ragcheck.judging.prompt import JudgePrompt
    from pytest_ragcheck.questions.question import Question
    from pytest_ragcheck.rag.answer import RagAnswer

_OWN_HEADER = re.compile(r"accept$|content-type$|user-agent$|x-stainless-", re.IGNORECASE)
_LONGEST_SENT_BACK = 20_000
_LONGEST_RETRY_WAIT_SECONDS = 120.0
"""The SDK honours a Retry-After up to this."""


class OpenAIJudge:
    """
    Asks a model through chat completions for a verdict, reads it strictly, and asks once more if it cannot be read.

    One judge is used from one event loop; it may be made on another thread. The `openai` package, slow to import,
    is imported at the first question, beside the loop.

    Args:
        model: The model's name at the server.
        api_key: What the server wants as key; a server that wants none takes any.
        base_url: The API's base, such as `http://localhost:8000/v1`. User and password in it are sent as HTTP's
            Basic scheme, a query goes with every request. None: the environment's OPENAI_BASE_URL as it is now,
            else OpenAI's.
        prompt: The instructions; None: the packaged English ones.
        timeout_seconds: For one request from its start to the last byte, > 0.
        max_retries: How often the SDK repeats a request that met a 408, 409, 429, 5xx or a broken connection, >= 0.
        client: A client that is used as it is, with its own URL, key, headers and retries; `aclose` leaves it open.

    Raises:
        UsageError: the model's name or the key is empty, the key cannot stand in a header, or the URL is none.
    """

    identity: JudgeIdentity

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
        if not model.strip():
            raise UsageError("the openai judge needs a model. Name it by --rag-judge-model.")
        self._model = model.strip()
        self._key = checked_key(api_key) if client is None else str(client.api_key)
        self._url = checked_url(base_url or environment_url()) if client is None else str(client.base_url)
        self._is_foreign = origin(self._url) != origin(environment_url())
        self._prompt = prompt or load_prompt("en")
        self._timeout_seconds = timeout_seconds
        self._max_retries = max_retries
        self._client, self._own_client = client, client is None
        self._headers: dict[str, Any] = {}
        self._connecting = anyio.Lock()
        self._negotiation = Negotiation()
        shown = host_and_path(self._url)
        self._failures = Failures(
            model=self._model,
            url=shown,
            timeout_seconds=timeout_seconds,
            redactor=Redactor([self._key, *url_secrets(self._url)]),
        )
        self.identity = JudgeIdentity(
            kind="openai",
            model=self._model,
            url=None if shown == OPENAI_URL else shown,
            prompt_version=self._prompt.version,
        )

    async def judge(self, question: Question, answer: RagAnswer) -> Judgement:
        """
        The model's verdict.

        Raises:
            JudgeUnavailable: the server gave no reply; carries its status and Retry-After, where there were any.
            JudgeReplyError: the model declined, or twice replied without a verdict that can be read.
        """
        nonce = new_nonce()
        messages = [{"role": "user", "content": self._prompt.render(question, answer, nonce=nonce)}]
        reply = await self._ask(messages)
        try:
            return read_reply(reply.text, nonce=nonce)
        except JudgeReplyError as error:
            messages += _repair_turn(reply, _problem(reply, error))
        reply = await self._ask(messages)
        try:
            return read_reply(reply.text, nonce=nonce)
        except JudgeReplyError as error:
            failure = self._failures.of_reply(_problem(reply, error), reply.text)
        raise failure

    async def aclose(self) -> None:
        """Closes the connections, unless the client is the caller's."""
        if self._own_client and self._client is not None:
            client, self._client = self._client, None
            await client.close()

    async def _ask(self, messages: list[dict[str, str]]) -> ReplyText:
        client = await self._connected()
        import openai  # noqa: PLC0415 - imported by now, in a thread

        failure: JudgeError
        # Raised outside of the handlers: the SDK's errors quote the server, and servers quote keys.
        try:
            return reply_text(await self._negotiation.ask(partial(self._create, client, messages)))
        except NotACompletion as other:
            failure = self._failures.of_other_content(str(other), other.sent)
        except Declined as declined:
            failure = self._failures.of_declining(str(declined))
        except (TimeoutError, openai.APITimeoutError):
            failure = self._failures.of_timeout()
        except openai.APIStatusError as error:
            failure = self._failures.of_status(
                error.status_code, code=error.code, body=error.body, headers=error.response.headers
            )
        except openai.OpenAIError as error:
            failure = self._failures.of_connection(error.__cause__ or error)
        except (ValueError, RecursionError):  # from the SDK's own json.loads of the body
            failure = self._failures.of_other_content("a body that is not JSON")
        raise failure

    async def _create(self, client: AsyncOpenAI, messages: list[dict[str, str]], form: RequestForm) -> Any:
        # The SDK's limit is for each read, so a server that drips bytes would never meet it.
        waits = self._max_retries * (self._timeout_seconds + _LONGEST_RETRY_WAIT_SECONDS)
        with anyio.fail_after(self._timeout_seconds + waits):
            return await cast("Any", client.chat.completions).create(
                model=self._model, messages=messages, extra_headers=self._headers, **form.parameters()
            )

    async def _connected(self) -> AsyncOpenAI:
        async with self._connecting:
            if self._client is None:
                self._client = await anyio.to_thread.run_sync(self._new_client)
            return self._client

    def _new_client(self) -> AsyncOpenAI:
        import openai  # noqa: PLC0415 - costs 0.7 s of CPU

        parts = urlsplit(self._url)
        client = openai.AsyncOpenAI(
            api_key=self._key,
            base_url=urlunsplit(parts._replace(query="", fragment="")),
            default_query=dict(parse_qsl(parts.query)),
            timeout=self._timeout_seconds,
            max_retries=self._max_retries,
        )
        if self._is_foreign:
            # OPENAI_ORG_ID, OPENAI_PROJECT_ID and OPENAI_CUSTOM_HEADERS are about another server than this one.
            foreign = [name for name in client.default_headers if not _OWN_HEADER.match(name)]
            self._headers = {**dict.fromkeys(foreign, openai.Omit()), "Authorization": f"Bearer {self._key}"}
        _ = client.chat.completions  # imports what the first request needs
        return client


def _problem(reply: ReplyText, error: JudgeReplyError) -> str:
    if not reply.text.strip():
        return "the reply is empty"
    return f"the reply was cut off before its end: {error}" if reply.cut_off else str(error)


def _repair_turn(reply: ReplyText, problem: str) -> list[dict[str, str]]:
    """The further messages; none after an empty reply, which some servers do not take back: the same is asked anew."""
    if not reply.text.strip():
        return []
    said = reply.text[:_LONGEST_SENT_BACK].encode("utf-8", "replace").decode("utf-8")
    wanted = (
        f"This cannot be read as your verdict: {problem}. "
        "Reply again, with nothing but the one JSON object that was asked for, all its fields filled in."
    )
    return [{"role": "assistant", "content": said}, {"role": "user", "content": wanted}]
