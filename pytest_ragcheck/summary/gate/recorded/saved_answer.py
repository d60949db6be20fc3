"""One answer that a saved run gave to a question, and digests that recognize it in a later run."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from pytest_ragcheck.judging.digest import digest_of
from pytest_ragcheck.rag.answer import RagAnswer

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pytest_ragcheck.judging.judgement import JudgeIdentity, Judgement
    from pytest_ragcheck.questions.question import Question

_DIGITS = 16
"""Hex digits of a digest in a baseline: 64 bits tell a million texts apart."""

EXPECTED, GOLD, MENTIONS = "expected", "gold", "mentions"
"""The parts of a question that say what a right answer is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SavedAnswer:
    """One look of a saved run at one question."""

    passed: bool
    """The verdict under the thresholds of that run."""

    scores: Mapping[str, float] = field(default_factory=dict)
    """The measured scores by metric."""

    text: str | None = None
    """What the system said; None if the file keeps no answers."""

    context_digests: tuple[str, ...] = ()
    contexts: tuple[str, ...] | None = None
    """The texts of the contexts; None if the file of the contexts lacks one."""

    source_ids: tuple[str, ...] | None = None
    """The system's document ids of the contexts; None if it gives none."""

    labels: Mapping[str, str] | None = None
    """Digests by part of the question, see `label_digests`; None if the file does not say."""

    judge: JudgeIdentity | None = None
    judgement: Judgement | None = None
    material: str = ""
    """Digest of what the judge was given; empty without a judgement."""

    latency_seconds: float | None = None

    @property
    def digest(self) -> str | None:
        """Digest of the answer and its contexts; None if the answer is not known."""
        return None if self.text is None else answer_digest(self.text, self.context_digests)

    @property
    def answer(self) -> RagAnswer | None:
        """The answer, to be scored again; None if a text is not known."""
        if self.text is None or self.contexts is None:
            return None
        return RagAnswer(text=self.text, contexts=self.contexts, source_ids=self.source_ids)


def text_digest(text: str) -> str:
    """16 hex digits over a text."""
    return digest_of(text)[:_DIGITS]


def answer_digest(text: str, context_digests: Sequence[str]) -> str:
    """16 hex digits over an answer and the digests of its contexts; document ids are not in it."""
    return digest_of([text, list(context_digests)])[:_DIGITS]


def label_digests(question: Question) -> dict[str, str]:
    """A digest of each part of the question that says what a right answer is."""
    gold = [[passage.text, passage.doc_id] for passage in question.gold_passages]
    parts = {
        EXPECTED: [question.answerable, list(question.acceptable_answers)],
        GOLD: gold,
        MENTIONS: [list(question.must_mention), list(question.must_not_mention)],
    }
    return {name: digest_of(part)[:_DIGITS] for name, part in parts.items()}
