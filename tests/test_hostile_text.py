"""Hostile text hangs no reader of a run."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.harness import exhaustive, python_of_forks
from tests.hostile_text import READERS

if TYPE_CHECKING:
    from tests.harness import Project

KILLED_AFTER_SECONDS = 60


# `offline_judge` reads the same answers, among their contexts.
FURTHER = {"offline_judge_of_all_it_reads", "offline_answer"}


@pytest.mark.parametrize(
    "reader", [pytest.param(name, marks=exhaustive if name in FURTHER else ()) for name in READERS]
)
def test_long_hostile_text_is_read_to_the_end(project: Project, reader: str) -> None:
    command = python_of_forks("-m", "tests.hostile_text", reader)
    root = Path(__file__).parent.parent
    try:
        ended = subprocess.run(command, cwd=root, capture_output=True, timeout=KILLED_AFTER_SECONDS, check=False)
    except subprocess.TimeoutExpired as hung:
        pytest.fail(f"{reader} hangs on {(hung.stdout or b'').decode().splitlines()[-1:]}")
    # A reader that takes longer than CPU_SECONDS is ended by SIGPROF.
    assert ended.returncode == 0, ended.stdout.decode().splitlines()[-1:] + ended.stderr.decode().splitlines()[-10:]
