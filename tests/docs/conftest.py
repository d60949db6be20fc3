"""Readers of the pages."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import pytest

from tests.docs.pages import Reader

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

PROGRAMS = {"pytest": "from pytest import main", "ragcheck": "from pytest_ragcheck.cli import main"}


@pytest.fixture(scope="session")
def programs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the programs that pages run, each run by this Python, however it was installed."""
    folder = tmp_path_factory.mktemp("programs")
    for name, imported in PROGRAMS.items():
        script = folder / f"run_{name}.py"
        script.write_text(f"import sys\n{imported}\nsys.exit(main())\n")
        (folder / name).write_text(f'#!/bin/sh\nexec "{sys.executable}" "{script}" "$@"\n')
        (folder / name).chmod(0o755)
    # Pages type `python`, which is that of the project's environment.
    (folder / "python").write_text(f'#!/bin/sh\nexec "{sys.executable}" "$@"\n')
    (folder / "python").chmod(0o755)
    return folder


@pytest.fixture
def reader(programs: Path, tmp_path: Path) -> Callable[..., Reader]:
    """Makes a reader in an empty folder."""

    def make(**more: Any) -> Reader:
        folder = tmp_path / "project"
        folder.mkdir()
        return Reader(folder=folder, programs=programs, **more)

    return make
