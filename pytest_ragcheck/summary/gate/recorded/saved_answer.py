"""Defines an answer of a saved run, and the digests that identify it in a later run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import astuple, field
from typing import Any

from pytest_ragcheck.frozen import frozen
from pytest_ragcheck.judging.judgement import JudgeIdentity, Judgement, digest_of
from pytest_ragcheck.questions.question import EarlierTurn, Question
from pytest_ragcheck.rag.answer import RagAnswer
from pytest_ragcheck.redaction import is_redacted
from pytest_ragcheck.scores.catalogue import ABSTAINED, CITATION_SUPPORT, DEMANDED, JUDGED, RETRIEVAL

_DIGITS = 16
"""Hex digits of a digest in a baseline; 64 bits keep a million texts apart."""

EXPECTED, GOLD, MENTIONS, ASKED = "expected", "gold", "mentions", "asked"
"""The parts of a question that define a right answer; the last one is what was asked, beside the question's text."""

PARTS = {
    **dict.fromkeys(RETRIEVAL, GOLD),
    **dict.fromkeys(DEMANDED, MENTIONS),
    **dict.fromkeys((JUDGED[1], ABSTAINED, *CITATION_SUPPORT), ASKED),
}
"""The part that a metric depends on; other metrics depend on the expected answers."""


@frozen
class SavedAnswer:
    passed: bool
    """The verdict under the thresholds of that run."""

    scores: Mapping[str, float] = field(default_factory=dict)

    text: str | None = None
    """The answer; None if the file keeps no answers."""

    context_digests: tuple[str, ...] = ()
    contexts: tuple[str, ...] | None = None
    """The texts of the contexts; None if the contexts file lacks one."""

    source_ids: tuple[str, ...] | None = None
    """The system's document ids of the contexts; None if it gives none."""

    server_source_ids: tuple[str, ...] | None = None
    labels: Mapping[str, str] | None = None
    """The `label_digests` of the question; None if the file does not have them."""

    judge: JudgeIdentity | None = None
    judgement: Judgement | None = None
    material: str = ""
    """Digest of the judge's input; empty without a judgement."""

    latency_seconds: float | None = None

    history: tuple[EarlierTurn, ...] = ()
    """The earlier turns, if the rows of these turns do not show the same."""

    def digest(self, question: Question) -> str | None:
        if self.text is None or self.is_redacted:
            return None
        return answer_digest(self.text, self.context_digests, self.source_ids, question)

    @property
    def is_redacted(self) -> bool:
        """True if a text lacks a secret, so that answers with other secrets look the same."""
        return is_redacted(self.text, *(self.contexts or ()), *(self.source_ids or ()))

    def has_labels_of(self, question: Question, *parts: str) -> bool:
        """True if the question had the same labels, or these *parts* of them, as far as the file names them."""
        return are_labels_of(question, self.labels, *parts)

    @property
    def answer(self) -> RagAnswer | None:
        """The answer for rescoring; None if a text is missing or redacted."""
        return None if self.is_redacted else self.reply

    @property
    def reply(self) -> RagAnswer | None:
        """The answer as the file has it; None if a text is missing."""
        if self.text is None or self.contexts is None:
            return None
        ours, theirs = self.source_ids, self.server_source_ids
        return RagAnswer(text=self.text, contexts=self.contexts, source_ids=ours, server_source_ids=theirs)


def are_labels_of(question: Question, then: Mapping[str, str] | None, *parts: str) -> bool:
    """True if the digests are those of the question's labels, or of these *parts* of them; None is unknown."""
    now = label_digests(question)
    keys = parts or {*(then or ()), *now}
    return then is None or list(map(then.get, keys)) == list(map(now.get, keys))


def text_digest(text: str) -> str:
    return digest_of(text)[:_DIGITS]


def answer_digest(
    text: str, context_digests: Sequence[str], source_ids: Sequence[str] | None, question: Question
) -> str:
    """
    Return 16 hex digits over an answer, its contexts and the earlier turns.

    If the question forbids documents, the digits are over the ids of the contexts too.
    """
    answer = [text, list(context_digests), source_ids if question.must_not_retrieve else None]
    # The judge reads the earlier turns, and their contexts may be what supports the answer.
    return digest_of([*answer, *map(astuple, question.history)])[:_DIGITS]


def label_digests(question: Question) -> dict[str, str]:
    """A digest of each part of the question that defines a right answer."""
    gold = [[passage.text, passage.doc_id] for passage in question.gold_passages]
    asked: list[Any] = [[turn.question for turn in question.earlier]] if question.earlier else []
    asked += [question.identity] if question.identity else []
    hidden = [{"must_not_retrieve": list(question.must_not_retrieve)}] if question.must_not_retrieve else []
    cited = [list(question.must_cite)] if question.must_cite else []
    parts = {
        EXPECTED: [question.answerable, list(question.acceptable_answers)],
        GOLD: gold,
        MENTIONS: [list(question.must_mention), list(question.must_not_mention), *cited, *hidden],
        **({ASKED: asked} if asked else {}),
    }
    return {name: digest_of(part)[:_DIGITS] for name, part in parts.items()}
