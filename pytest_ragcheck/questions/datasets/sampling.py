"""`sample` chooses some of many questions, the same ones in every run."""

from __future__ import annotations

import hashlib
import heapq
from collections.abc import Iterable

from pytest_ragcheck.questions.question import Question, QuestionSet


def sample(questions: Iterable[Question], size: int | None, *, seed: int) -> tuple[Question, ...]:
    """
    *size* of the questions in their own order; all if there are fewer, or *size* is None.

    The choice depends on the seed and the ids only, not on the order of the file or on the other questions. A larger
    sample with the same seed includes every smaller one. Only the chosen questions are kept in memory.
    """
    if size is None:
        return tuple(questions)
    taken = heapq.nsmallest(size, enumerate(questions), key=lambda place: rank(place[1].id, seed))
    return tuple(question for _, question in sorted(taken, key=lambda place: place[0]))


def would_be_sampled(questions: QuestionSet, question_id: str) -> bool:
    """Return whether the sample would include a further question of the dataset with this id."""
    origin = questions.origin
    if origin is None or origin.samples is None or len(questions.questions) < origin.samples:
        return True
    last = max(rank(question.id, origin.seed) for question in questions.questions)
    return rank(question_id, origin.seed) <= last


def rank(question_id: str, seed: int) -> str:
    """The sort key of the question under the seed; the sample takes the lowest keys."""
    return hashlib.sha256(f"{seed}:{question_id}".encode()).hexdigest()
