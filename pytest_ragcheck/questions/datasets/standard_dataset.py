"""A `Dataset` reads questions from rows, a `Row` checks its columns, and a `DatasetChoice` is what a user typed."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypedDict

from pytest_ragcheck.errors import DatasetError, UsageError
from pytest_ragcheck.frozen import frozen
from pytest_ragcheck.questions.question import TIERS, GoldPassage, Question, named
from pytest_ragcheck.redaction.printable import sound

_SHOWN_COLUMNS = 12

_CHOICE = re.compile(
    r"(?P<name>[A-Za-z][\w.-]*)(?::(?P<subset>\w[\w.-]*))?(?:@(?P<split>\w[\w.-]*))?(?:=(?P<path>.*\S.*))?", re.DOTALL
)


@dataclass(frozen=True, slots=True)
class Row:
    """
    The columns of one row, as the readers of datasets use them.

    Reading a column that is missing or has the wrong type raises a `DatasetError` that names the row, the expected
    value and the value found.
    """

    place: str
    """The file and the row in it, such as `dev.jsonl: line 3`."""

    columns: Mapping[str, Any]

    def __contains__(self, name: str) -> bool:
        return self.columns.get(name) is not None

    def __getitem__(self, name: str) -> Any:
        if name not in self.columns:
            found = ", ".join(map(repr, list(self.columns)[:_SHOWN_COLUMNS])) or "nothing"
            more = ", ..." if len(self.columns) > _SHOWN_COLUMNS else ""
            raise DatasetError(f"{self.place}: expected {name!r}, found {found}{more}.")
        return self.columns[name]

    def text(self, name: str) -> str:
        """The text under *name*, which may be blank; a number becomes its digits."""
        value = self[name]
        if isinstance(value, int) and not isinstance(value, bool):
            return str(value)
        return self._text(name, value, "a text")

    def optional_text(self, name: str) -> str | None:
        text = self.text(name) if name in self else ""
        return text if text.strip() else None

    def texts(self, name: str) -> tuple[str, ...]:
        return tuple(self._text(name, item, "a list of texts") for item in self._list(name, "a list of texts"))

    def flag(self, name: str) -> bool | None:
        value = self.columns.get(name)
        if value is None or isinstance(value, bool):
            return value
        raise self.unexpected(name, "true or false", value)

    def row(self, name: str) -> Row:
        value = self[name]
        if not isinstance(value, Mapping):
            raise self.unexpected(name, "an object", value)
        return Row(f"{self.place}, {name!r}", value)

    def rows(self, name: str) -> tuple[Row, ...]:
        """The list of mappings under *name*, which the hub writes as a mapping of lists."""
        value, wanted = self[name], "a list of objects"
        items = self._from_columns(name, value) if isinstance(value, Mapping) else self._list(name, wanted)
        rows = []
        for number, item in enumerate(items, start=1):
            if not isinstance(item, Mapping):
                raise self.unexpected(name, wanted, item)
            rows.append(Row(f"{self.place}, {name!r} number {number}", item))
        return tuple(rows)

    def pairs(self, name: str, first: str, second: str) -> tuple[tuple[Any, Any], ...]:
        """The list of pairs under *name*, which the hub writes as the two lists *first* and *second*."""
        if isinstance(self[name], Mapping):
            return tuple((row[first], row[second]) for row in self.rows(name))
        wanted = f"a list of pairs of {first} and {second}"
        pairs = self._list(name, wanted)
        for pair in pairs:
            if not isinstance(pair, (list, tuple)) or len(pair) != 2:
                raise self.unexpected(name, wanted, pair)
        return tuple((pair[0], pair[1]) for pair in pairs)

    def unexpected(self, name: str, expected: str, found: Any) -> DatasetError:
        return DatasetError(f"{self.place}: expected {expected} under {name!r}, found {described(found)}.")

    def _list(self, name: str, expected: str) -> list[Any] | tuple[Any, ...]:
        value = self[name]
        if not isinstance(value, (list, tuple)):
            raise self.unexpected(name, expected, value)
        return value

    def _text(self, name: str, value: Any, expected: str) -> str:
        if not isinstance(value, str):
            raise self.unexpected(name, expected, value)
        return sound(value)

    def _from_columns(self, name: str, columns: Mapping[str, Any]) -> list[dict[str, Any]]:
        lists = {key: value for key, value in columns.items() if isinstance(value, (list, tuple))}
        lengths = {*map(len, lists.values())}
        if len(lists) != len(columns) or len(lengths) > 1:
            raise self.unexpected(name, "a list of objects, or lists of one length", columns)
        return [dict(zip(lists, values, strict=True)) for values in zip(*lists.values(), strict=True)]


def described(value: Any) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return f"the text {value if len(value) <= 40 else value[:40] + '...'!r}" if value.strip() else "a blank text"
    if isinstance(value, Mapping):
        return f"an object with {', '.join(map(repr, list(value)[:_SHOWN_COLUMNS])) or 'nothing'}"
    if isinstance(value, (list, tuple)):
        return f"a list of {len(value)}"
    return f"the number {value}" if isinstance(value, (int, float)) else f"a {type(value).__name__}"


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


@frozen
class DatasetChoice:
    """A dataset as `--rag-dataset` names it; `check_choice` checks that it exists."""

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
