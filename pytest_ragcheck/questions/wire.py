"""Converts questions to JSON values for other processes, and back."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any

from pytest_ragcheck.questions.question import EarlierTurn, GoldPassage, Origin, Question, QuestionSet

_PASSAGES = ("gold_passages", "distractors")


def question_to_wire(question: Question) -> dict[str, Any]:
    """Return the question as JSON values, with its file and line, but only the texts of earlier turns."""
    # The session ends with the run, but the answer was judged with the history.
    wire: dict[str, Any] = {
        name: getattr(question, name) for name in Question.__dataclass_fields__ if name != "session"
    }
    for name in ("thresholds", "metadata"):
        wire[name] = dict(wire[name])
    for name in _PASSAGES:
        wire[name] = [[passage.text, passage.doc_id, passage.identity] for passage in wire[name]]
    # No other process asks the earlier turns for this question, and whole questions would grow quadratically.
    wire["earlier"] = [[turn.id, turn.question] for turn in question.earlier]
    wire["history"] = [[turn.question, turn.answer, list(turn.contexts)] for turn in question.history]
    wire["path"] = str(question.path) if question.path else None
    return wire


def question_from_wire(wire: dict[str, Any]) -> Question:
    read: dict[str, Any] = {name: tuple(value) if isinstance(value, list) else value for name, value in wire.items()}
    for name in _PASSAGES:
        read[name] = tuple(
            GoldPassage(text=text, doc_id=doc_id, identity=identity) for text, doc_id, identity in wire[name]
        )
    names = {"dataset_name": wire["dataset_name"], "conversation": wire["conversation"]}
    read["earlier"] = tuple(
        Question(id=name, question=text, turn=number, **names) for number, (name, text) in enumerate(wire["earlier"], 1)
    )
    read["history"] = tuple(
        EarlierTurn(question=asked, answer=answer, contexts=tuple(contexts))
        for asked, answer, contexts in wire["history"]
    )
    return Question(**{**read, "path": Path(wire["path"]) if wire["path"] else None})


def set_to_wire(questions: QuestionSet) -> dict[str, Any]:
    return {
        "dataset_name": questions.dataset_name,
        "path": str(questions.path),
        "tier": questions.tier,
        "ingest": questions.ingest,
        "origin": asdict(questions.origin) if questions.origin else None,
        "questions": list(map(question_to_wire, questions.questions)),
    }


def set_from_wire(wire: dict[str, Any]) -> QuestionSet:
    questions = tuple(map(question_from_wire, wire["questions"]))
    origin = Origin(**wire["origin"]) if wire["origin"] else None
    return QuestionSet(**{**wire, "path": Path(wire["path"]), "questions": questions, "origin": origin})
