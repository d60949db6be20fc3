"""What a dataset is: a name, the tiers that it can run in, and a function from rows to questions."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pytest_ragcheck.errors import UsageError
from pytest_ragcheck.questions.question import TIERS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from pytest_ragcheck.questions.datasets.row import Row
    from pytest_ragcheck.questions.question import Question


@dataclass(frozen=True, slots=True, kw_only=True)
class Hub:
    """Where the `datasets` library finds a dataset."""

    repository: str
    config: str | None = None
    """The configuration where the user chooses no subset; None: the only one."""

    revision: str | None = None
    """None: the newest."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Dataset:
    """
    A dataset that `--rag-dataset` can name.

    Raises:
        UsageError: The name is none, or a tier is not one of `TIERS`.
    """

    name: str
    """Letters, digits, `_`, `.` and `-`, a letter first."""

    tests: str
    """What it tests, in a few words."""

    tiers: tuple[str, ...]
    """The tiers that it can run in, of `generation` and `end_to_end`."""

    read: Callable[[Iterable[Row], str], Iterable[Question]]
    """From its rows, and the `dataset_name` that they are to bear, to its questions."""

    official: str = "rows of its own, as JSON, JSON Lines or parquet"
    """The form of its files, in a few words."""

    unfold: Callable[[Row], Iterable[Row] | None] | None = None
    """From a file's only JSON object to the rows in it; None, or a result of None: the object is one row."""

    subsets: tuple[str, ...] = ()
    """The names that may follow the dataset's own; empty where it has none."""

    split: str = "validation"
    """The split that is taken where the user chooses none."""

    hub: Hub | None = None
    """None: it is read from a path only."""

    def __post_init__(self) -> None:
        if not re.fullmatch(r"[A-Za-z][\w.-]*", self.name):
            raise UsageError(
                f"Dataset: the name {self.name!r} cannot begin a node id. Begin it with a letter, and go on with "
                f"letters, digits, '_', '.' and '-'."
            )
        wrong = [tier for tier in self.tiers if tier not in TIERS]
        if wrong or not self.tiers:
            found = ", ".join(map(repr, wrong)) or "no tier"
            raise UsageError(f"Dataset {self.name!r}: expected tiers of {', '.join(TIERS)}, found {found}.")
