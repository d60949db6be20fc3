"""
Whether the value of an option has moved pytest's root folder.

pytest settles on its root folder before it knows the options of plugins: what stands after a blank, as in
`--rag-output FOLDER`, is a path to tests to it, if there is such a path. A plugin cannot change that; it can say it.
"""

from __future__ import annotations

import os
import shlex
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_ragcheck.options import OPTIONS

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import pytest

_SECTIONS = {
    **dict.fromkeys(("pytest.toml", ".pytest.toml", "pytest.ini", ".pytest.ini"), ""),
    "pyproject.toml": "[tool.pytest",
    "tox.ini": "[pytest]",
    "setup.cfg": "[tool:pytest]",
}
"""By name the files that make their folder a root folder, and the section that they need for it."""

_OF_A_PACKAGE = ("pyproject.toml", "setup.py")
"""Files that make their folder a root folder where no other has one of those."""

_WITH_A_VALUE = frozenset(option.switch for option in OPTIONS if option.flag and option.kind != "switch")


def moved_root(config: pytest.Config) -> str:
    """What has moved the root folder, and what to write; empty where it is where it belongs."""
    if config.getoption("rootdir", None) or config.getoption("inifilename", None):
        return ""
    here = config.invocation_params.dir
    given = shlex.split(os.environ.get("PYTEST_ADDOPTS", "")) + [str(each) for each in config.invocation_params.args]
    taken = [(option, value) for option, value in _after_blanks(given) if os.path.exists(here / value)]  # noqa: PTH110 - no name is too long for it
    if not taken or _belongs(config.rootpath, _start(config)):
        return ""
    option, value = taken[0]
    return (
        f"{option} {value}: pytest took what stands after the blank for a path to tests, too, and chose "
        f"{config.rootpath} as its root folder, which says what ini file is read and what datasets are called. "
        f"Write {option}={value}"
    )


def _after_blanks(arguments: Sequence[str]) -> Iterator[tuple[str, str]]:
    for option, value in pairwise(arguments):
        if option in _WITH_A_VALUE and not value.startswith("-"):
            yield option, value


def _start(config: pytest.Config) -> Path:
    """Where pytest would have begun to look for the root folder."""
    here = config.invocation_params.dir
    paths = [here / argument.partition("::")[0] for argument in config.args]
    folders = [path if path.is_dir() else path.parent for path in paths if path.exists()]
    return Path(os.path.commonpath(folders)) if folders else here


def _belongs(root: Path, start: Path) -> bool:
    """Whether the folder is the root of whoever starts there."""
    if not start.is_relative_to(root):
        return False
    configured = next((folder for folder in (start, *start.parents) if any(map(_configures, _in(folder)))), None)
    if configured is not None:
        return root == configured
    return root == start or any((root / name).exists() for name in _OF_A_PACKAGE)


def _in(folder: Path) -> Iterator[Path]:
    return (folder / name for name in _SECTIONS)


def _configures(path: Path) -> bool:
    return path.is_file() and _SECTIONS[path.name] in path.read_text(encoding="utf-8", errors="replace")
