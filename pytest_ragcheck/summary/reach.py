"""Tells a question that is gone from one that a run was not asked to collect."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from pytest_ragcheck.frozen import frozen
from pytest_ragcheck.questions.datasets.registry import is_standard

_IN_FILES = ("searched", "left_out", "test_files")


@frozen
class Reach:
    """The questions that a run would have collected, as patterns of `DATASET::ID`, with `*` only at their end."""

    searched: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()
    """The exceptions."""

    test_files: tuple[str, ...] = ()
    """The names of test files; the calls of other files are exceptions too."""

    root: Path = Path()
    """The project's folder, which no file names."""

    @classmethod
    def from_row(cls, row: Mapping[str, Sequence[str]]) -> Reach:
        searched, left_out, test_files = (tuple(row.get(name, ())) for name in _IN_FILES)
        return cls(searched=searched, left_out=left_out, test_files=test_files)

    def to_row(self) -> dict[str, list[str]]:
        return {name: list(found) for name in _IN_FILES if (found := getattr(self, name))}

    def expects(self, dataset_name: str, id: str = "") -> bool:  # noqa: A002 - as in `Question`
        """True if the run would have the question, or without an id the dataset, if it existed."""
        name = f"{dataset_name}::"
        if any(_fits(each, name + id) or (not id and each.startswith(name)) for each in self.left_out):
            return False
        if {f"{name}*", name + id} & {*self.searched}:
            return True
        if is_standard(dataset_name) or self._leaves_test_file_out(dataset_name):
            return False
        return any(_fits(each, name) for each in self.searched)

    def _leaves_test_file_out(self, dataset_name: str) -> bool:
        # True for calls of a test file that `python_files` excludes, as `-o python_files=` does.
        if "[" in dataset_name:  # a test that is marked rag_questions
            return not self.test_files
        path = self.root / f"{dataset_name.replace('__', '/')}.py"
        # Path.is_file raises an error for a name that is too long.
        return os.path.isfile(path) and not any(map(path.match, self.test_files))  # noqa: PTH113 - see above


def _fits(pattern: str, name: str) -> bool:
    return name.startswith(pattern[:-1]) if pattern.endswith("*") else name == pattern
