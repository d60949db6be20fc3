"""A chosen dataset -> `QuestionSet`."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_ragcheck.errors import DatasetError
from pytest_ragcheck.questions.datasets.files import files_at, rows_of_file
from pytest_ragcheck.questions.datasets.hub import rows_of_hub
from pytest_ragcheck.questions.datasets.sample import sample
from pytest_ragcheck.questions.ids import usable_id
from pytest_ragcheck.questions.question import Origin, Question, QuestionSet

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pytest_ragcheck.questions.datasets.choice import DatasetChoice
    from pytest_ragcheck.questions.datasets.dataset import Dataset
    from pytest_ragcheck.questions.datasets.row import Row


def load_questions(choice: DatasetChoice, dataset: Dataset, *, samples: int | None, seed: int) -> QuestionSet:
    """
    The questions of the choice, all or a sample of them, in the order of the file.

    Args:
        choice: One that `check_choice` has nothing against.
        dataset: The dataset of its name.
        samples: How many questions are wanted at most; None: all.
        seed: Which ones.

    Raises:
        DatasetError: The file or the hub does not have what the dataset is made of; the text says what was expected
            and what was found, at which row.
        UsageError: A package is missing.
    """
    split = choice.split or dataset.split
    try:
        read = list(dataset.read(_rows(choice, dataset, split), choice.dataset_name))
    except DatasetError as error:
        raise DatasetError(f"{error}\n{dataset.name} is read from {dataset.official}.") from error
    asked = [replace(question, id=usable_id(question.id)) for question in read if question.question.strip()]
    _check_ids(choice, asked)
    if not asked:
        raise DatasetError(f"{choice}: expected questions, found none.")
    path = choice.path or Path(choice.dataset_name)
    chosen = sample(asked, samples or len(asked), seed=seed)
    return QuestionSet(
        dataset_name=choice.dataset_name,
        path=path,
        questions=tuple(replace(question, path=choice.path) for question in chosen),
        sets_thresholds=any(question.thresholds for question in chosen),
        origin=Origin(
            source=choice.path.name if choice.path else f"hub: {dataset.hub.repository if dataset.hub else ''}",
            split=None if choice.path is not None and choice.path.is_file() else split,
            available=len(asked),
            left_out=len(read) - len(asked),
            samples=samples,
            seed=seed,
        ),
    )


def _rows(choice: DatasetChoice, dataset: Dataset, split: str) -> Iterator[Row]:
    if choice.path is not None:
        for path in files_at(choice.path, subset=choice.subset, split=split):
            yield from rows_of_file(path, dataset.unfold)
    elif dataset.hub is not None:
        yield from rows_of_hub(dataset.hub, subset=choice.subset, split=split)


def _check_ids(choice: DatasetChoice, questions: list[Question]) -> None:
    first: dict[str, Question] = {}
    for question in questions:
        other = first.setdefault(question.id, question)
        if other is not question:
            raise DatasetError(
                f"{choice}: expected an id of its own for each question, found {question.id!r} twice: "
                f"{other.question[:60]!r} and {question.question[:60]!r}."
            )
