"""A `Dataset` has a name, the tiers that it supports, and a function from rows to questions."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import TypedDict

from pytest_ragcheck.errors import UsageError
from pytest_ragcheck.frozen import frozen
from pytest_ragcheck.questions.datasets.dataset_row import Row
from pytest_ragcheck.questions.passages import named
from pytest_ragcheck.questions.question import TIERS, GoldPassage, Question


@frozen
class Hub:
    repository: str
    config: str | None = None
    """The configuration if the user chooses no subset; None for the only one."""

    revision: str | None = None
    """None for the newest revision."""


@frozen
class Dataset:
    """
    A dataset for `--rag-dataset`, from the package or from a user's project.

    Raises:
        UsageError: The name is invalid, or a tier is not one of `TIERS`.
    """

    name: str
    """Letters, digits, `_`, `.` and `-`, a letter first."""

    tests: str
    """The purpose of the dataset in a few words."""

    tiers: tuple[str, ...]
    """The supported tiers: some of `generation`, `retrieval` and `end_to_end`."""

    read: Callable[[Iterable[Row], str], Iterable[Question]]
    """Function from the rows and the `dataset_name` of the questions to the questions."""

    official: str = "rows of its own, as JSON, JSON Lines or parquet"
    """The format of the dataset's files in a few words."""

    unfold: Callable[[Row], Iterable[Row] | None] | None = None
    """Function from a file's single JSON object to its rows; None, or a result of None, if the object is one row."""

    subsets: tuple[str, ...] = ()
    split: str = "validation"
    hub: Hub | None = None
    """None if the dataset can be read from a path only."""

    def __post_init__(self) -> None:
        if not re.fullmatch(r"[A-Za-z][\w.-]*", self.name):
            raise UsageError(
                f"Dataset: the name {self.name!r} cannot begin a node id. Begin it with a letter, and continue with "
                f"letters, digits, '_', '.' and '-'."
            )
        wrong = [tier for tier in self.tiers if tier not in TIERS]
        if wrong or not self.tiers:
            found = ", ".join(map(repr, wrong)) or "no tier"
            raise UsageError(f"Dataset {self.name!r}: expected tiers of {', '.join(TIERS)}, found {found}.")


class DatasetPassages(TypedDict):
    gold_passages: tuple[GoldPassage, ...]
    distractors: tuple[GoldPassage, ...]


def passages_of(prefix: str, *, gold: Iterable[str], others: Iterable[str] = ()) -> DatasetPassages:
    """
    The gold texts, and those of the other texts that are not gold, without blank and repeated texts.

    A passage's id is the prefix and a digest of the text. An id from the row number would name another document in
    the next question, and two ids for one text would upload the text twice.
    """
    right = list(dict.fromkeys(text for text in gold if text.strip()))
    wrong = [text for text in dict.fromkeys(others) if text.strip() and text not in right]
    return DatasetPassages(
        gold_passages=tuple(named(GoldPassage(text=text), prefix) for text in right),
        distractors=tuple(named(GoldPassage(text=text), prefix) for text in wrong),
    )
