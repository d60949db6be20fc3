"""Tracks the stage of each question under way, and enforces the time limit of a question."""

from __future__ import annotations

import math
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import TypeVar

from pytest_ragcheck.check import PreparedQuestion, check_question
from pytest_ragcheck.concurrency.limiter import NO_LIMIT, Limiter, StepLimiters, TimeLimit
from pytest_ragcheck.errors import MeasurementError, QuestionTimeout
from pytest_ragcheck.questions.question import Question
from pytest_ragcheck.rag.ask import Dialogue
from pytest_ragcheck.rag.http.retry import status_of
from pytest_ragcheck.verdict.record import Record

T = TypeVar("T")


class Stage(Enum):
    """The stage of a question; the value completes `refund-window: ` with a duration."""

    QUEUED = "it has waited its turn for {}"
    ASKED = "the endpoint has had it for {}"
    JUDGED = "the judge has had it for {}"
    MEASURED = "a metric has had it for {}"
    REFUSED = "it has waited to be sent again for {}"
    """After a request that failed temporarily."""

    # The hash of an enum is computed in Python, at every access to a dictionary.
    __hash__ = object.__hash__


_NONE_HELD = dict.fromkeys(Stage, 0)
_BUSIEST_FIRST = (Stage.JUDGED, Stage.MEASURED, Stage.ASKED, Stage.REFUSED)
_SERVERS = {Stage.ASKED: "the endpoint", Stage.JUDGED: "the judge", Stage.MEASURED: "a metric"}


@dataclass(slots=True)
class QuestionProgress:
    limit_seconds: float = math.inf
    question: Question | None = None
    """None for the preflight, which asks many."""

    stage: Stage = Stage.QUEUED
    since: float = field(default_factory=time.monotonic)
    spent: dict[Stage, float] = field(default_factory=dict)
    """Seconds in earlier stages."""

    limit: TimeLimit = field(default_factory=TimeLimit)
    refusal: str = ""
    """The last error after which a request waits to be sent again, such as `HTTP 429 from the judge`."""

    _held: dict[Stage, int] = field(default_factory=_NONE_HELD.copy)
    """Number of the question's requests by stage; several judge requests can run at once."""

    def move(self, *, leave: Stage | None = None, enter: Stage | None = None) -> None:
        """Move a request between stages; the time limit pauses while all requests are queued."""
        if leave is not None:
            self._held[leave] -= 1
        if enter is not None:
            self._held[enter] += 1
        stage = next((each for each in _BUSIEST_FIRST if self._held[each]), Stage.QUEUED)
        if stage is self.stage:
            return
        now = time.monotonic()
        self.spent[self.stage] = self.spent.get(self.stage, 0.0) + now - self.since
        self.stage, self.since = stage, now
        used = sum(seconds for earlier, seconds in self.spent.items() if earlier is not Stage.QUEUED)
        self.limit.restart(math.inf if stage is Stage.QUEUED else self.limit_seconds - used)

    async def run(self, operation: Callable[[], Awaitable[T]]) -> T:
        """Run a step of the question; raise `QuestionTimeout` if the time of the question runs out."""
        if not self.limit.expired:
            with self.limit:
                return await operation()
        raise self.timeout()

    def tracked(self, limiter: Limiter, stage: Stage) -> _TrackedLimiter:
        """A limiter that records the stage of each request; a sent one has the *stage*."""
        return _TrackedLimiter(self, limiter, stage)

    @property
    def where(self) -> str:
        words = self.stage.value.format(f"{time.monotonic() - self.since:.0f} s")
        return f"{words}, after {self.refusal}" if self.stage is Stage.REFUSED and self.refusal else words

    def timeout(self) -> QuestionTimeout:
        words = {stage: f"{server} had it for" for stage, server in _SERVERS.items()}
        words[Stage.REFUSED] = "between repeats it waited"
        spent = ", ".join(
            f"{word} {self.spent[stage]:.1f} s" for stage, word in words.items() if self.spent.get(stage, 0) >= 0.05
        )
        last = f", the last time after {self.refusal}" if self.refusal and Stage.REFUSED in self.spent else ""
        return QuestionTimeout(
            f"no verdict within {self.limit_seconds:g} s: {spent}{last}\n"
            "Check what takes so long there, or raise rag_timeout: the limit of a question is ten times that."
        )


@dataclass(slots=True)
class _TrackedLimiter:
    progress: QuestionProgress
    limiter: Limiter
    stage: Stage

    async def run(self, operation: Callable[[], Awaitable[T]]) -> T:
        held: Stage | None = None

        def move(stage: Stage | None) -> None:
            nonlocal held
            self.progress.move(leave=held, enter=stage)
            held = stage

        async def request() -> T:
            move(self.stage)
            try:
                return await operation()
            except BaseException as error:
                if isinstance(error, MeasurementError):
                    status = status_of(error)
                    reply = "no reply" if status is None else f"HTTP {status}"
                    self.progress.refusal = f"{reply} from {_SERVERS[self.stage]}"
                move(Stage.REFUSED)
                raise

        try:
            return await self.limiter.run(request)
        finally:
            move(None)


class ProgressBoard:
    """The progress of all questions under way, for the lines in the terminal."""

    def __init__(self) -> None:
        self._under_way: dict[int, QuestionProgress] = {}

    async def check(
        self,
        prepared: PreparedQuestion,
        *,
        asking: Limiter = NO_LIMIT,
        judging: Limiter = NO_LIMIT,
        dialogues: Sequence[Dialogue] = (),
    ) -> Record:
        settings = prepared.settings
        limit_seconds = settings.endpoint.question_timeout_seconds * settings.run.repeats
        progress = QuestionProgress(question=prepared.question, limit_seconds=limit_seconds)
        self._under_way[id(progress)] = progress
        try:
            return await check_question(
                prepared,
                StepLimiters(
                    asking=progress.tracked(asking, Stage.ASKED),
                    judging=progress.tracked(judging, Stage.JUDGED),
                    measuring=progress.tracked(judging, Stage.MEASURED),
                    timing=progress,
                ),
                dialogues=dialogues,
            )
        finally:
            del self._under_way[id(progress)]

    def line(self, question: Question, *, to_go: int) -> str:
        """
        A line such as `waiting for refund-window: the judge has had it for 31 s (8 asked, 3 judged, 120 to go)`.

        *to_go* is the number of questions after this one.
        """
        progress = next((each for each in self._under_way.copy().values() if each.question == question), None)
        where = progress.where if progress is not None else "it has not begun"
        return f"waiting for {question.id}: {where} ({self.counts(to_go)})"

    def counts(self, to_go: int) -> str:
        stages = Counter(each.stage for each in self._under_way.copy().values())
        judged = stages[Stage.JUDGED] + stages[Stage.MEASURED]
        return f"{stages[Stage.ASKED]} being asked, {judged} being judged, {to_go} to go"
