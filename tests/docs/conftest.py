"""Readers of the pages."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

from tests.docs import forked_programs
from tests.docs.pages import Reader

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path


@pytest.fixture(scope="session")
def programs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A folder with the programs that pages run, each run by this Python, however it was installed."""
    folder = tmp_path_factory.mktemp("programs")
    forks = f'"{sys.executable}" -I -S "{forked_programs.__file__}" "{folder}"'
    # Pages type `python`, which is that of the project's environment.
    run_by = {"pytest": f"{forks} pytest", "ragcheck": f"{forks} ragcheck", "python": f'"{sys.executable}"'}
    for name, command in run_by.items():
        (folder / name).write_text(f'#!/bin/sh\nexec {command} "$@"\n')
        (folder / name).chmod(0o755)
    with subprocess.Popen(
        [sys.executable, forked_programs.__file__, folder],
        env={name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as server:
        assert server.stdout is not None
        assert f"{forked_programs.READY}\n" in server.stdout
        yield folder


@pytest.fixture
def reader(programs: Path, tmp_path: Path) -> Callable[..., Reader]:
    """Makes a reader in an empty folder."""

    def make(**more: Any) -> Reader:
        folder = tmp_path / "project"
        folder.mkdir()
        return Reader(folder=folder, programs=programs, **more)

    return make
