from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import asdict
from pathlib import Path
from typing import Any

from pytest_ragcheck.frozen import changed_fields
from pytest_ragcheck.questions.question import EarlierTurn, GoldPassage, Origin, Question, QuestionSet

_PASSAGES = {"gold_passages", "distractors"}


def _passages(passages: Iterable[GoldPassage]) -> list[list[str | None]]:
    return [[passage.text, passage.doc_id, passage.identity] for passage in passages]


_WRITERS: dict[str, Callable[[Any], Any]] = {
    **dict.fromkeys(_PASSAGES, _passages),
    **dict.fromkeys(("thresholds", "metadata"), dict),
    # No other process asks the earlier turns for this question, and whole questions would grow quadratically.
    "earlier": lambda turns: [[turn.id, turn.question] for turn in turns],
    "history": lambda turns: [[turn.question, turn.answer, list(turn.contexts)] for turn in turns],
    "path": str,
}


def question_to_wire(question: Question) -> dict[str, Any]:
    """The values that are not the default, and only the texts of earlier turns."""
    # The session ends with the run, but the answer was judged with the history.
    wire = changed_fields(question)
    wire.pop("session", None)
    return {name: _WRITERS[name](value) if name in _WRITERS else value for name, value in wire.items()}


def question_from_wire(wire: dict[str, Any]) -> Question:
    read: dict[str, Any] = {name: tuple(value) if isinstance(value, list) else value for name, value in wire.items()}
    for name in _PASSAGES & wire.keys():
        read[name] = tuple(
            GoldPassage(text=text, doc_id=doc_id, identity=identity) for text, doc_id, identity in wire[name]
        )
    if "earlier" in wire:
        names = {name: wire[name] for name in ("dataset_name", "conversation")}
        turns = enumerate(wire["earlier"], 1)
        read["earlier"] = tuple(
            Question(id=name, question=text, turn=number, **names) for number, (name, text) in turns
        )
    if "history" in wire:
        read["history"] = tuple(
            EarlierTurn(question=asked, answer=answer, contexts=tuple(contexts))
            for asked, answer, contexts in wire["history"]
        )
    if wire.get("path"):
        read["path"] = Path(wire["path"])
    return Question(**read)


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
