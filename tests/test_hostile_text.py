"""Hostile text hangs no reader of a run."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.harness import exhaustive
from tests.hostile_text import READERS

KILLED_AFTER_SECONDS = 60


# `offline_judge` reads the same answers, among their contexts.
FURTHER = {"offline_judge_of_all_it_reads", "offline_answer"}


@pytest.mark.parametrize(
    "reader", [pytest.param(name, marks=exhaustive if name in FURTHER else ()) for name in READERS]
)
def test_long_hostile_text_is_read_to_the_end(reader: str) -> None:
    command = [sys.executable, "-m", "tests.hostile_text", reader]
    root = Path(__file__).parent.parent
    try:
        ended = subprocess.run(command, cwd=root, capture_output=True, timeout=KILLED_AFTER_SECONDS, check=False)
    except subprocess.TimeoutExpired as hung:
        pytest.fail(f"{reader} hangs on {(hung.stdout or b'').decode().splitlines()[-1:]}")
    assert ended.returncode == 0, ended.stdout.decode().splitlines()[-1:] + ended.stderr.decode().splitlines()[-10:]
