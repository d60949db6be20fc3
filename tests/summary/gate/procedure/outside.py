"""Questions and an outside world for the gate's session: a system with canned answers and a judge with known scores."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from pytest_ragcheck.summary.gate.procedure.candidate import examine
from pytest_ragcheck.summary.gate.procedure.compared_question import (
    AskAgain,
    ComparedQuestion,
    JudgeAnew,
    KnownRun,
    Look,
    Reply,
    Request,
    drive,
)
from pytest_ragcheck.summary.gate.procedure.gate_session import procedure_for, weigh

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from pytest_ragcheck.summary.gate.procedure.gate_session import GateFindings

METRIC, THRESHOLD = "answer_correctness", 0.7


def look(answer: str | None, score: float, **scores: float) -> Look:
    """A look with one asserted score, and further ones."""
    return Look(answer=answer, scores={METRIC: score, **scores}, passed=score >= THRESHOLD)


def question(number: int, *, before: Look, now: Look, runs: int = 1, document: str = "") -> ComparedQuestion:
    """A question that the saved runs answered alike."""
    return ComparedQuestion(
        key=("set", str(number)),
        thresholds={METRIC: THRESHOLD},
        known=tuple(KnownRun(looks=(before,)) for _ in range(runs)),
        now=now,
        documents=frozenset({document} if document else ()),
    )


def steady(number: int, *, runs: int = 1, document: str = "", score: float = 0.9) -> ComparedQuestion:
    """A question with the same answer in all runs."""
    same = look(f"{number} as ever", score)
    return question(number, before=same, now=same, runs=runs, document=document)


def broke(number: int, *, runs: int = 1, document: str = "") -> ComparedQuestion:
    """A question that always passed and fails now."""
    before, now = look(f"{number} right", 0.9), look(f"{number} wrong", 0.2)
    return question(number, before=before, now=now, runs=runs, document=document)


@dataclass
class Outside:
    """Serves the requests: the system repeats its answer of today, and the judge has a score for each answer."""

    questions: list[ComparedQuestion]
    shift: float = 0.0
    """By how much the judge is more lenient today."""

    again: Mapping[str, Reply] = field(default_factory=dict)
    """By question id the answers when asked again, if not today's answer."""

    served: list[Request] = field(default_factory=list)

    def __call__(self, request: Request) -> Reply:
        """The reply to one request."""
        self.served.append(request)
        asked = next(each for each in self.questions if each.key == request.key)
        if isinstance(request, AskAgain):
            return self.again.get(request.key[1], asked.now)
        looks = {each.answer: each for run in asked.known for each in run.looks} | {asked.now.answer: asked.now}
        looks |= {each.answer: each for each in self.again.values() if isinstance(each, Look)}
        return tuple(
            {metric: score + self.shift for metric, score in looks[answer].scores.items()} for answer in request.answers
        )

    @property
    def judged(self) -> int:
        """How many judgements were asked for."""
        return sum(len(request.answers) for request in self.served if isinstance(request, JudgeAnew))


def decided(
    questions: list[ComparedQuestion], *, name: str = "regression", outside: Outside | None = None
) -> GateFindings:
    """The findings of the gate."""
    return gate(questions, outside or Outside(questions), name=name)


def gate(
    questions: Sequence[ComparedQuestion], serve: Callable[[Request], Reply], *, name: str = "regression"
) -> GateFindings:
    """Decide as a run does, with the default false alarms and tolerance and a judge with noise."""
    used = procedure_for(name, len(questions))
    examined = [drive(examine(question, gate=used), serve) for question in questions]
    return weigh(examined, serve, gate=used, false_alarms=0.01, tolerance=0.01, deterministic_judge=False)
