"""Reads files of answers that people have labelled, for measuring a judge."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pytest_ragcheck.errors import UsageError
from pytest_ragcheck.frozen import frozen
from pytest_ragcheck.questions.question import EarlierTurn, Question
from pytest_ragcheck.rag.answer import RagAnswer

LABELS = {
    "label_grounded": "groundedness",
    "label_correct": "answer_correctness",
    "label_abstained": "abstained",
}
"""The score that each label is about."""

_MOST_SHOWN = 10
"""Mistakes shown for one file: a file of another kind has one in every row."""


@frozen
class LabelledAnswer:
    question: Question
    """Its id is the row's `id`, or else its line number."""

    answer: RagAnswer
    good: bool
    """The label: the answer is grounded, correct, or an abstention."""

    group: str
    """Rows of one group share a source and are not independent; a row without a group is its own group."""


@frozen
class LabelledAnswers:
    """The rows of one file that have the label."""

    label: str
    """One of `LABELS`."""

    rows: tuple[LabelledAnswer, ...]

    @property
    def score(self) -> str:
        return LABELS[self.label]


def read_labelled_answers(path: Path, *, label: str | None = None) -> LabelledAnswers:
    """
    Reads the labelled answers of a file, without the rows whose label is null.

    Args:
        path: JSON lines with `question`, `answer`, `contexts`, `expected_answers`, `id`, `meta.group` and labels. A
            turn of a conversation has the earlier ones as `history`, each with `question`, `answer` and `contexts`.
        label: One of `LABELS`; None takes the only label that occurs.

    Raises:
        UsageError: The file cannot be read, or it has several labels and *label* is None.
    """
    rows = list(_objects(path))
    label = _only_label(path, rows) if label is None else label
    labelled: list[LabelledAnswer] = []
    mistakes: list[str] = []
    lines: dict[str, int] = {}
    for line, row in rows:
        if row.get(label) is None:
            continue
        first = lines.setdefault(json.dumps(row, sort_keys=True), line)
        if problem := _problem(row, label) or (first < line and f"repeats line {first}. Delete one of them."):
            mistakes.append(f"{path}:{line}: {problem}")
        else:
            labelled.append(_labelled(row, line, label))
    if mistakes:
        further = len(mistakes) - _MOST_SHOWN
        shown = "\n".join(mistakes[:_MOST_SHOWN])
        raise UsageError(f"{shown}\nand {further} more" if further > 0 else shown)
    if not labelled:
        raise UsageError(f"{path}: no row has a {label} that is 1 or 0. Label some answers, or choose another --label.")
    return LabelledAnswers(label=label, rows=tuple(labelled))


def _objects(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    # The line number, from 1, and the object of each line that is not blank.
    try:
        text = path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise UsageError(f"{path}: it is not UTF-8 (byte {error.start}). Save it as UTF-8.") from None
    except OSError as error:
        raise UsageError(f"{path}: it cannot be read ({error.strerror}). Give a file of JSON lines.") from None
    # Not splitlines: a JSON string may contain U+2028, which splitlines takes for a line end.
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise UsageError(f"{path}:{number}: it is not JSON ({error}). Write one object a line.") from None
        if not isinstance(row, dict):
            raise UsageError(f"{path}:{number}: it is {type(row).__name__}, not an object. Write one object a line.")
        yield number, row


def _only_label(path: Path, rows: list[tuple[int, dict[str, Any]]]) -> str:
    found = [label for label in LABELS if any(row.get(label) is not None for _, row in rows)]
    if len(found) == 1:
        return found[0]
    if not found:
        raise UsageError(f"{path}: no row has a label. Give rows one of {', '.join(LABELS)}, with 1 or 0.")
    names = " or ".join(label.removeprefix("label_") for label in found)
    raise UsageError(f"{path}: it has {' and '.join(found)}. Choose one with --label={names}.")


def _problem(row: dict[str, Any], label: str) -> str:
    if row[label] not in (0, 1):
        return f"{label} is {row[label]!r:.40}. Write 1, 0 or null."
    if label == "label_grounded" and "contexts" not in row:
        return "there are no contexts. Write a list of strings, or [] if there were none."
    history = row.get("history", [])
    if not isinstance(history, list) or not all(isinstance(turn, dict) for turn in history):
        return f"history is {history!r:.40}. Write a list of objects, each with question, answer and contexts."
    if problem := next(filter(None, map(_wrong_text, (row, *history))), ""):
        return problem
    if not isinstance(row.get("meta", {}), dict):
        return f"meta is {row['meta']!r:.40}. Write an object."
    return ""


def _wrong_text(row: dict[str, Any]) -> str:
    # The reason why a text of a row or of an earlier turn cannot be read; empty if there is none.
    for key in ("question", "answer"):
        if not isinstance(row.get(key, "" if key == "question" else None), str):
            return f"{key} is {row.get(key)!r:.40}. Write a string."
    for key in ("contexts", "expected_answers"):
        texts = row.get(key, [])
        if not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
            return f"{key} is {texts!r:.40}. Write a list of strings."
    return ""


def _labelled(row: dict[str, Any], line: int, label: str) -> LabelledAnswer:
    question = Question(
        dataset_name="labels",
        id=str(row.get("id", f"line {line}")),
        question=row.get("question", ""),
        all_acceptable_answers=tuple(row.get("expected_answers", ())),
        history=tuple(
            EarlierTurn(
                question=turn.get("question", ""), answer=turn["answer"], contexts=tuple(turn.get("contexts", ()))
            )
            for turn in row.get("history", ())
        ),
    )
    answer = RagAnswer(text=row["answer"], contexts=tuple(row.get("contexts", ())))
    group = row.get("meta", {}).get("group")
    return LabelledAnswer(
        question=question,
        answer=answer,
        good=bool(row[label]),
        group=f"line {line}" if group is None else f"group {group}",
    )
