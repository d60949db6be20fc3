"""Judges by the ragas library."""

from __future__ import annotations

from collections import OrderedDict
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

from pytest_ragcheck.concurrency.tasks import closing
from pytest_ragcheck.errors import JudgeReplyError
from pytest_ragcheck.judging.judgement import JudgeIdentity, Judgement, digest_of, material_digest
from pytest_ragcheck.judging.preflight.trial import canaries
from pytest_ragcheck.judging.ragas_library import RagasMeasurement, ragas_metrics

if TYPE_CHECKING:
    from pytest_ragcheck.judging.embeddings.embeds import Embeds
    from pytest_ragcheck.judging.model.chat import Chat
    from pytest_ragcheck.questions.question import Question
    from pytest_ragcheck.rag.answer import RagAnswer
    from pytest_ragcheck.scores.score import Score

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
