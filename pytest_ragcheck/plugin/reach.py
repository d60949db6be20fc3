"""How far a run reaches: would it have met a question that it did not collect, if the question were still there?"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from pytest_ragcheck.plugin.configuration import DATASETS_PLUGIN, is_question_id
from pytest_ragcheck.questions.call import id_of_call
from pytest_ragcheck.questions.datasets.catalogue import DATASETS
from pytest_ragcheck.questions.reader import default_dataset_name

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from pytest_ragcheck.plugin.datasets import Datasets
    from pytest_ragcheck.plugin.run import Run


_STANDARD = frozenset(dataset.name for dataset in DATASETS)
"""What no run collects that was not given it, wherever it searches."""


class Reach:
    """
    What a run was asked to collect.

    A file that was collected was read whole, whatever was deselected afterwards; unless the run was given single
    questions of it, when the others are none of its concern. Of a dataset that was not collected
    only the name is known, which is by default made of its file's path.

    Args:
        config: pytest's.
        run: Of which all items have ended.
        complete: Whether every collected question was run or skipped; one that leaves some out was meant to.
        not_passed: Node ids of what did not pass, be it a test that may not have come to all of its `rag_check`
            calls, or a test file that was skipped whole.
    """

    def __init__(self, config: pytest.Config, run: Run, *, complete: bool, not_passed: Collection[str]) -> None:
        self._root = config.rootpath
        self._sets = run.sets
        self._datasets: Datasets | None = config.pluginmanager.get_plugin(DATASETS_PLUGIN)
        self._read = run.sets.keys() - _singled_out(config, run)
        self._named = run.sets.keys()
        self._not_passed = {
            (self._dataset_name(node_id), _without_number(id_of_call(node_id, 1)))
            for node_id in not_passed
            if node_id not in run.selected
        }
        skipped_files = any("::" not in node_id for node_id in not_passed)
        narrowed = not complete or skipped_files or config.getoption("lf", False) or config.getoption("ignore_glob")
        start = config.invocation_params.dir
        self._test_files: Sequence[str] = config.getini("python_files")
        self._ignored = [_absolute(start / path) for path in config.getoption("ignore") or ()]
        self._searched = [_absolute(start / argument.partition("::")[0]) for argument in config.args]
        if narrowed or (self._datasets is not None and self._datasets.alone):
            self._searched = []
        elif config.args_source is pytest.Config.ArgsSource.TESTPATHS:
            self._searched = [self._root]

    def would_meet(self, dataset_name: str, id: str) -> bool:  # noqa: A002 - the question's own word
        """Whether the run would have the question if it still existed."""
        if self._datasets is not None and dataset_name.partition("[")[0] in self._datasets.names:
            return self._datasets.would_meet(self._sets.get(dataset_name), id)
        if dataset_name in self._named:
            return dataset_name in self._read
        if self._is_of_a_test_file_left_out(dataset_name) or dataset_name.partition(":")[0] in _STANDARD:
            return False
        if (dataset_name, _without_number(id)) in self._not_passed:
            return False
        if any(self._covers(path, dataset_name) for path in self._ignored):
            return False
        return any(self._covers(path, dataset_name) for path in self._searched)

    def _is_of_a_test_file_left_out(self, dataset_name: str) -> bool:
        """Whether it is a test file's, in a run of question files alone, as by `-o python_files=`."""
        if "[" in dataset_name:  # of a test that is marked rag_questions
            return not self._test_files
        path = self._root / f"{dataset_name.replace('__', '/')}.py"
        return path.is_file() and not any(path.match(pattern) for pattern in self._test_files)

    def _covers(self, path: Path, dataset_name: str) -> bool:
        if self._root.is_relative_to(path):
            return True
        if not path.is_relative_to(self._root):
            return False
        if path.is_dir():
            return dataset_name.startswith("__".join(path.relative_to(self._root).parts) + "__")
        return dataset_name == default_dataset_name(path, self._root)

    def _dataset_name(self, node_id: str) -> str:
        return default_dataset_name(self._root / node_id.partition("::")[0], self._root)


def _singled_out(config: pytest.Config, run: Run) -> set[str]:
    """The datasets of which the run was given single questions, and nothing that holds the whole file."""
    start, root = config.invocation_params.dir, config.rootpath
    whole, single = [], []
    for argument in config.args:
        path, colons, name = argument.partition("::")
        absolute = _absolute(start / path)
        if not colons:
            whole.append(absolute)
        elif absolute.is_relative_to(root):
            single.append(f"{absolute.relative_to(root).as_posix()}::{name}")
    reached: dict[str, bool] = {}
    for node_id, question in run.selected.items():
        file = node_id.partition("::")[0]
        # What comes after a name in brackets is a variant of a question, but a question of a test.
        named = {node_id, node_id.partition("[")[0]} if is_question_id(node_id) else {node_id}
        alone = not named.isdisjoint(single) and not any((root / file).is_relative_to(path) for path in whole)
        reached[question.dataset_name] = reached.get(question.dataset_name, True) and alone
    return {dataset_name for dataset_name, alone in reached.items() if alone}


def _absolute(path: Path) -> Path:
    # Links are not followed, as in pytest and in the names of datasets.
    return Path(os.path.abspath(path))  # noqa: PTH100 - see above


def _without_number(id: str) -> str:  # noqa: A002 - as above
    """The part of a `rag_check` call's id that all calls of its test have."""
    return id.rpartition("-")[0]
