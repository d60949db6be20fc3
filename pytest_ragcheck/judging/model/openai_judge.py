"""Judges by a language model on an OpenAI-compatible server."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cache, partial
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, WithJsonSchema

from pytest_ragcheck.errors import JudgeReplyError, UsageError
from pytest_ragcheck.frozen import replace
from pytest_ragcheck.judging.judgement import JudgeIdentity, Judgement, SentenceSupport, digest_of, grounding_contexts
from pytest_ragcheck.judging.model.chat import AsksModel, Chat, ExpectedReply, RequestFormat
from pytest_ragcheck.judging.model.model_server import ModelServer
from pytest_ragcheck.judging.model.reply_object import (
    as_bool,
    as_flag,
    as_number,
    as_text,
    as_texts,
    read_object,
    shown,
    strict_schema,
    unlike,
)
from pytest_ragcheck.judging.prompts.judge_prompt import JudgePrompt, Nonces, load_prompt, task_prompt
from pytest_ragcheck.package_text import package_text
from pytest_ragcheck.questions.question import Question
from pytest_ragcheck.rag.answer import RagAnswer

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
    from pytest_ragcheck.judging.model.openai_judge import read_reply

    return read_reply(text, nonce=nonce, bare=bare)


_BARE = ("answer_correctness", "groundedness", "error_message")
"""The fields that a user's own prompt requests."""


def _score(value: Any) -> float:
    number = as_number(value)
    if not 0 <= number <= 1:
        raise ValueError(f"is {number:.9g}, outside 0..1")
    return number


_Score = Annotated[float, Field(ge=0, le=1), BeforeValidator(_score)]


class JudgeReply(BaseModel):
    """The fields of the judge's reply. The JSON schema in the request is made from this class."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    # The schema allows any string: a constant would make servers compile a new schema for every question.
    nonce: str
    unsupported_claims: Annotated[tuple[str, ...], BeforeValidator(as_texts)] = ()
    abstained: Annotated[bool | None, BeforeValidator(as_flag), WithJsonSchema({"type": "boolean"})] = None
    answer_correctness: _Score
    groundedness: _Score
    error_message: Annotated[str, BeforeValidator(as_text)] = ""


def read_reply(text: str, *, nonce: str, bare: bool = False) -> Judgement:
    """The judgement in a reply; `read_object` describes the text that may surround it, and the errors."""
    reply = read_object(text, JudgeReply, nonce=nonce, bare=_BARE if bare else ())
    return Judgement(
        answer_correctness=reply.answer_correctness,
        groundedness=reply.groundedness,
        error_message=reply.error_message.strip(),
        abstained=reply.abstained,
        unsupported_claims=reply.unsupported_claims,
    )


async def ask_support(
    chat: AsksModel,
    question: Question,
    answer: RagAnswer,
    sentences: Sequence[tuple[str, Sequence[int]]],
    passages: Sequence[str],
    *,
    nonce: str,
) -> tuple[SentenceSupport, ...]:
    """
    Return the support of each sentence, by one reply of the model.

    The sentences are without markers, each with the numbers of the passages that it cites, from 1. The model gets no
    other passages.

    Raises:
        JudgeError: The model gave no readable reply.
    """
    material = [
        {"number": number, "sentence": text, "cites": sorted(set(cites))}
        for number, (text, cites) in enumerate(sentences, 1)
    ]
    of_passages = replace(answer, contexts=tuple(passages))
    message = task_prompt("citations").render(question, of_passages, nonce=nonce, sentences=material)
    cited = tuple(frozenset(cites) for _, cites in sentences)
    wanted = ExpectedReply(name="citations", schema=strict_schema(SupportReply), read=partial(_read, cited=cited))
    return await chat.ask(message, wanted, nonce=nonce)


def _whole(value: Any) -> int:
    number = as_number(value)
    if number != int(number):
        raise ValueError(f"is {shown(value)}, not a whole number")
    return int(number)


def _numbers(value: Any) -> tuple[int, ...]:
    if not isinstance(value, list):
        raise unlike(value, "a list of numbers")
    return tuple(map(_whole, value))


_Numbers = Annotated[
    tuple[int, ...], BeforeValidator(_numbers), WithJsonSchema({"type": "array", "items": {"type": "integer"}})
]


class _SentenceReply(BaseModel):
    model_config = ConfigDict(extra="ignore", frozen=True)

    number: Annotated[int, BeforeValidator(_whole)]
    supported: Annotated[bool, BeforeValidator(as_bool)]
    alone: _Numbers
    needed: _Numbers


class SupportReply(BaseModel):
    """The fields of the model's reply. The JSON schema in the request is made from this class."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    nonce: str
    sentences: tuple[_SentenceReply, ...]


def _read(text: str, *, nonce: str, cited: tuple[frozenset[int], ...]) -> tuple[SentenceSupport, ...]:
    # The support of each sentence; raises a JudgeReplyError if one is missing, or names a passage not cited.
    sentences = read_object(text, SupportReply, nonce=nonce).sentences
    by_number = {each.number: each for each in sentences}
    if len(sentences) > len(by_number) or by_number.keys() != set(range(1, len(cited) + 1)):
        found = ", ".join(str(each.number) for each in sentences) or "none"
        raise JudgeReplyError(f'"sentences" has the numbers {found}, not each from 1 to {len(cited)}')
    for number, passages in enumerate(cited, 1):
        if foreign := {*by_number[number].alone, *by_number[number].needed} - passages:
            raise JudgeReplyError(f"sentence {number} does not cite passage {min(foreign)}")
    return tuple(
        SentenceSupport(supported=each.supported, alone=frozenset(each.alone), needed=frozenset(each.needed))
        for _, each in sorted(by_number.items())
    )
