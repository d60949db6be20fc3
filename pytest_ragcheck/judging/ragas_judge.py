"""The ragas library as the judge."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

from pytest_ragcheck.concurrency.exit_stack import closing
from pytest_ragcheck.errors import JudgeReplyError
from pytest_ragcheck.judging.judged_material import digest_of, grounding_contexts, material_digest
from pytest_ragcheck.judging.judgement import JudgeIdentity, Judgement
from pytest_ragcheck.judging.preflight.canaries import canaries
from pytest_ragcheck.judging.ragas_library import RagasMeasurement, ragas_metrics
from pytest_ragcheck.scores.score import Score

if TYPE_CHECKING:
    from pytest_ragcheck.judging.embeddings.embeds import Embeds
    from pytest_ragcheck.judging.model.chat import Chat
    from pytest_ragcheck.questions.question import Question
    from pytest_ragcheck.rag.answer import RagAnswer

_MOST_KEPT = 1_000
_MOST_NAMED = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class RagasScores:
    """The two scores of ragas that make a judgement; None if a score does not apply or is undefined."""

    answer_correctness: Score | None
    faithfulness: Score | None
    weakness: str
    """The statements that lower the scores, from the model's replies to ragas; empty if there are none."""


class RagasJudge:
    """
    Judges by the ragas library: its answer correctness, and its faithfulness as groundedness.

    Args:
        chat: The model that ragas asks.
        embeddings: The embeddings by which ragas compares texts.

    Raises:
        UsageError: The library is not installed, or cannot be imported.
    """

    def __init__(self, chat: Chat, embeddings: Embeds) -> None:
        ragas_metrics()
        self._chat = chat
        self._embeddings = embeddings
        self._kept: OrderedDict[str, RagasScores] = OrderedDict()
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
        """The answers of the preflight."""

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
        Returns the scores of ragas; a score that ragas leaves undefined does not apply.

        Raises:
            JudgeError: ragas or its model failed.
        """
        found = await self._scores(question, answer)
        self._kept[material_digest(question, answer)] = found
        if len(self._kept) > _MOST_KEPT:
            self._kept.popitem(last=False)
        correctness, grounded = map(_value, (found.answer_correctness, found.faithfulness))
        return Judgement(
            # A cosine may be below 0, a score of a judgement may not.
            answer_correctness=None if correctness is None else max(0.0, correctness),
            groundedness=grounded,
            error_message=found.weakness,
        )

    async def scores(self, question: Question, answer: RagAnswer) -> RagasScores:
        """The scores of the answer's last judgement, returned once; else a new measurement."""
        return self._kept.pop(material_digest(question, answer), None) or await self._scores(question, answer)

    def measurement(self, question: Question, answer: RagAnswer) -> RagasMeasurement:
        """The library's metrics of the answer."""
        return RagasMeasurement(self._chat, self._embeddings, question, answer)

    async def aclose(self) -> None:
        """Closes the connections."""
        await closing(self._chat.server, self._embeddings).aclose()

    async def _scores(self, question: Question, answer: RagAnswer) -> RagasScores:
        measurement = self.measurement(question, answer)
        expected = bool(question.acceptable_answers)
        given = any(map(str.strip, grounding_contexts(question, answer)))
        return RagasScores(
            answer_correctness=await measurement.answer_correctness() if expected else None,
            # ragas refuses to measure without contexts, where faithfulness is 0.
            faithfulness=await measurement.faithfulness() if given else Score(0.0),
            weakness=_weakness(measurement.replies),
        )


def _value(score: Score | None) -> float | None:
    if score is not None and score.value is None:
        raise JudgeReplyError(score.reason)
    return None if score is None else score.value


def _weakness(replies: list[Any]) -> str:
    """The unsupported, wrong and missing statements in the model's replies to ragas."""
    unsupported: list[str] = []
    wrong: list[str] = []
    missing: list[str] = []
    for reply in replies:
        statements = getattr(reply, "statements", [])
        unsupported += [each.statement for each in statements if getattr(each, "verdict", 1) == 0]
        wrong += [each.statement for each in getattr(reply, "FP", [])]
        missing += [each.statement for each in getattr(reply, "FN", [])]
    parts = (
        ("the contexts do not support", unsupported),
        ("not in the expected answer", wrong),
        ("missing", missing),
    )
    return "; ".join(f"{what}: {' '.join(texts[:_MOST_NAMED])}" for what, texts in parts if texts)
