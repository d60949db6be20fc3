"""Checks which required and forbidden mentions an answer contains, by text alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_ragcheck.concurrency.search_process import SearchProcess
from pytest_ragcheck.errors import MeasurementError
from pytest_ragcheck.questions.mention import is_mentioned, is_regex
from pytest_ragcheck.scores.catalogue import MENTIONS
from pytest_ragcheck.scores.score import Score

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from pytest_ragcheck.questions.question import Question
    from pytest_ragcheck.rag.answer import RagAnswer

_MUST, _MUST_NOT = MENTIONS


class Mentions:
    """The metric of questions with mentions; every run measures it."""

    names = MENTIONS
    local = True

    def __init__(self) -> None:
        self._search = SearchProcess()

    async def score(self, question: Question, answer: RagAnswer) -> dict[str, Score]:
        """Return the scores that apply to the question."""
        if not any(map(is_regex, (*question.must_mention, *question.must_not_mention))):
            return mention_scores(answer.text, question, self._search)
        # A regular expression may take seconds, which no other question should wait for.
        from pytest_ragcheck.concurrency.threads import in_thread

        return await in_thread(mention_scores, answer.text, question, self._search)

    async def aclose(self) -> None:
        """End the process of the regular expressions."""
        self._search.close()


def mention_scores(answer: str, question: Question, search: SearchProcess) -> dict[str, Score]:
    """
    Share of `must_mention` that the answer contains, and share of `must_not_mention` that it does not contain.

    Returns:
        By metric 0..1, with the mentions that lower the value; unscored if a regular expression took too long.
        A metric is absent if the question has no such mentions.

    Source: our own; `compile_mention` defines what an answer contains.
    """
    scores = {}
    if question.must_mention:
        scores[_MUST] = _score(question.must_mention, lambda mention: not is_mentioned(mention, answer, search))
    if question.must_not_mention:
        scores[_MUST_NOT] = _score(question.must_not_mention, lambda mention: is_mentioned(mention, answer, search))
    return scores


def _score(mentions: Sequence[str], is_wrong: Callable[[str], bool]) -> Score:
    try:
        wrong = tuple(filter(is_wrong, mentions))
    except MeasurementError as error:
        return Score.unscored(str(error))
    return Score(1 - len(wrong) / len(mentions), findings=wrong)
