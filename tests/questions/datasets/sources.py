"""The small files of this folder: official shapes, with texts written for this project; and ways to load any file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_ragcheck.questions.datasets.loading import load_questions
from pytest_ragcheck.questions.datasets.registry import known_datasets
from pytest_ragcheck.questions.datasets.standard_dataset import read_choice

if TYPE_CHECKING:
    from pytest_ragcheck.questions.question import Question, QuestionSet

FILES = Path(__file__).parent / "files"

OWN = {
    "ragbench": FILES / "ragbench.jsonl",
    "squad_v2": FILES / "squad_v2.json",
    "golden": FILES / "golden.json",
    "qasper": FILES / "qasper.json",
    "hotpotqa": FILES / "hotpotqa.json",
    "msmarco": FILES / "msmarco.json",
}
"""By dataset its file."""

SLICES = Path(__file__).parents[4] / "shared" / "data" / "slices"
"""Rows of the real datasets, which are no part of the project; tests over them are skipped without them."""


def loaded(choice: str, *, samples: int | None = None, seed: int = 0) -> QuestionSet:
    """The questions of `--rag-dataset=CHOICE`."""
    read = read_choice(choice)
    return load_questions(read, known_datasets()[read.name], samples=samples, seed=seed)


def questions_of(name: str, path: Path | None = None) -> dict[str, Question]:
    """By id the questions of a dataset's file, its own or another."""
    return {question.id: question for question in loaded(f"{name}={path or OWN[name]}").questions}


def content(name: str) -> Any:
    """The JSON value of a dataset's own file; of JSON Lines the list of its rows."""
    text = OWN[name].read_text(encoding="utf-8")
    return json.loads(text) if OWN[name].suffix == ".json" else [json.loads(line) for line in text.splitlines()]


def written(folder: Path, value: Any, name: str = "rows.json") -> Path:
    """A file with the JSON value."""
    path = folder / name
    path.write_text(json.dumps(value), encoding="utf-8")
    return path


def by_column(rows: list[dict[str, Any]]) -> dict[str, list[Any]]:
    """A list of objects as the hub writes it: an object of lists."""
    return {key: [row[key] for row in rows] for key in rows[0]}
