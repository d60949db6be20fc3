"""Separates the questions that a run lacks from those that it was not asked to collect."""

from __future__ import annotations

import os
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from pytest_ragcheck.plugin.configuration import DATASETS_PLUGIN, is_question_id
from pytest_ragcheck.plugin.workers.worker_info import runs_everything
from pytest_ragcheck.questions.call import caller_of, id_of_caller
from pytest_ragcheck.questions.datasets.registry import is_standard
from pytest_ragcheck.questions.reader import default_dataset_name

if TYPE_CHECKING:
    from pytest_ragcheck.plugin.collecting.dataset_items import Datasets
    from pytest_ragcheck.plugin.run_state import Run


class CollectionScope:
    """
    The files, folders and questions that a run was asked to collect.

    The comparison with a baseline uses it. A question of the baseline that this run lacks is missing if the run would
    have collected it, and out of reach otherwise. A collected file counts as a whole, unless the arguments
    name single questions of it. The path of a file that was not collected is guessed from its dataset name.

    It is made after the last item. *complete* is True if every collected question was asked or skipped. *not_passed*
    has the node ids of tests that failed, which may not have made all of their `rag_check` calls, and of skipped files.
    """

    def __init__(self, config: pytest.Config, run: Run, *, complete: bool, not_passed: Collection[str]) -> None:
        self._root = config.rootpath
        self._named_by_worker = runs_everything(config)
        self._sets = run.questions.sets
        self._datasets: Datasets | None = config.pluginmanager.get_plugin(DATASETS_PLUGIN)
        self._singled_out = _singled_out(config, run)
        self._not_passed = {caller_of(each, self._root) for each in not_passed if each not in run.questions.selected}
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

    def expects(self, dataset_name: str, id: str) -> bool:  # noqa: A002 - the name of the field of a question
        """Return True if the run would have collected the question if the question existed."""
        if self._datasets is not None and dataset_name.partition("[")[0] in self._datasets.names:
            return self._datasets.expects(self._sets.get(dataset_name), id)
        if dataset_name in self._sets:
            return dataset_name not in self._singled_out
        if (dataset_name, id_of_caller(id)) in self._not_passed:
            return False
        return self._searches(dataset_name)

    @property
    def searches_all(self) -> bool:
        """True if the run was asked to collect every file of the project."""
        left_out = self._ignored or self._not_passed or self._named_by_worker or not self._test_files
        return not left_out and any(self._root.is_relative_to(path) for path in self._searched)

    def would_collect(self, dataset_name: str) -> bool:
        """Return True if the run would have collected the dataset if its file existed."""
        given = self._datasets is not None and dataset_name.partition("[")[0] in self._datasets.names
        # Under --dist each, dataset names end in the names of workers, so no other dataset can be missing.
        if given or self._named_by_worker or any(dataset_name == name for name, _ in self._not_passed):
            return False
        return self._searches(dataset_name)

    def _searches(self, dataset_name: str) -> bool:
        """Return True if the run searched the folder of the dataset's file."""
        if self._is_excluded_call(dataset_name) or is_standard(dataset_name):
            return False
        if any(self._covers(path, dataset_name) for path in self._ignored):
            return False
        return any(self._covers(path, dataset_name) for path in self._searched)

    def _is_excluded_call(self, dataset_name: str) -> bool:
        """Return True for calls of a test file that `python_files` excludes, as `-o python_files=` does."""
        if "[" in dataset_name:  # a test that is marked rag_questions
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


def _singled_out(config: pytest.Config, run: Run) -> set[str]:
    """Return the datasets whose questions are named one by one, while no argument contains their whole file."""
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
    for node_id, question in run.questions.selected.items():
        file = node_id.partition("::")[0]
        # A question's node id has its variant in brackets, and a test's has the question.
        named = {node_id, node_id.partition("[")[0]} if is_question_id(node_id) else {node_id}
        alone = not named.isdisjoint(single) and not any((root / file).is_relative_to(path) for path in whole)
        reached[question.dataset_name] = reached.get(question.dataset_name, True) and alone
    return {dataset_name for dataset_name, alone in reached.items() if alone}


def _absolute(path: Path) -> Path:
    # pytest and the dataset names do not follow links either.
    return Path(os.path.abspath(path))  # noqa: PTH100 - see above
