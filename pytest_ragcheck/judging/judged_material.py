"""Identifies the material that a judge reads, and selects the contexts that may support an answer."""

from __future__ import annotations

import hashlib
import json

from pytest_ragcheck.questions.question import Question
from pytest_ragcheck.rag.answer import RagAnswer


def material_digest(question: Question, answer: RagAnswer) -> str:
    """
    64 hex digits over the question, the accepted answers, the contexts, the answer and the earlier turns.

    The dataset, the question's id and the thresholds do not change the digest.
    """
    material: list[object] = [question.question, list(question.acceptable_answers), list(answer.contexts), answer.text]
    if question.history:
        material.append([[turn.question, turn.answer, list(turn.contexts)] for turn in question.history])
    return digest_of(material)


def digest_of(value: object) -> str:
    """64 hex digits over a value that JSON can hold."""
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode("ascii")).hexdigest()


def grounding_contexts(question: Question, answer: RagAnswer) -> tuple[str, ...]:
    """
    The contexts of the answer, followed by those of the earlier turns, the latest turn first.

    A system may answer a follow-up from passages that it retrieved for an earlier turn.
    """
    if not question.history:
        return answer.contexts
    earlier = (context for turn in reversed(question.history) for context in turn.contexts)
    return tuple(dict.fromkeys((*answer.contexts, *earlier)))
