"""Writes questions as rows of files, and for other processes, which read them back."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from itertools import groupby
from pathlib import Path
from typing import Any

from pytest_ragcheck.frozen import changed_fields
from pytest_ragcheck.questions.fields.entry import SCHEMA_VERSION
from pytest_ragcheck.questions.question import (
    END_TO_END,
    TIERS,
    EarlierTurn,
    GoldPassage,
    Origin,
    Question,
    QuestionSet,
)


def tier_of(questions: tuple[Question, ...]) -> str:
    tiers = {question.tier for question in questions}
    return tiers.pop() if len(tiers) == 1 else "mixed" if tiers else END_TO_END


def questions_document(
    dataset_name: str,
    questions: Sequence[Question],
    *,
    rows: Callable[[Iterable[Any]], Any] = list,
    encoded: Callable[[Question], Any] = lambda _: None,
) -> dict[str, Any]:
    """
    The content of `{dataset}_questions.json`, a question file without defaults for the whole file.

    *rows* collects the rows: `list` gives a JSON array, `iter` lets a writer write one row at a time. *encoded* returns
    the row of a question that was encoded before, or None.
    """
    tier = tier_of(tuple(questions))
    return {
        "schema_version": SCHEMA_VERSION,
        "dataset_name": dataset_name,
        "num_questions": len(questions),
        **({"tier": tier} if tier in TIERS and tier != END_TO_END else {}),
        **({"ingest": True} if questions and all(question.ingest for question in questions) else {}),
        "questions": rows(_entries(questions, encoded)),
    }


def write_questions(path: Path, dataset_name: str, questions: Sequence[Question]) -> None:
    """Write a question file, as YAML or JSON by the suffix; a missing folder is created."""
    path.parent.mkdir(parents=True, exist_ok=True)
    document = questions_document(dataset_name, questions)
    if path.suffix == ".json":
        text = json.dumps(document, ensure_ascii=False, indent=2) + "\n"
    else:
        from pytest_ragcheck.questions.nodes.yaml_nodes import yaml_text

        text = yaml_text(document)
    path.write_text(text, encoding="utf-8")


def _entries(questions: Iterable[Question], encoded: Callable[[Question], Any]) -> Iterator[Any]:
    for conversation, of_one in groupby(questions, key=lambda question: question.conversation):
        if conversation:
            rows = map(question_row, of_one)
            turns = [{key: value for key, value in row.items() if key != "id"} for row in rows]
            yield {"id": conversation, "turns": turns}
        else:
            yield from (encoded(question) or question_row(question) for question in of_one)


def question_row(question: Question) -> dict[str, Any]:
    """
    The question as JSON types, its keys in a fixed order.

    The first four keys are always present. `expected_answer` is null if unknown. `all_acceptable_answers` holds every
    accepted answer, the expected one first. Other keys are left out if they have their default value.
    """
    row: dict[str, Any] = {
        "id": question.id,
        "question": question.question,
        "expected_answer": question.expected_answer,
        "all_acceptable_answers": list(question.acceptable_answers),
    }
    further = {
        "must_mention": list(question.must_mention),
        "must_not_mention": list(question.must_not_mention),
        "must_cite": list(question.must_cite),
        "must_not_retrieve": list(question.must_not_retrieve),
        "gold_passages": list(map(_passage_row, question.gold_passages)),
        "distractors": list(map(_passage_row, question.distractors)),
        "as": question.identity or None,
        "answerable": None if question.answerable else False,
        "thresholds": dict(question.thresholds),
        "top_k": question.top_k,
        "tags": list(question.tags),
        "skip": question.skip,
        "xfail": question.xfail,
        "quarantine": question.quarantine,
        "metadata": _json_value(question.metadata),
    }
    row.update((key, value) for key, value in further.items() if value not in (None, [], {}))
    return row


def _passage_row(passage: GoldPassage) -> dict[str, str]:
    fields = {"doc_id": passage.doc_id, "text": passage.text, "as": passage.identity}
    return {name: value for name, value in fields.items() if value}


def _json_value(value: Any) -> Any:
    # *value* as JSON types, since the metadata of a question from a call may hold any object.
    if isinstance(value, Mapping):
        return {str(key): _json_value(part) for key, part in value.items()}
    if isinstance(value, (list, tuple)):
        return list(map(_json_value, value))
    if value is None or isinstance(value, (str, bool, int)):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)
    return str(value)


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
