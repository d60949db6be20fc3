"""Defines the requests of the gate, and drives its generators with the replies."""

from __future__ import annotations

from collections.abc import Callable, Generator
from typing import TypeVar

from pytest_ragcheck.frozen import frozen
from pytest_ragcheck.summary.gate.procedure.compared_question import Key, Look, Scores

T = TypeVar("T")


@frozen
class AskAgain:
    """
    Ask the system the question once more, and judge the answer.

    The reply is a `Look`, or None on an ERROR. A recorded answer keeps its recorded scores and needs no judge.
    """

    key: Key


@frozen
class JudgeAnew:
    """
    Score the answers with today's judge, in this order, independently and without the verdict cache.

    The reply has the scores of each answer in the same order, or is None if they could not be measured.
    """

    key: Key
    answers: tuple[str, ...]
    """Digests of recorded answers and of answers of today; a repeated digest is judged again."""


Request = AskAgain | JudgeAnew
Reply = Look | tuple[Scores, ...] | None
JudgesAnew = Callable[[JudgeAnew], Reply]

Steps = Generator[Request, Reply, T]
"""A generator that yields requests, receives the reply to each, and returns a T."""


def drive(steps: Steps[T], serve: Callable[[Request], Reply]) -> T:
    """The result of the steps; a plain function serves each request."""
    try:
        request = next(steps)
        while True:
            request = steps.send(serve(request))
    except StopIteration as end:
        result: T = end.value
        return result
