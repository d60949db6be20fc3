"""What an answer has to say, and what it must not: found by text alone, the same in every run."""

from __future__ import annotations

import unicodedata
from typing import TYPE_CHECKING

from pytest_ragcheck.metrics.catalogue import MENTIONS
from pytest_ragcheck.metrics.score import Score
from pytest_ragcheck.questions.mention import compile_mention

if TYPE_CHECKING:
    from pytest_ragcheck.questions.question import Question
    from pytest_ragcheck.rag.answer import RagAnswer


class Mentions:
    """What every run measures of the questions that have mentions."""

    names = MENTIONS
    local = True

    async def score(self, question: Question, answer: RagAnswer) -> dict[str, Score]:
        """The shares, of those mentions that the question has."""
        shares = (must_mention_score(answer.text, question), must_not_mention_score(answer.text, question))
        return {name: Score(share) for name, share in zip(MENTIONS, shares, strict=True) if share is not None}


def must_mention_score(answer: str, question: Question) -> float | None:
    """
    Share of the question's `must_mention` that the answer contains.

    Returns:
        0..1; None where the question has none.

    Source: our own; what counts as contained is said at `compile_mention`.
    """
    if not question.must_mention:
        return None
    return 1 - len(missing_mentions(answer, question)) / len(question.must_mention)


def must_not_mention_score(answer: str, question: Question) -> float | None:
    """
    Share of the question's `must_not_mention` that the answer does not contain.

    Returns:
        0..1; None where the question has none.

    Source: our own; what counts as contained is said at `compile_mention`.
    """
    if not question.must_not_mention:
        return None
    return 1 - len(forbidden_mentions(answer, question)) / len(question.must_not_mention)


def missing_mentions(answer: str, question: Question) -> tuple[str, ...]:
    """Those of `must_mention` that the answer does not contain, as the file has them."""
    return tuple(mention for mention in question.must_mention if not _contains(answer, mention))


def forbidden_mentions(answer: str, question: Question) -> tuple[str, ...]:
    """Those of `must_not_mention` that the answer contains, as the file has them."""
    return tuple(mention for mention in question.must_not_mention if _contains(answer, mention))


def _contains(answer: str, mention: str) -> bool:
    return compile_mention(mention).search(unicodedata.normalize("NFC", answer)) is not None
