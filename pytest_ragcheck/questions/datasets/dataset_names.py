"""Reads a user's choice of datasets, `NAME[:SUBSET][@SPLIT][=PATH]`, and of a sample."""

from __future__ import annotations

import os
import re
from dataclasses import replace
from pathlib import Path

from pytest_ragcheck.frozen import frozen

_CHOICE = re.compile(
    r"(?P<name>[A-Za-z][\w.-]*)(?::(?P<subset>\w[\w.-]*))?(?:@(?P<split>\w[\w.-]*))?(?:=(?P<path>.*\S.*))?", re.DOTALL
)


@frozen
class DatasetChoice:
    """`check_choice` checks that the dataset exists."""

    name: str
    subset: str | None = None
    split: str | None = None
    """None for the split that the dataset is evaluated on by default."""

    path: Path | None = None
    """The official file, or a folder with such files; None for the hub."""

    @property
    def dataset_name(self) -> str:
        """`NAME[:SUBSET]`, as in node ids and results."""
        return self.name if self.subset is None else f"{self.name}:{self.subset}"

    def resolved_in(self, folder: Path) -> DatasetChoice:
        return self if self.path is None else replace(self, path=folder / self.path)

    def __str__(self) -> str:
        split = "" if self.split is None else f"@{self.split}"
        return f"{self.dataset_name}{split}" + ("" if self.path is None else f"={self.path}")


def read_choice(text: str) -> DatasetChoice:
    """Raises a ValueError whose message continues a sentence: `is not ...; write ...`."""
    match = _CHOICE.fullmatch(text)
    if match is None:
        raise ValueError(
            "is not of the form NAME[:SUBSET][@SPLIT][=PATH]; write, for example, squad_v2=dev-v2.0.json or "
            "ragbench:covidqa@test"
        )
    given = match.groupdict()
    path = given.pop("path") or ""
    place = Path(os.path.expanduser(path.strip()))  # noqa: PTH111 - Path's raises an error for an unknown user
    return DatasetChoice(**given, path=place if path else None)


@frozen
class Sample:
    size: int
    """Maximum number of questions, >= 1."""

    seed: int = 0
    """Selects the questions, >= 0."""

    def __str__(self) -> str:
        return f"{self.size}@{self.seed}" if self.seed else str(self.size)
