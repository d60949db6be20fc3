"""Passes the requests of the gate to the outside world, and the replies back."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass
from typing import TypeVar

from pytest_ragcheck.summary.gate.procedure.compared_question import Key, Look, Scores

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class AskAgain:
    """
    Ask the system the question once more, and judge the answer.

    The reply is a `Look`, or None on an ERROR. A recorded answer keeps its recorded scores and needs no judge.
    """

    key: Key


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeAnew:
    """
    Score the answers with today's judge, in this order, past the verdict cache, each as if it were the only one.

    The reply has the scores of each answer in the same order, or is None if they could not be measured.
    """

    key: Key
    answers: tuple[str, ...]
    """Digests of recorded answers and of answers of today; an answer that stands twice is judged twice."""


Request = AskAgain | JudgeAnew
Reply = Look | tuple[Scores, ...] | None
Batch = tuple[Request, ...]
"""Requests that do not depend on each other, to be served at once."""

Steps = Generator[Batch, Sequence[Reply], T]
"""Yields batches, takes the replies of each in the same order, and returns a T."""


def drive(steps: Steps[T], serve: Callable[[Request], Reply]) -> T:
    """The result of the steps, each request served by a plain function."""
    try:
        batch = next(steps)
        while True:
            batch = steps.send([serve(request) for request in batch])
    except StopIteration as end:
        result: T = end.value
        return result


def together(several: Sequence[Steps[T]]) -> Steps[list[T]]:
    """Drives independent steps at once: the first batches of all as one batch, then the second ones, and so on."""
    results: dict[int, T] = {}
    batches: dict[int, Batch] = {}
    for place, steps in enumerate(several):
        _advance(steps, None, place, batches, results)
    while batches:
        answered = iter((yield tuple(request for batch in batches.values() for request in batch)))
        replies = {place: [next(answered) for _ in batch] for place, batch in batches.items()}
        batches = {}
        for place, reply in replies.items():
            _advance(several[place], reply, place, batches, results)
    return [results[place] for place in range(len(several))]


def _advance(
    steps: Steps[T], reply: Sequence[Reply] | None, place: int, batches: dict[int, Batch], results: dict[int, T]
) -> None:
    """Puts the next batch, or the result at the end, under the place."""
    try:
        batches[place] = next(steps) if reply is None else steps.send(reply)
    except StopIteration as end:
        results[place] = end.value
