"""Readers of the pages."""

from __future__ import annotations

import shlex
import sys
from typing import TYPE_CHECKING, Any

import pytest

from tests.docs.pages import Reader

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


@pytest.fixture(scope="session")
def programs(tmp_path_factory: pytest.TempPathFactory, forks: str) -> Path:
    """A folder with the programs that pages run, each run by this Python, however it was installed."""
    folder = tmp_path_factory.mktemp("programs")
    # Pages type `python`, which is that of the project's environment.
    python = f'if [ "$1 $2" = "-m pytest" ]; then exec {forks} python "$@"; fi; exec {shlex.quote(sys.executable)} "$@"'
    run_by = {"pytest": f'exec {forks} pytest "$@"', "ragcheck": f'exec {forks} ragcheck "$@"', "python": python}
    for name, command in run_by.items():
        (folder / name).write_text(f"#!/bin/sh\n{command}\n")
        (folder / name).chmod(0o755)
    return folder


@pytest.fixture
def reader(programs: Path, tmp_path: Path) -> Callable[..., Reader]:
    """Makes a reader in an empty folder."""

    def make(**more: Any) -> Reader:
        folder = tmp_path / "project"
        folder.mkdir()
        return Reader(folder=folder, programs=programs, **more)

    return make
