"""The result files of a run as JSON values, from the run itself or read again."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from pytest_ragcheck.errors import UsageError
from pytest_ragcheck.report.flaky import flaky_lines
from pytest_ragcheck.summary.flaky import Flaky
from pytest_ragcheck.summary.predictions_file import Unusable, read_document

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from pytest_ragcheck.summary.baseline import Baseline

Document = dict[str, Any]

ENDING = "_predictions.json"
"""How the name of a predictions file ends."""

_GIVE = "Give the {agent}_predictions.json of a run."
_ANEW = "Run the questions once more to have such a file."


@dataclass(frozen=True, slots=True, kw_only=True)
class Results:
    """The result files of one run, as JSON values."""

    predictions: Document
    summary: Document
    questions: Sequence[Document] = ()
    """Those of the `{dataset}_questions.json` that are there; without them expected answers and tags are not shown."""

    baseline: Baseline | None = None
    """What this run is compared with."""

    notes: Sequence[str] = ()
    """Lines about the gate, as the terminal had them."""

    gate: str | None = None
    """What the gate held against the run as a whole, in one line; empty: nothing; None: no gate looked at it."""

    xfailed: Mapping[tuple[str, str], str] = field(default_factory=dict)
    """By identity why pytest showed a FAIL as an expected one."""

    asked: Mapping[tuple[str, str], Document] = field(init=False)
    """By dataset name and id the row of the questions file."""

    def __post_init__(self) -> None:
        asked = {(file["dataset_name"], row["id"]): row for file in self.questions for row in file["questions"]}
        object.__setattr__(self, "asked", asked)


def read_results(path: Path) -> Results:
    """
    The results that a predictions file belongs to, with what the run's own gate made of them.

    The summary has to lie beside it; of the questions files those that do are read.

    Raises:
        UsageError: A file is none that a run wrote.
    """
    predictions = _predictions(path)
    summary_path = path.with_name(path.name.removesuffix(ENDING) + "_summary.json")
    summary = _json(summary_path)
    if "metric_statistics" not in summary:
        raise UsageError(f"{summary_path}: it is no summary of a run. Keep the files of a run together.")
    return Results(
        predictions=predictions,
        summary=summary,
        questions=tuple(_questions(path.parent, {row["dataset_name"] for row in all_rows(predictions)})),
        notes=tuple(flaky_lines([Flaky(**each) for each in summary.get("flaky", ())])),
        gate=summary.get("gate", {}).get("reason"),
        xfailed={key_of(row): row["tolerated"] for row in predictions["predictions"] if row.get("tolerated")},
    )


def predictions_path(path: Path, *, partial: bool = False) -> Path:
    """
    The predictions file that is meant by itself, by its path without the ending, or by its folder.

    Args:
        path: What was given.
        partial: Whether the file of a partial run will do, where the folder has no other.

    Raises:
        UsageError: The folder has several.
    """
    if path.is_dir():
        every = sorted(path.glob(f"*{ENDING}"))
        full = [each for each in every if not each.name.endswith(f".partial{ENDING}")]
        found = full or (every if partial else [])
        if len(found) != 1:
            names = ", ".join(each.name for each in found) or "none"
            raise UsageError(f"{path}: of a folder the one {ENDING} file is read, and it has {names}. Name the file.")
        return found[0]
    if not path.exists():
        longer = path.with_name(path.name + ENDING)
        return longer if longer.exists() else path
    return path


def all_rows(document: Mapping[str, Any]) -> Iterator[Document]:
    """The rows with a PASS or a FAIL, then the ERRORs."""
    yield from document.get("predictions", ())
    yield from document.get("errors", ())


def key_of(row: Mapping[str, Any]) -> tuple[str, str]:
    """The identity of a row's question."""
    return row["dataset_name"], row["question_id"]


def _predictions(path: Path) -> Document:
    try:
        document: Document = read_document(path, give=_GIVE, anew=_ANEW)
        if not all(isinstance(row["question"], str) and key_of(row) for row in all_rows(document)):
            raise TypeError  # noqa: TRY301 - the same text
    except Unusable as error:
        raise UsageError(f"{path}: {error}") from None
    except (KeyError, TypeError):
        raise UsageError(f"{path}: it has rows that no run wrote. {_GIVE}") from None
    return document


def _questions(folder: Path, datasets: set[str]) -> Iterable[Document]:
    for path in sorted(folder.glob("*_questions.json")):
        document = _json(path)
        if document.get("dataset_name") in datasets and isinstance(document.get("questions"), list):
            yield document


def _json(path: Path) -> Document:
    try:
        document = json.loads(path.read_bytes())
    except OSError as error:
        raise UsageError(f"{path}: it cannot be read ({error.strerror}). Keep the files of a run together.") from None
    except ValueError:
        raise UsageError(f"{path}: it is not JSON. Take the files as the run wrote them.") from None
    return document if isinstance(document, dict) else {}
