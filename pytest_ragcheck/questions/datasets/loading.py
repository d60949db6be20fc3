"""`load_questions` reads a chosen dataset, or the same `sample` of it in every run, as a `QuestionSet`."""

from __future__ import annotations

import hashlib
import heapq
import os
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field, replace
from importlib import import_module
from pathlib import Path
from typing import Any

from pytest_ragcheck.errors import DatasetError, UsageError
from pytest_ragcheck.questions.call import check_question
from pytest_ragcheck.questions.datasets.dataset_files import files_at, rows_of_file
from pytest_ragcheck.questions.datasets.dataset_names import DatasetChoice
from pytest_ragcheck.questions.datasets.standard_dataset import Dataset, Hub, Row
from pytest_ragcheck.questions.question import Origin, Question, QuestionSet
from pytest_ragcheck.questions.question_ids import usable_id
from pytest_ragcheck.scores.catalogue import ASSERTABLE


def load_questions(
    choice: DatasetChoice,
    dataset: Dataset,
    *,
    samples: int | None,
    seed: int,
    known_metrics: Collection[str] = ASSERTABLE,
) -> QuestionSet:
    """
    The questions of the choice, which `check_choice` accepts, in the order of the file.

    *samples* is the maximum number of questions; None for all. Their `thresholds` may name *known_metrics*.

    Raises:
        DatasetError: The file or the hub has another format.
        UsageError: A package is missing, or the dataset made a question that cannot be asked.
    """
    split = choice.split or dataset.split
    seen = _Seen()
    try:
        read = dataset.read(_rows(choice, dataset, split), choice.dataset_name)
        chosen = sample(_usable(choice, read, seen, known_metrics), samples, seed=seed)
    except DatasetError as error:
        raise DatasetError(f"{error}\n{dataset.name} is read from {dataset.official}.") from error
    if not chosen:
        raise DatasetError(f"{choice}: expected questions, found none.")
    return QuestionSet(
        dataset_name=choice.dataset_name,
        path=choice.path or Path(choice.dataset_name),
        questions=chosen,
        origin=Origin(
            source=choice.path.name if choice.path else f"hub: {dataset.hub.repository if dataset.hub else ''}",
            split=None if choice.path is not None and choice.path.is_file() else split,
            available=len(seen.by_id),
            left_out=seen.left_out,
            samples=samples,
            seed=seed,
        ),
    )


@dataclass(slots=True)
class _Seen:
    by_id: dict[str, str] = field(default_factory=dict)
    """The start of each question's text by its id."""

    left_out: int = 0


def _usable(
    choice: DatasetChoice, read: Iterable[Question], seen: _Seen, known_metrics: Collection[str]
) -> Iterator[Question]:
    # Yield the questions with a text, each with an id that is valid in a node id and with the path of its file.
    for question in read:
        if not isinstance(question, Question):
            raise UsageError(f"{choice}: the dataset's read returned {question!r:.80}, not a Question.")
        if isinstance(question.question, str) and not question.question.strip():
            seen.left_out += 1
            continue
        text = str(question.question)[:60]
        question_id = usable_id(question.id) if isinstance(question.id, str) else question.id
        usable = replace(question, dataset_name=choice.dataset_name, id=question_id, path=choice.path)
        check_question(usable, known_metrics=known_metrics, given_as=str(choice))
        if question_id in seen.by_id:
            raise DatasetError(
                f"{choice}: expected an id of its own for each question, found {question_id!r} twice: "
                f"{seen.by_id[question_id]!r} and {text!r}."
            )
        seen.by_id[question_id] = text
        yield usable


def _rows(choice: DatasetChoice, dataset: Dataset, split: str) -> Iterator[Row]:
    if choice.path is not None:
        for path in files_at(choice.path, subset=choice.subset, split=split):
            yield from rows_of_file(path, dataset.unfold)
    elif dataset.hub is not None:
        yield from rows_of_hub(dataset.hub, subset=choice.subset, split=split)


def rows_of_hub(hub: Hub, *, subset: str | None, split: str) -> Iterator[Row]:
    """The rows of a split, which the library downloads and caches; a `DatasetError` quotes its error."""
    # By default, a test run sends no usage statistics.
    os.environ.setdefault("HF_HUB_DISABLE_TELEMETRY", "1")
    load_dataset: Any = import_module("datasets").load_dataset  # optional, needed for the hub only
    place = f"{hub.repository} ({', '.join(filter(None, (subset or hub.config, split)))})"
    try:
        table = load_dataset(hub.repository, subset or hub.config, split=split, revision=hub.revision)
    except Exception as error:  # the library's errors have no common class
        reason = " ".join(str(error).split())[:300]
        raise DatasetError(
            f"{place}: cannot be loaded from the hub ({type(error).__name__}: {reason}). "
            "Get the file by other means, and give its path: NAME=PATH."
        ) from error
    for number, columns in enumerate(table, start=1):
        yield Row(f"{place}: row {number}", columns)


def sample(questions: Iterable[Question], size: int | None, *, seed: int) -> tuple[Question, ...]:
    """
    *size* of the questions in their own order; all if there are fewer, or *size* is None.

    The choice depends on the seed and the ids only, not on the order of the file or on the other questions. A larger
    sample with the same seed includes every smaller one. Only the chosen questions are kept in memory.
    """
    if size is None:
        return tuple(questions)
    taken = heapq.nsmallest(size, enumerate(questions), key=lambda place: rank(place[1].id, seed))
    return tuple(question for _, question in sorted(taken, key=lambda place: place[0]))


def would_be_sampled(questions: QuestionSet, question_id: str) -> bool:
    origin = questions.origin
    if origin is None or origin.samples is None or len(questions.questions) < origin.samples:
        return True
    last = max(rank(question.id, origin.seed) for question in questions.questions)
    return rank(question_id, origin.seed) <= last


def rank(question_id: str, seed: int) -> str:
    """The sample takes the lowest ranks."""
    return hashlib.sha256(f"{seed}:{question_id}".encode()).hexdigest()
