"""Defines the requests of the gate, and drives its generators with the replies."""

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
    Score the answers with today's judge, in this order, independently and without the verdict cache.

    The reply has the scores of each answer in the same order, or is None if they could not be measured.
    """

    key: Key
    answers: tuple[str, ...]
    """Digests of recorded answers and of answers of today; a repeated digest is judged again."""


Request = AskAgain | JudgeAnew
Reply = Look | tuple[Scores, ...] | None
Batch = tuple[Request, ...]
"""Independent requests, which may be served concurrently."""

Steps = Generator[Batch, Sequence[Reply], T]
"""A generator that yields batches, receives the replies in the same order, and returns a T."""


def drive(steps: Steps[T], serve: Callable[[Request], Reply]) -> T:
    """Return the result of the steps; a plain function serves each request."""
    try:
        batch = next(steps)
        while True:
            batch = steps.send([serve(request) for request in batch])
    except StopIteration as end:
        result: T = end.value
        return result


def together(several: Sequence[Steps[T]]) -> Steps[list[T]]:
    """Run independent steps side by side: their first batches become one batch, then their second ones, and so on."""
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
    """Store the next batch of the steps, or their result at the end, under the index."""
    try:
        batches[place] = next(steps) if reply is None else steps.send(reply)
    except StopIteration as end:
        results[place] = end.value
