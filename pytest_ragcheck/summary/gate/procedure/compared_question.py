"""Holds one question for the gate with its runs, the requests about it, and the outcome of its examination."""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping
from enum import Enum
from math import comb
from typing import TypeVar

from pytest_ragcheck.frozen import frozen
from pytest_ragcheck.scores import is_below

T = TypeVar("T")

Key = tuple[str, str]
"""Dataset name and id of a question."""

Scores = Mapping[str, float]


def passes(scores: Scores, thresholds: Scores) -> bool:
    """True if no score is below its minimum; metrics without a score do not count."""
    return not any(is_below(scores[metric], minimum) for metric, minimum in thresholds.items() if metric in scores)


@frozen
class Look:
    answer: str | None
    """
    Digest of the answer and of its contexts. Equal digests mean the same answer, so that recorded scores are kept.
    None if the saved run kept no text: such an answer can be neither recognized nor judged again.
    """

    scores: Scores
    """Under today's labels."""

    passed: bool
    """Under today's thresholds."""

    fresh: bool = False
    """True if the judge was called for the scores in this run; False if they are recorded or from the verdict cache."""


@frozen
class KnownRun:
    looks: tuple[Look, ...]
    """The first answer of the run, then its further looks; at least one."""

    @property
    def passed(self) -> bool:
        return self.looks[0].passed

    @property
    def failed(self) -> bool:
        """True if no look passed. If only a later look passed, the run has neither `passed` nor `failed`."""
        return not any(look.passed for look in self.looks)


@frozen
class ComparedQuestion:
    """
    A question with a PASS or a FAIL today and in at least one saved run, with the same text in all of them.

    Questions in quarantine, ERRORs, and saved runs with another text of the question are left out.
    """

    key: Key
    thresholds: Scores
    known: tuple[KnownRun, ...]
    """The saved runs, oldest first; at least one."""

    now: Look
    """The first look of today. A recorded answer keeps its recorded scores if the judge is the same."""

    documents: frozenset[str] = frozenset()
    """The gold documents in the question file; questions that share a document may form one unit."""

    context_documents: frozenset[str] = frozenset()

    @property
    def passed_before(self) -> bool:
        return self.known[-1].passed

    @property
    def stumbled(self) -> bool:
        """True if the latest saved run failed, and five failures are unlikely by Laplace's rule of succession."""
        # Two failures at the end, or one with the answer of today, show that it was broken already.
        looks = [look for run in self.known for look in run.looks]
        passed, answer = [look.passed for look in looks], self.now.answer
        return (
            not self.passed_before
            and any(passed[-2:])
            and answer is not None
            and (passed[-1] or looks[-1].answer != answer)
            # After one pass five failures are as unlikely: 1 / 21.
            and comb(passed.count(False) + 5, 5) * 20 <= comb(len(looks) + 6, 5)
        )

    @property
    def before(self) -> Look:
        """The first look of the latest saved run; of the latest that passed if the question stumbled."""
        passed = [run for run in self.known if run.passed] if self.stumbled else []
        return (passed or self.known)[-1].looks[0]

    @property
    def is_candidate(self) -> bool:
        return self.before.passed and not self.now.passed

    @property
    def looks_by_run(self) -> tuple[Look, ...]:
        """The first look of each run, oldest run first, today last."""
        return (*(run.looks[0] for run in self.known), self.now)

    @property
    def changed(self) -> bool:
        """True unless all runs gave the same recognizable answer."""
        answer = self.now.answer
        return answer is None or any(run.looks[0].answer != answer for run in self.known)

    def margin(self, scores: Scores) -> float:
        """Distance of the worst asserted metric from its minimum; below 0 for a FAIL."""
        margins = [round(scores[m], 6) - round(least, 6) for m, least in self.thresholds.items() if m in scores]
        return min(margins, default=0.0)


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


class Outcome(Enum):
    """
    Outcome of a candidate: a question that passed in the latest saved run and fails today.

    The values are the titles of the groups in the report, in their order.
    """

    CONFIRMED = "confirmed as failing"
    NOT_MEASURED = "not fully examined"
    JUDGE_STRICTER = "judged stricter today"
    NOT_WORSE = "passed or not worse side by side"
    PASSED_AGAIN = "passed when asked again"


@frozen
class SideBySide:
    """New judgements of both answers, each as its lowest margin over the asserted metrics."""

    recorded: tuple[float, ...]
    """Below 0 for a FAIL by today's judge."""

    new: tuple[float, ...]
    p: float
    """Chance of a difference this large if the new answers are no worse, 0..1; 0.0 for a deterministic judge."""

    worse: bool
    """True if the new answers are worse, and most of their judgements are a FAIL."""


@frozen
class Examined:
    question: ComparedQuestion
    outcome: Outcome | None = None
    """None if the question is not a candidate."""

    side_by_side: SideBySide | None = None
    """None without a side-by-side judgement: no candidate, passed again, or no texts to judge."""

    improved: bool = False
    """True if exactly one saved run failed in all looks, and is worse side by side than the others and today."""

    @property
    def confirmed(self) -> bool:
        return self.outcome is Outcome.CONFIRMED
