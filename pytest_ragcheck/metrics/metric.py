"""The seam to everything that measures an answer, and the use of it."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Protocol, TypeVar

from pytest_ragcheck.errors import MeasurementError
from pytest_ragcheck.metrics.score import Score

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping, Sequence

    from pytest_ragcheck.questions.question import Question
    from pytest_ragcheck.rag.answer import RagAnswer

T = TypeVar("T")


class Metric(Protocol):
    """
    What measures answers: one number, or several that come of one piece of work.

    A user's own may be simpler, see `own`. Metrics live as long as the run; an `aclose` is awaited at its end.
    """

    @property
    def names(self) -> Sequence[str]:
        """The keys of what it may measure, known before the first question, so that thresholds can name them."""
        ...

    @property
    def local(self) -> bool:
        """
        True: it is computed at once from the texts, and gets them as they were really said.

        False: it may ask a server. It gets the texts without secrets, waits for room among the judge's requests,
        and is repeated where a `MeasurementError` says that this may help.
        """
        ...

    async def score(self, question: Question, answer: RagAnswer) -> Mapping[str, Score]:
        """
        By name what was measured, or why it could not be; what does not apply to the question is left out.

        Raises:
            MeasurementError: Nothing could be measured.
        """
        ...


class Room(Protocol):
    """Lets operations run, when there is room for them, as often as repeating may help."""

    async def run(self, operation: Callable[[], Awaitable[T]]) -> T:
        """The operation's result, or its last error."""
        ...


async def measure(metric: Metric, question: Question, answer: RagAnswer, room: Room) -> dict[str, Score]:
    """What the metric measures of the answer; where it cannot, the reason stands for each of its numbers."""
    try:
        if metric.local:
            return dict(await metric.score(question, answer))
        return dict(await room.run(partial(metric.score, question, answer)))
    except MeasurementError as error:
        return dict.fromkeys(metric.names, Score.unscored(str(error)))
