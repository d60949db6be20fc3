from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import field
from pathlib import Path
from typing import Any

from pytest_ragcheck.errors import UsageError
from pytest_ragcheck.frozen import frozen
from pytest_ragcheck.report.files.output_folder import safe_name
from pytest_ragcheck.report.terminal.findings_lines import FoundChange
from pytest_ragcheck.report.terminal.gate_lines import flaky_lines
from pytest_ragcheck.summary.gate.baseline_comparison import Flaky
from pytest_ragcheck.summary.gate.baseline_reader import Baseline
from pytest_ragcheck.summary.predictions_reader import (
    ENDING,
    Fields,
    Key,
    key_of,
    naming,
    read_document,
    read_json,
    refuse_older,
    rows,
)

Document = dict[str, Any]

_GIVE = "Give the {agent}_predictions.json of a run."
_SUMMARY = "_summary.json"
_PASSAGES = ("gold_passages", "distractors")
_TEXTS = ("all_acceptable_answers", "must_not_mention", "must_not_retrieve", "tags")
RUN_AGAIN = "Run the questions once more to have such a file."


@frozen
class Results:
    predictions: Document
    summary: Document
    asked: Mapping[Key, Document] = field(default_factory=dict)
    """The rows of the existing `{dataset}_questions.json`, with the expected answers and tags."""

    baseline: Baseline | None = None

    notes: Sequence[str] = ()
    """The gate's lines, as in the terminal."""

    gate: str | None = None
    """The gate's reasons for red in one line; empty if the gate is green; None without a gate."""

    xfailed: Mapping[Key, str] = field(default_factory=dict)
    """The reason of each tolerated FAIL."""

    changes: Mapping[Key, FoundChange] = field(default_factory=dict)
    """The change of each question against the baseline."""


def asked_rows(files: Iterable[Document]) -> dict[Key, Document]:
    """The rows of questions files by dataset name and id, with a row for each turn of a conversation."""
    return {
        (file["dataset_name"], turn["id"]): turn for file in files for row in file["questions"] for turn in _turns(row)
    }


def _turns(row: Document) -> Iterator[Document]:
    if "turns" not in row:
        yield row
    for number, turn in enumerate(row.get("turns", ()), 1):
        yield {**turn, "id": f"{row['id']}[turn{number}]", "conversation": row["id"], "turn": number}


def read_results(path: Path) -> Results:
    """
    The results around a predictions file, with the decision of the run's own gate.

    The summary must be in the predictions file's folder. Question files in that folder are read too.

    Raises:
        UsageError: A file is not a result file.
    """
    predictions = _predictions(path)
    if not path.name.endswith(ENDING):
        raise UsageError(
            f"{path}: its name does not end in {ENDING}, so no summary belongs to it. Give the folder of a run, or "
            "git:REV:PATH for the history of a baseline."
        )
    summary_path = path.with_name(path.name.removesuffix(ENDING) + _SUMMARY)
    summary = _json(summary_path)
    if "metric_statistics" not in summary:
        raise UsageError(f"{summary_path}: it is not the summary of a run. Keep the files of a run together.")
    order = [*summary["datasets"]]
    files = sorted(questions_files(path.parent, order), key=lambda file: order.index(file["dataset_name"]))
    return Results(
        predictions=predictions,
        summary=summary,
        asked=asked_rows(files),
        notes=tuple(flaky_lines([Flaky(**each) for each in summary.get("flaky", ())])),
        gate=summary.get("gate", {}).get("reason"),
        xfailed={key_of(row): row["tolerated"] for row in predictions["predictions"] if row.get("tolerated")},
    )


def predictions_path(path: Path, *, partial: bool = False) -> Path:
    """
    The predictions file named by its path, by its path without the ending, or by its folder.

    With *partial*, the file of a partial run is returned if it is later than that of the last full run.

    Raises:
        UsageError: The folder has predictions files of several agents, or those of a run before an unfinished one.
    """
    found = path
    if path.is_dir():
        found = _in_folder(path, partial=partial)
    elif not path.exists() and (longer := path.with_name(path.name + ENDING)).exists():
        found = longer
    with naming(path):
        refuse_older(found)
    return found


def place_of_results(folder: Path, agent: str) -> Path:
    """The folder as a place for `predictions_path`, or the agent's file if the folder has other agents too."""
    own = f"{safe_name(agent)}{ENDING}"
    others = {path.name.replace(".partial_", "_") for path in folder.glob(f"*{ENDING}")} - {own}
    return folder / own if others else folder


def _in_folder(folder: Path, *, partial: bool) -> Path:
    found: dict[str, Path] = {}
    every = sorted(folder.glob(f"*{ENDING}"))
    for each in sorted(every, key=ended_of) if len(every) > 1 else every:
        agent = each.name.removesuffix(ENDING)
        if partial or not agent.endswith(".partial"):
            found[agent.removesuffix(".partial")] = each
    if every and not found:
        names = ", ".join(each.name for each in every)
        raise UsageError(f"{folder}: it has only {names}, of a partial run. Run all questions.")
    if len(found) != 1:
        names = ", ".join(sorted(each.name for each in found.values())) or "none"
        raise UsageError(f"{folder}: expected one file *{ENDING} in the folder, found {names}. Name the file.")
    return next(iter(found.values()))


def ended_of(predictions: Path) -> str:
    """The time at which the run in a predictions file ended, ISO 8601 in UTC; empty if unknown."""
    try:
        return str(json.loads(predictions.read_bytes())["timestamp"])
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return ""


def confirmed_in(predictions: Path) -> frozenset[str]:
    """The questions, as `DATASET::ID`, that the run's own gate confirmed; empty without its summary."""
    path = predictions.with_name(predictions.name.removesuffix(ENDING) + _SUMMARY)
    summary = _json(path) if path.exists() else {}
    is_of_run = summary.get("timestamp") == ended_of(predictions)
    return frozenset(summary.get("gate", {}).get("confirmed", ())) if is_of_run else frozenset()


def all_rows(document: Mapping[str, Any]) -> Iterator[Document]:
    yield from document.get("predictions", ())
    yield from document.get("errors", ())


def _predictions(path: Path) -> Document:
    with naming(path):
        document: Document = read_document(path.read_bytes, wrong_kind=_GIVE, wrong_version=RUN_AGAIN)
    try:
        if all(isinstance(row["question"], str) and key_of(row) for row in all_rows(document)):
            return document
    except (KeyError, TypeError):
        pass
    raise UsageError(f"{path}: a row has no question or no id. {_GIVE}")


def questions_files(folder: Path, datasets: Collection[str]) -> Iterable[Document]:
    """The questions files of the datasets, with rows as a run writes them."""
    for path in sorted(folder.glob("*_questions.json")):
        document = _json(path)
        if document.get("dataset_name") in datasets and isinstance(document.get("questions"), list):
            with naming(path):
                asked = [{"id": row.text("id"), **_as_written(row)} for row in rows(document, "questions")]
            yield {**document, "questions": asked}


def _as_written(fields: Fields) -> Document:
    row = {key: value for key, value in fields.row.items() if value is not None}
    if "turns" in row:
        row["turns"] = list(map(_as_written, rows(row, "turns", f"{fields.place}.")))
    else:
        fields.text("question")
    # Question files may have single values.
    for key in row.keys() & {*_TEXTS, *_PASSAGES}:
        found = row[key] if isinstance(row[key], list) else [row[key]]
        row[key] = [
            each if isinstance(each, dict) else {"text": str(each)} if key in _PASSAGES else str(each) for each in found
        ]
    return row


def _json(path: Path) -> Document:
    with naming(path):
        document = read_json(path.read_bytes, "Keep the files of a run together.")
    return document if isinstance(document, dict) else {}
