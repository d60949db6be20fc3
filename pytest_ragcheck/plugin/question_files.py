"""Recognises the files and the items that have questions."""

from __future__ import annotations

import os
from collections.abc import Sequence
from fnmatch import fnmatch
from pathlib import Path

import pytest

from pytest_ragcheck.plugin.configuration import ini_origin, ini_value, names_dataset, settings_of
from pytest_ragcheck.questions import QUESTION_FILES, RESULT_QUESTIONS, misspelt


def is_question_file(parent: pytest.Collector, path: Path) -> bool:
    """True if pytest should collect the file as questions; warn of a misspelt name."""
    session, name = parent.session, path.name.lower()
    argument = session.isinitpath(path)
    if argument and name.endswith(RESULT_QUESTIONS):
        return True
    if not name.endswith(QUESTION_FILES) and not _has_further_name(session.config, path):
        remark = misspelt(path.name)
        if remark and not argument and not (path.parent / ".ragcheck").is_dir():
            try:
                parent.warn(pytest.PytestCollectionWarning(f"not collected: {remark}"))
            except pytest.PytestCollectionWarning:
                return True  # an error of this file, not of its folder
        return argument and bool(remark)  # reading it reports its ending
    try:
        output = settings_of(session.config).run.output
    except pytest.UsageError:
        return True  # reading the file reports the error
    # A file in the output folder of this or of another run is a result file, unless the user names it.
    beside_results = path.parent == output or (path.parent / ".ragcheck").is_dir()
    if argument or (name.endswith(RESULT_QUESTIONS) and beside_results):
        return argument
    # If the output folder contains the whole project, its other files are the user's.
    return session.config.rootpath.is_relative_to(output) or not path.is_relative_to(output)


def warn_of_unmatched(config: pytest.Config) -> None:
    """Warn of patterns that no file of the project matches, if the run searches folders of the project."""
    root, path = config.rootpath, config.inipath
    # Without an ini file, the rootdir may be that of the file system.
    if path is None or path.parent != root or not any(map(os.path.isdir, config.args)):
        return
    for pattern in _unmatched(config, [each for each in _further_names(config) if not Path(each).anchor]):
        text = f"ragcheck: {ini_origin(config, 'rag_question_files')}: no file in {root} matches {pattern!r}"
        try:
            config.issue_config_time_warning(pytest.PytestConfigWarning(text), stacklevel=2)
        except pytest.PytestConfigWarning:
            raise pytest.UsageError(text) from None


def _unmatched(config: pytest.Config, patterns: list[str]) -> list[str]:
    # The patterns that match no file of the folders in which pytest collects tests.
    ignored = config.getini("norecursedirs")
    for folder, inner, files in os.walk(config.rootpath) if patterns else ():
        is_environment = "pyvenv.cfg" in files
        inner[:] = [each for each in inner if not (is_environment or any(fnmatch(each, name) for name in ignored))]
        patterns = [each for each in patterns if not any(_matches(Path(folder, file), each) for file in files)]
        if not patterns:
            break
    return patterns


def _has_further_name(config: pytest.Config, path: Path) -> bool:
    return any(_matches(path, each) for each in _further_names(config))


def _further_names(config: pytest.Config) -> Sequence[str]:
    patterns = ini_value(config, "rag_question_files") or ()
    return patterns.split() if isinstance(patterns, str) else patterns


def _matches(path: Path, pattern: str) -> bool:
    # Path.match takes ** for a single folder.
    start, stars, rest = pattern.partition("**/")
    if not stars:
        return path.match(pattern or "*")
    return _matches(path, rest) and (not start or any(folder.match(start) for folder in path.parents))


def calls_rag_check(item: pytest.Item) -> bool:
    return "rag_check" in getattr(item, "fixturenames", ())


def is_question_of(config: pytest.Config, node_id: str) -> bool:
    """True for a question of a question file or of one of the run's datasets."""
    name = node_id.partition("::")[0]
    if is_question_id(node_id) or _has_further_name(config, config.rootpath / name):
        return True
    return names_dataset(config) and any(name == choice.dataset_name for choice in settings_of(config).run.datasets)


def is_question_id(node_id: str) -> bool:
    return node_id.partition("::")[0].lower().endswith((*QUESTION_FILES, RESULT_QUESTIONS))
