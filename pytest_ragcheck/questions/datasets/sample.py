"""Some questions of many, the same in every run."""

from __future__ import annotations

import hashlib
import heapq
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pytest_ragcheck.questions.question import Question, QuestionSet


def sample(questions: Iterable[Question], size: int | None, *, seed: int) -> tuple[Question, ...]:
    """
    *size* of the questions, in their own order; all where there are no more, or *size* is None.

    Which ones depends on the seed and the ids alone: neither on the order of the file nor on the other questions.
    A larger sample of the same seed has all questions of a smaller one. No more of them are held than are taken.
    """
    if size is None:
        return tuple(questions)
    taken = heapq.nsmallest(size, enumerate(questions), key=lambda place: rank(place[1].id, seed))
    return tuple(question for _, question in sorted(taken, key=lambda place: place[0]))


def would_be_taken(questions: QuestionSet, question_id: str) -> bool:
    """Whether a further question of the id, were it in the dataset, would be among those that were taken."""
    origin = questions.origin
    if origin is None or origin.samples is None or len(questions.questions) < origin.samples:
        return True
    last = max(rank(question.id, origin.seed) for question in questions.questions)
    return rank(question_id, origin.seed) <= last


def rank(question_id: str, seed: int) -> str:
    """The question's place in the order of the seed: the questions of lowest rank are taken."""
    return hashlib.sha256(f"{seed}:{question_id}".encode()).hexdigest()
