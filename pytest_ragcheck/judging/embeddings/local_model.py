from __future__ import annotations

import threading
import weakref
from collections.abc import Callable
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Generic, TypeVar

from pytest_ragcheck.concurrency.threads import in_thread
from pytest_ragcheck.errors import JudgeError
from pytest_ragcheck.scores.catalogue import LOCAL_PACKAGES

T = TypeVar("T")
M = TypeVar("M")

INSTALL_LOCAL = 'pip install "pytest-ragcheck[local]"'

_LONGEST_WAIT_SECONDS = 60.0
"""Longest wait at the end of the process for a model that is being loaded or used."""


def missing_packages() -> str:
    """The packages of local models that are not installed, joined by "and"; empty if none."""
    return " and ".join(package for package in LOCAL_PACKAGES if find_spec(package) is None)


def missing_packages_error() -> str:
    """The error text about missing packages of the local judge; empty if all are installed."""
    missing = missing_packages()
    return missing and f"the local judge needs {missing}, not installed here: {INSTALL_LOCAL}"


def file_states(folder: Path) -> list[tuple[str, int, int]]:
    """The names, sizes and times of the folder's files; empty if there is no such folder."""
    if not folder.is_dir():
        return []
    stats = ((path.name, path.stat()) for path in sorted(folder.rglob("*")))
    return [(name, stat.st_size, stat.st_mtime_ns) for name, stat in stats]


class LocalModel(Generic[M]):
    """
    A model that is loaded on first use. If loading fails, every use fails with the same `JudgeError`.

    The error text names the *setting* that has the name.
    """

    def __init__(self, name: str, *, setting: str, load: Callable[[str], M]) -> None:
        self._name = name
        self._setting = setting
        self._load = load
        self._turn = threading.Lock()
        self._loaded: M | None = None
        self._problem = ""
        # A thread that is in torch when the interpreter ends would abort the process.
        weakref.finalize(self, self._turn.acquire, timeout=_LONGEST_WAIT_SECONDS)

    async def use(self, function: Callable[[M], T]) -> T:
        """The result of `in_turn`, computed in a thread."""
        return await in_thread(partial(self.in_turn, function))

    def in_turn(self, function: Callable[[M], T]) -> T:
        """The result of the function with the model, computed in this thread after other callers."""
        with self._turn:
            return function(self._loaded_model())

    def _loaded_model(self) -> M:
        if self._problem:
            # Not loaded again, because the hub may take minutes to fail.
            raise JudgeError(self._problem)
        if self._loaded is None:
            try:
                self._loaded = self._load(self._name)
            except Exception as error:
                self._problem = (
                    f"the model {self._name!r} of {self._setting} cannot be loaded: "
                    f"{' '.join(str(error).split())[:300]}"
                )
                raise JudgeError(self._problem) from error
        return self._loaded
