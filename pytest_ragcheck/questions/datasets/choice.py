"""`NAME[:SUBSET][@SPLIT][=PATH]`: which dataset a user asks for."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from pathlib import Path

_CHOICE = re.compile(
    r"(?P<name>[A-Za-z][\w.-]*)(?::(?P<subset>\w[\w.-]*))?(?:@(?P<split>\w[\w.-]*))?(?:=(?P<path>.*\S.*))?", re.DOTALL
)


@dataclass(frozen=True, slots=True, kw_only=True)
class DatasetChoice:
    """A dataset as a user asked for it; whether there is such a one is not known yet."""

    name: str
    subset: str | None = None
    split: str | None = None
    """None: the split that the dataset itself is evaluated on."""

    path: Path | None = None
    """The official file, or a folder with such files; None: the hub."""

    @property
    def dataset_name(self) -> str:
        """`NAME[:SUBSET]`: the first part of its questions' node ids, and what results call it."""
        return self.name if self.subset is None else f"{self.name}:{self.subset}"

    def seen_from(self, folder: Path) -> DatasetChoice:
        """The same, its path relative to the folder if it is not absolute."""
        return self if self.path is None else replace(self, path=folder / self.path)

    def __str__(self) -> str:
        split = "" if self.split is None else f"@{self.split}"
        return f"{self.dataset_name}{split}" + ("" if self.path is None else f"={self.path}")


def read_choice(text: str) -> DatasetChoice:
    """
    The choice in *text*.

    Raises:
        ValueError: It is none; the text goes on from it: `is not ...; write ...`.
    """
    match = _CHOICE.fullmatch(text)
    if match is None:
        raise ValueError(
            "is not of the form NAME[:SUBSET][@SPLIT][=PATH]; write it such as squad_v2=dev-v2.0.json or "
            "ragbench:covidqa@test"
        )
    path = match["path"]
    return DatasetChoice(
        name=match["name"],
        subset=match["subset"],
        split=match["split"],
        path=None if path is None else Path(path.strip()).expanduser(),
    )
