"""The ragas library as judge."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

from pytest_ragcheck.closing import close
from pytest_ragcheck.judging.canaries import canaries
from pytest_ragcheck.judging.judgement import JudgeIdentity, Judgement
from pytest_ragcheck.judging.material import digest_of, material_digest
from pytest_ragcheck.judging.ragas_library import RagasLook, ragas_metrics

if TYPE_CHECKING:
    from pytest_ragcheck.judging.chat import Chat
    from pytest_ragcheck.judging.embeddings import Embeds
    from pytest_ragcheck.questions.question import Question
    from pytest_ragcheck.rag.answer import RagAnswer

_MOST_KEPT = 1_000
_MOST_NAMED = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class RagasScores:
    """What ragas measures for a verdict; None where a score does not apply or is not defined."""

    answer_correctness: float | None
    faithfulness: float | None
    weakness: str
    """The statements that cost the most, by what the model said to ragas; empty where there are none."""


class RagasJudge:
    """
    Judges by the ragas library: its answer correctness, and its faithfulness as groundedness.

    Args:
        chat: The model that ragas asks.
        embeddings: What ragas compares texts by.

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
            kind="ragas", model=server.model, url=server.shown_url, prompt_version=f"ragas-{version('ragas')}"
        )
        # ragas measures nothing of an empty answer.
        self.canaries = tuple(canary for canary in canaries() if canary.answer.text)
        """The answers that the judge is tried on."""

        vectors: str = getattr(embeddings, "fingerprint", "")
        self.trial_fingerprint = (
            server.fingerprint and vectors and digest_of([server.fingerprint, vectors, version("ragas")])
        )
        """
        Digest of all that a verdict depends on beside question and answer; empty where that is not known.

        It is for the trial alone: a verdict that was remembered could be another than that of the metrics beside it,
        for which ragas is asked anew.
        """

    async def judge(self, question: Question, answer: RagAnswer) -> Judgement:
        """
        What ragas finds; a score that it does not define does not apply.

        Raises:
            JudgeError: ragas, or its model, found nothing.
        """
        found = await self._scores(question, answer)
        self._kept[material_digest(question, answer)] = found
        if len(self._kept) > _MOST_KEPT:
            self._kept.popitem(last=False)
        correctness = found.answer_correctness
        return Judgement(
            # Its cosine may be below 0, which a judgement's score may not.
            answer_correctness=None if correctness is None else max(0.0, correctness),
            groundedness=found.faithfulness,
            error_message=found.weakness,
        )

    async def scores(self, question: Question, answer: RagAnswer) -> RagasScores:
        """What the last judgement of the answer was made of, given out once; measured anew where there was none."""
        return self._kept.pop(material_digest(question, answer), None) or await self._scores(question, answer)

    def look(self, question: Question, answer: RagAnswer) -> RagasLook:
        """The library's metrics of the answer."""
        return RagasLook(self._chat, self._embeddings, question, answer)

    async def aclose(self) -> None:
        """Closes the connections."""
        await self._chat.server.aclose()
        await close(self._embeddings)

    async def _scores(self, question: Question, answer: RagAnswer) -> RagasScores:
        look = self.look(question, answer)
        expected = bool(question.acceptable_answers)
        return RagasScores(
            answer_correctness=await look.answer_correctness() if expected else None,
            # ragas refuses to measure without contexts; nothing is faithful to none.
            faithfulness=await look.faithfulness() if any(map(str.strip, answer.contexts)) else 0.0,
            weakness=_weakness(look.said),
        )


def _weakness(said: list[Any]) -> str:
    """By ragas' own forms: verdicts on statements, and the statements that are wrong or missing."""
    unsupported: list[str] = []
    wrong: list[str] = []
    missing: list[str] = []
    for reply in said:
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
