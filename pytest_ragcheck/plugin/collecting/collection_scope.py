"""Separates the questions that a run lacks from those that it was not asked to collect."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from pytest_ragcheck.plugin.configuration import DATASETS_PLUGIN
from pytest_ragcheck.plugin.question_files import is_question_of
from pytest_ragcheck.plugin.workers.worker_info import runs_everything
from pytest_ragcheck.questions.call import caller_of
from pytest_ragcheck.questions.reader import default_dataset_name
from pytest_ragcheck.summary.run_outcomes import Reach

if TYPE_CHECKING:
    from pytest_ragcheck.plugin.collecting.dataset_items import Datasets
    from pytest_ragcheck.plugin.run_state import Run


def reach_of(config: pytest.Config, run: Run, *, complete: bool, not_passed: Collection[str]) -> Reach:
    """
    Return the questions that the run was asked to collect, in files, folders, and datasets of `--rag-dataset`.

    It is made after the last item. *complete* is True if every collected question was asked or skipped. *not_passed*
    has the node ids of tests that failed, which may not have made all of their `rag_check` calls, and of skipped files.
    """
    # A collected file counts as a whole, unless the arguments name single questions of it. The path of a file that was
    # not collected is guessed from its dataset name.
    root, start = config.rootpath, config.invocation_params.dir
    datasets: Datasets | None = config.pluginmanager.get_plugin(DATASETS_PLUGIN)
    asked = run.questions.asked
    callers = {caller_of(each, root) for each in not_passed if each not in asked}
    skipped_files = any("::" not in node_id for node_id in not_passed)
    narrowed = not complete or skipped_files or config.getoption("lf", False) or config.getoption("ignore_glob")
    searched = [_absolute(start / argument.partition("::")[0]) for argument in config.args]
    # Under --dist each, dataset names end in the names of workers, so no other dataset can be missing.
    if narrowed or runs_everything(config) or (datasets is not None and datasets.alone):
        searched = []
    elif config.args_source is pytest.Config.ArgsSource.TESTPATHS:
        searched = [root]
    ignored = [_absolute(start / path) for path in config.getoption("ignore") or ()]
    reach = Reach(
        searched=tuple(_patterns(searched, root)),
        left_out=(
            *_patterns(ignored, root),
            *(f"{dataset}::{caller}-*" for dataset, caller in sorted(callers)),
            *(f"{dataset}::*" for dataset in sorted(_singled_out(config, run))),
        ),
        test_files=tuple(config.getini("python_files")),
        root=root,
    )
    others = (
        f"{name}::*"
        for name, questions in run.questions.sets.items()
        if not reach.expects(name) and (datasets is None or datasets.takes_all(questions))
    )
    return replace(reach, searched=(*reach.searched, *others))


def _patterns(paths: Iterable[Path], root: Path) -> Iterator[str]:
    for path in paths:
        if root.is_relative_to(path):
            yield "*"
        elif path.is_dir() and path.is_relative_to(root):
            yield "__".join(path.relative_to(root).parts) + "__*"
        elif path.is_relative_to(root):
            yield default_dataset_name(path, root) + "::*"


def _singled_out(config: pytest.Config, run: Run) -> set[str]:
    # The datasets whose questions are named one by one, while no argument contains their whole file.
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
        named = {node_id, node_id.partition("[")[0]} if is_question_of(config, node_id) else {node_id}
        alone = not named.isdisjoint(single) and not any(map((root / file).is_relative_to, whole))
        reached[question.dataset_name] = reached.get(question.dataset_name, True) and alone
    return {dataset_name for dataset_name, alone in reached.items() if alone}


def _absolute(path: Path) -> Path:
    # pytest and the dataset names do not follow links either.
    return Path(os.path.abspath(path))  # noqa: PTH100 - see above
