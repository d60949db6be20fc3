"""The contexts that may support an answer."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pytest_ragcheck.questions.question import Question
    from pytest_ragcheck.rag.answer import RagAnswer


def grounding_contexts(question: Question, answer: RagAnswer) -> tuple[str, ...]:
    """
    Return the contexts of the answer, and after them those of the earlier turns, the latest turn first.

    A system may answer a follow-up from passages that it retrieved for an earlier turn.
    """
    if not question.history:
        return answer.contexts
    earlier = (context for turn in reversed(question.history) for context in turn.contexts)
    return tuple(dict.fromkeys((*answer.contexts, *earlier)))
