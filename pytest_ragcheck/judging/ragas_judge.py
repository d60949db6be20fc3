from __future__ import annotations

import importlib
import math
import os
import warnings
from collections import OrderedDict
from collections.abc import Awaitable
from functools import cache
from importlib.metadata import version
from types import ModuleType
from typing import Any

from pydantic import BaseModel, create_model

from pytest_ragcheck.concurrency.tasks import closing
from pytest_ragcheck.errors import JudgeError, JudgeReplyError, UsageError
from pytest_ragcheck.judging.embeds import Embeds
from pytest_ragcheck.judging.judge_prompt import Nonces
from pytest_ragcheck.judging.judgement import JudgeIdentity, Judgement, digest_of, grounding_contexts, material_digest
from pytest_ragcheck.judging.model.chat import Chat, ExpectedReply
from pytest_ragcheck.judging.model.reply_object import expected_object
from pytest_ragcheck.judging.trial import canaries
from pytest_ragcheck.questions.question import Question
from pytest_ragcheck.rag.answer import RagAnswer
from pytest_ragcheck.scores import Score

_NONCE_FIELD = (
    'Add to the JSON object of your reply the field "nonce": the string "{nonce}", exactly as it stands here.'
)

_WITHOUT_CONTEXTS = Score(0.0)
"""ragas refuses to measure without contexts."""


class RagasMeasurement:
    """
    The ragas metrics of one answer, each measured once; None if the metric is undefined for the answer.

    The model's replies are kept in `replies`, because ragas gives no reasons. A metric ends with the model's first
    failure: ragas itself would send up to forty requests and then return NaN. After an unreadable reply only its metric
    is unscored; an unavailable model raises a `JudgeError`.

    The text of the answer may not be empty.
    """

    def __init__(self, chat: Chat, embeddings: Embeds, question: Question, answer: RagAnswer) -> None:
        self.replies: list[Any] = []
        """The model's replies as values of ragas, in order."""

        self._chat = chat
        self._embeddings = embeddings
        self._failure: JudgeError | None = None
        self._scores: dict[str, Score | None] = {}
        self._nonces = Nonces()
        self._asked = question.question
        self._expected = question.expected_answer or next(iter(question.acceptable_answers), "")
        self._answer = answer.text
        self._contexts = list(answer.contexts)
        self._grounding = list(grounding_contexts(question, answer))
        adapters = ragas_adapters()
        self._llm = adapters.llm(self)
        self._vectors = adapters.vectors(self)
        self._metrics = ragas_metrics()

    async def answer_relevancy(self) -> Score | None:
        metric = self._metrics.AnswerRelevancy(llm=self._llm, embeddings=self._vectors)
        return await self._score(metric, user_input=self._asked, response=self._answer)

    async def answer_correctness(self) -> Score | None:
        """None also if no answer is expected."""
        if not self._expected:
            return None
        metric = self._metrics.AnswerCorrectness(llm=self._llm, embeddings=self._vectors)
        return await self._score(metric, user_input=self._asked, response=self._answer, reference=self._expected)

    async def context_relevance(self) -> Score | None:
        if not any(map(str.strip, self._contexts)):
            return _WITHOUT_CONTEXTS
        metric = self._metrics.ContextRelevance(llm=self._llm)
        return await self._score(metric, user_input=self._asked, retrieved_contexts=self._contexts)

    async def faithfulness(self) -> Score | None:
        """None for an answer without statements."""
        if not any(map(str.strip, self._grounding)):
            return _WITHOUT_CONTEXTS
        metric = self._metrics.Faithfulness(llm=self._llm)
        return await self._score(
            metric, user_input=self._asked, response=self._answer, retrieved_contexts=self._grounding
        )

    async def ask(self, prompt: str, form: type[BaseModel]) -> Any:
        """The model's reply in the form that ragas requests; called by the adapter."""
        nonce = self._nonces.of(prompt)
        try:
            self._stop_if_failed()
            reply = await self._chat.ask(f"{prompt}\n\n{_NONCE_FIELD.format(nonce=nonce)}", _wanted(form), nonce=nonce)
        except JudgeError as error:
            self._failure = error
            raise
        self.replies.append(reply)
        return reply

    async def embed(self, texts: list[str]) -> list[list[float]]:
        """The vectors of the texts, by one request; called by the adapter."""
        try:
            self._stop_if_failed()
            vectors = await self._embeddings.embed(texts)
        except JudgeError as error:
            self._failure = error
            raise
        return [list(vectors[text]) for text in texts]

    def _stop_if_failed(self) -> None:
        if self._failure is not None:
            raise self._failure

    async def _score(self, metric: Any, **material: Any) -> Score | None:
        name = type(metric).__name__
        if name not in self._scores:
            self._scores[name] = await self._measured(metric.ascore(**material))
        return self._scores[name]

    async def _measured(self, measuring: Awaitable[Any]) -> Score | None:
        self._failure = None
        try:
            value = float((await measuring).value)
            # ragas catches some errors itself.
            self._stop_if_failed()
        except JudgeReplyError as error:
            return Score.unscored(str(error))
        except JudgeError:
            raise
        except Exception as error:
            raise JudgeError(f"ragas failed: {type(error).__name__}: {error}") from error
        return None if math.isnan(value) else Score(value)


class _Adapters:
    # The classes through which ragas calls a measurement.
    def __init__(self) -> None:
        ragas_metrics()
        llms: Any = importlib.import_module("ragas.llms.base")
        embeddings: Any = importlib.import_module("ragas.embeddings.base")

        class Llm(llms.InstructorBaseRagasLLM):  # type: ignore[misc]
            def __init__(self, measurement: RagasMeasurement) -> None:
                self.measurement = measurement

            async def agenerate(self, prompt: str, response_model: type[BaseModel]) -> Any:
                return await self.measurement.ask(prompt, response_model)

            def generate(self, prompt: str, response_model: type[BaseModel]) -> Any:
                raise NotImplementedError("the metrics in use call agenerate")

        class Vectors(embeddings.BaseRagasEmbedding):  # type: ignore[misc]
            def __init__(self, measurement: RagasMeasurement) -> None:
                super().__init__()
                self.measurement = measurement

            async def aembed_text(self, text: str, **_: Any) -> list[float]:
                return (await self.measurement.embed([text]))[0]

            async def aembed_texts(self, texts: list[str], **_: Any) -> list[list[float]]:
                return await self.measurement.embed(texts)

            def embed_text(self, text: str, **_: Any) -> list[float]:
                raise NotImplementedError("the metrics in use call aembed_text")

        self.llm, self.vectors = Llm, Vectors


@cache
def ragas_metrics() -> ModuleType:
    """
    The module `ragas.metrics.collections`; its first import takes seconds.

    Raises:
        UsageError: ragas is not installed, or cannot be imported.
    """
    # Without this variable, which ragas reads on import, ragas reports every call to its authors.
    os.environ["RAGAS_DO_NOT_TRACK"] = "true"
    try:
        # The import warns, and a user's `filterwarnings = error` would make that an error.
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return importlib.import_module("ragas.metrics.collections")
    except Exception as error:
        problem = f"{type(error).__name__}: {error}"
    raise UsageError(
        f"the ragas library cannot be imported: {problem}. "
        'It needs certain versions of others: pip install "pytest-ragcheck[ragas]"'
    )


ragas_adapters = cache(_Adapters)


@cache
def _wanted(form: type[BaseModel]) -> ExpectedReply[Any]:
    # The form of ragas with a field for the nonce.
    with_nonce: Any = create_model(form.__name__, __base__=form, nonce=(str, ...))
    return expected_object(form.__name__, with_nonce)


_MOST_KEPT = 1_000
_MOST_NAMED = 3


class RagasJudge:
    """
    Judges by the ragas library: its answer correctness, and its faithfulness as groundedness.

    Raises:
        UsageError: The library is not installed, or cannot be imported.
    """

    def __init__(self, chat: Chat, embeddings: Embeds) -> None:
        ragas_metrics()
        self._chat = chat
        self._embeddings = embeddings
        self._measurements: OrderedDict[str, RagasMeasurement] = OrderedDict()
        server = chat.server
        self.identity = JudgeIdentity(
            kind="ragas",
            model=server.model,
            url=server.shown_url,
            prompt_version=f"ragas-{version('ragas')}",
            parameters=server.parameters,
        )
        # ragas does not measure an empty answer.
        self.canaries = tuple(canary for canary in canaries() if canary.answer.text)

        vectors: str = getattr(embeddings, "fingerprint", "")
        self.trial_fingerprint = (
            server.fingerprint and vectors and digest_of([server.fingerprint, vectors, version("ragas")])
        )
        """
        Digest of everything that the verdict of the preflight depends on; empty if that is unknown.

        It is not called `fingerprint`, because the verdict cache would then keep judgements. A cached judgement
        could differ from the ragas metrics of the same answer, which are never cached.
        """

    async def judge(self, question: Question, answer: RagAnswer) -> Judgement:
        """
        The scores of ragas; a score that ragas leaves undefined does not apply.

        Raises:
            JudgeError: ragas or its model failed.
        """
        measurement = RagasMeasurement(self._chat, self._embeddings, question, answer)
        scores = (await measurement.answer_correctness(), await measurement.faithfulness())
        self._measurements[material_digest(question, answer)] = measurement
        if len(self._measurements) > _MOST_KEPT:
            self._measurements.popitem(last=False)
        correctness, grounded = map(_value, scores)
        return Judgement(
            # A cosine may be below 0, unlike a score of a judgement.
            answer_correctness=None if correctness is None else max(0.0, correctness),
            groundedness=grounded,
            error_message=_weakness(measurement.replies),
        )

    def measurement(self, question: Question, answer: RagAnswer) -> RagasMeasurement:
        """The measurement of the answer's last judgement, returned once; else a new one."""
        measurement = self._measurements.pop(material_digest(question, answer), None)
        return measurement or RagasMeasurement(self._chat, self._embeddings, question, answer)

    async def aclose(self) -> None:
        await closing(self._chat.server, self._embeddings).aclose()


def _value(score: Score | None) -> float | None:
    if score is not None and score.value is None:
        raise JudgeReplyError(score.reason)
    return None if score is None else score.value


def _weakness(replies: list[Any]) -> str:
    statements = [each for reply in replies for each in getattr(reply, "statements", [])]
    parts = (
        ("the contexts do not support", [each.statement for each in statements if getattr(each, "verdict", 1) == 0]),
        ("not in the expected answer", [each.statement for reply in replies for each in getattr(reply, "FP", [])]),
        ("missing", [each.statement for reply in replies for each in getattr(reply, "FN", [])]),
    )
    return "; ".join(f"{what}: {' '.join(texts[:_MOST_NAMED])}" for what, texts in parts if texts)
