"""Makes questions, records and outcomes for tests, with defaults for everything that a test does not set."""

from __future__ import annotations

from datetime import datetime, timezone
from pathlib import Path
from typing import Any, cast

from pytest_ragcheck import Judgement, RagAnswer
from pytest_ragcheck.judging.judgement import JudgeIdentity
from pytest_ragcheck.questions.question import Question, QuestionSet
from pytest_ragcheck.scores import Score
from pytest_ragcheck.summary.run_outcomes import Outcomes, Reach
from pytest_ragcheck.verdict.record import Record
from pytest_ragcheck.verdict.verdict import Verdict

OFFLINE = JudgeIdentity(kind="offline", prompt_version="offline-1")


def a_question(name: str = "refunds", /, **said: Any) -> Question:
    return Question(**{"dataset_name": "billing", "id": name, "question": f"What about {name}?", **said})


def a_record(name: str = "refunds", /, *, question: Question | None = None, **said: Any) -> Record:
    """A record of a question that passed; `scores` may be bare numbers."""
    scores = {
        metric: score if isinstance(score, Score) else Score(score) for metric, score in said.pop("scores", {}).items()
    }
    evaluated: dict[str, Any] = {
        "question": question or a_question(name),
        "verdict": Verdict.PASS,
        "answer": "30 days",
        "judge": OFFLINE,
        "endpoint": "http://localhost/query",
        "scores": scores,
    }
    return Record(**{**evaluated, **said})


def an_error(name: str, /, **said: Any) -> Record:
    """A record of a question that the system did not answer."""
    default = {"answer": None, "error_kind": "endpoint_timeout", "reason": "no reply within 60 s"}
    return a_record(name, **{"verdict": Verdict.ERROR, **default, **said})


def some_outcomes(*records: Record, **said: Any) -> Outcomes:
    """The outcomes of a complete run that had these records and no other question."""
    sets: dict[str, list[Question]] = {}
    for record in records:
        sets.setdefault(record.question.dataset_name, []).append(record.question)
    default: dict[str, Any] = {
        "agent_name": "rag",
        "session_name": "session",
        "timestamp": datetime(2026, 11, 5, 12, 30, tzinfo=timezone.utc),
        "sets": tuple(a_set(name, *questions) for name, questions in sets.items()),
        "records": records,
        "skipped": {},
        "complete": True,
        "thresholds": {"answer_correctness": 0.7, "groundedness": 0.7},
        "reach": Reach(searched=tuple(f"{name}::*" for name in sets)),
    }
    return Outcomes(**{**default, **said})


def a_set(name: str, *questions: Question) -> QuestionSet:
    return QuestionSet(dataset_name=name, path=Path(f"{name}.rag.yaml"), questions=questions)


class Answers:
    """A client as a user may write it, that gives the same answer to every question, or raises it."""

    endpoint = "canned system"

    def __init__(self, answer: Any) -> None:
        self.asked: list[str] = []
        self._answer = answer

    async def ask(self, question: Question) -> RagAnswer:
        self.asked.append(question.question)
        if isinstance(self._answer, BaseException):
            raise self._answer
        return cast("RagAnswer", self._answer)


class Judges:
    """A judge as a user may write it, that gives the same judgement of every answer, or raises it."""

    def __init__(self, judgement: Any = None, **scores: Any) -> None:
        self.judged: list[RagAnswer] = []
        self._judgement = Judgement(**scores) if judgement is None else judgement

    async def judge(self, question: Question, answer: RagAnswer) -> Judgement:
        self.judged.append(answer)
        if isinstance(self._judgement, BaseException):
            raise self._judgement
        return cast("Judgement", self._judgement)
