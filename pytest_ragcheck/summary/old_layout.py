"""Reads results of the five-file layout into `Outcomes`, and lists the losses."""

#     {name}.json                 `results` and `predictions`, the questions among them
#     {name}_metrics.json         the means, with the time
#     {name}_metrics.txt          the same for people
#     {name}_per_question.json    the metrics of each question
#     {name}_per_question.csv     the same as a table

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from pytest_ragcheck.errors import DatasetError
from pytest_ragcheck.frozen import frozen
from pytest_ragcheck.questions.datasets.standard_dataset import Row, described
from pytest_ragcheck.questions.question import Question, QuestionSet
from pytest_ragcheck.questions.question_ids import usable_id
from pytest_ragcheck.scores import LARGEST, Score
from pytest_ragcheck.summary.run_outcomes import Outcomes
from pytest_ragcheck.verdict.record import Record
from pytest_ragcheck.verdict.verdict import Verdict

NO_VERDICTS = "no verdicts: nothing was asserted, so every question counts as measured, and PASS"
NO_CIRCUMSTANCES = "no contexts, latencies, judge or endpoint: the old layout has none"
NO_IDS = "no ids: the number of each question, from 0, is its id"
NOT_MEASURED = "not measured in the old results"

_NO_METRICS = frozenset({"num_examples", "agent_name", "dataset_name"})
_RUN_KEYS = _NO_METRICS | {"timestamp", "metrics", "per_question_metrics"}
_PREDICTION_KEYS = frozenset(
    {"id", "question", "prediction", "expected_answer", "all_acceptable_answers", "references", "metadata"}
)
_QUESTION_KEYS = frozenset({"question_index", "question"})
_SAME = 5e-5
"""Means closer than this count as equal, since the text file has four decimals."""


@frozen
class OldResults:
    outcomes: Outcomes
    lost: tuple[str, ...]
    """One sentence for each value that was lost or substituted."""


def read_old_results(path: Path) -> OldResults:
    """
    The results of the main file *path* and the files beside it.

    Raises:
        DatasetError: A file has unexpected content; the text names the content and the place.
    """
    main = _document(path, rows="predictions")
    results, predictions = main.row("results"), main.rows("predictions")
    if not predictions:
        raise DatasetError(f"{path.name}: expected questions under 'predictions', found an empty list.")
    metrics_path = path.with_name(f"{path.stem}_metrics.json")
    about = _document(metrics_path) if metrics_path.is_file() else results
    measured, lost = _measured(path, predictions)
    timestamp, assumed = _timestamp(about, path)
    dataset_name = results.optional_text("dataset_name") or "unknown"
    questions = [_question(number, row, dataset_name) for number, row in enumerate(predictions)]
    assumed += [NO_IDS] * any("id" not in row for row in predictions)
    if without := sum(not question.acceptable_answers for question in questions):
        assumed.append(
            f"no expected answer of {without} of {len(questions)} questions: counted as answerable, as every other"
        )
    _check_ids(predictions, questions)
    records = tuple(
        Record(
            question=replace(question, metadata=_metadata(row)),
            verdict=Verdict.PASS,
            answer=row.text("prediction"),
            scores=scores,
        )
        for question, row, scores in zip(questions, predictions, measured, strict=True)
    )
    outcomes = Outcomes(
        agent_name=results.optional_text("agent_name") or path.stem.removesuffix("_results"),
        session_name=dataset_name,
        timestamp=timestamp,
        sets=(QuestionSet(dataset_name=dataset_name, path=path, questions=tuple(questions)),),
        records=records,
        skipped={},
        complete=True,
        thresholds={},
        groups=(),
    )
    means = _overall(results, about, measured)
    left = [*_left(main, {"results", "predictions"}), *(_left(about, _RUN_KEYS) if about is not results else [])]
    return OldResults(outcomes=outcomes, lost=(NO_VERDICTS, NO_CIRCUMSTANCES, *assumed, *lost, *means, *left))


def _document(path: Path, *, rows: str = "") -> Row:
    # The object in the file; a list becomes the value under *rows*, with empty `results`.
    try:
        value = json.loads(_text(path), parse_int=_int)
    except (ValueError, RecursionError) as error:
        raise DatasetError(f"{path.name}: expected JSON, found something else ({error}).") from error
    if isinstance(value, list) and rows:
        value = {"results": {}, rows: value}
    if not isinstance(value, dict):
        expected = f"an object or a list of {rows}" if rows else "an object"
        raise DatasetError(f"{path.name}: expected {expected}, found {described(value)}.")
    return Row(path.name, value)


def _text(path: Path) -> str:
    try:
        return path.read_bytes().decode("utf-8-sig")
    except OSError as error:
        raise DatasetError(f"{path}: cannot be read ({error.strerror or error}).") from error
    except UnicodeDecodeError as error:
        raise DatasetError(f"{path.name}: expected UTF-8, found another encoding (byte {error.start}).") from None


def _int(digits: str) -> float:
    # The number; infinity if a float cannot hold it.
    return int(digits) if math.isfinite(float(digits)) else float(digits)


def _question(number: int, row: Row, dataset_name: str) -> Question:
    listed = row.texts("all_acceptable_answers" if "all_acceptable_answers" in row else "references")
    answers = tuple(answer for answer in listed if answer.strip())
    return Question(
        dataset_name=dataset_name,
        id=usable_id(row.text("id")) if "id" in row else str(number),
        question=row.text("question"),
        expected_answer=row.optional_text("expected_answer") or (answers[0] if answers else None),
        all_acceptable_answers=answers,
    )


def _check_ids(rows: Sequence[Row], questions: Sequence[Question]) -> None:
    first: dict[str, Row] = {}
    for row, question in zip(rows, questions, strict=True):
        other = first.setdefault(question.id, row)
        if other is not row:
            raise DatasetError(f"{row.place}: expected an id of its own, found that of {other.place}: {question.id!r}.")


def _metadata(row: Row) -> Mapping[str, Any]:
    further = {name: value for name, value in row.columns.items() if name not in _PREDICTION_KEYS}
    return {**further, **(row.row("metadata").columns if "metadata" in row else {})}


def _left(row: Row, known: Collection[str]) -> list[str]:
    keys = ", ".join(repr(name) for name in row.columns if name not in known)
    return [f"{row.place}: the three files have no place for {keys}"] if keys else []


def _measured(path: Path, predictions: Sequence[Row]) -> tuple[list[dict[str, Score]], list[str]]:
    as_json, as_csv = (path.with_name(f"{path.stem}_per_question.{ending}") for ending in ("json", "csv"))
    if as_json.is_file():
        rows = _document(as_json, rows="per_question_metrics").rows("per_question_metrics")
    elif as_csv.is_file():
        rows = tuple(_csv_rows(as_csv))
    else:
        return [{} for _ in predictions], [
            f"no metrics of single questions: neither {as_json.name} nor {as_csv.name} is there"
        ]
    if len(rows) != len(predictions):
        raise DatasetError(
            f"{rows[0].place.partition(',')[0] if rows else as_json.name}: expected {len(predictions)} questions as in "
            f"{path.name}, found {len(rows)}."
        )
    by_place = {row.text("question_index"): row for row in rows}
    found = []
    for number, asked in enumerate(predictions):
        row = by_place.get(str(number))
        if row is None or row.text("question") != asked.text("question"):
            raise DatasetError(f"{asked.place}: expected its metrics as question_index {number}, found other ones.")
        found.append({name: _score(row, name) for name in row.columns if name not in _QUESTION_KEYS})
    return found, []


def _csv_rows(path: Path) -> list[Row]:
    try:
        rows = list(csv.DictReader(io.StringIO(_text(path), newline=""), restval=""))
    except csv.Error as error:
        raise DatasetError(f"{path.name}: expected CSV, found something else ({error}).") from None
    # Cells beyond the heading are under the key None.
    cells = [{k or "": cell if k in _QUESTION_KEYS else _number(cell) for k, cell in row.items()} for row in rows]
    return [Row(f"{path.name}: row {number}", row) for number, row in enumerate(cells, 1)]


def _number(cell: Any) -> Any:
    # The number, None for an empty cell, or the value that is not a number.
    try:
        return json.loads(cell, parse_int=_int) if isinstance(cell, str) and cell else cell or None
    except ValueError:
        return cell


def _score(row: Row, name: str) -> Score:
    value = row.columns[name]
    if value is None:
        return Score.unscored(NOT_MEASURED)
    if not isinstance(value, (int, float)) or isinstance(value, bool):
        raise row.unexpected(name, "a number or null", value)
    return Score(float(value)) if abs(value) <= LARGEST else Score.unscored(f"{NOT_MEASURED}: {value}")


def _timestamp(about: Row, path: Path) -> tuple[datetime, list[str]]:
    text = about.optional_text("timestamp")
    if text is None:
        when = datetime.fromtimestamp(path.stat().st_mtime, timezone.utc)
        return when, [f"no time of the run: the time of the last change of {path.name} is used"]
    try:
        when = datetime.fromisoformat(text)
    except ValueError:
        raise about.unexpected("timestamp", "a time", text) from None
    if when.tzinfo is not None:
        return when, []
    return when.replace(tzinfo=timezone.utc), [f"no time zone: {text} is taken as UTC"]


def _overall(results: Row, about: Row, measured: Sequence[Mapping[str, Score]]) -> list[str]:
    old = about.row("metrics").columns if "metrics" in about else results.columns
    lost = []
    for name, mean in old.items():
        if name in _NO_METRICS or not isinstance(mean, (int, float)):
            continue
        values = [score.value for scores in measured if (score := scores.get(name)) and score.value is not None]
        if not values:
            lost.append(f"{name}: only its mean {mean:.4f} is there, and a mean is not carried over without its values")
        elif abs((found := sum(values) / len(values)) - mean) > _SAME:
            lost.append(f"{name}: the old mean is {mean:.4f}, that of the questions {found:.4f}")
    return lost
