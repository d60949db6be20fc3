"""What all commands of `ragcheck` have in common."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize(
    ("arguments", "status"),
    [(["--help"], 0), (["schema", "questions"], 0), (["init", "--dry-run"], 0), (["probe", "http://127.0.0.1:9/q"], 1)],
    ids=lambda value: str(value[0]) if isinstance(value, list) else "",
)
def test_a_reader_that_has_seen_enough_changes_no_status_and_is_not_complained_of(
    arguments: list[str], status: int, tmp_path: Path
) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    command = [sys.executable, "-c", "import sys; from pytest_ragcheck.cli import main; sys.exit(main())", *arguments]
    try:
        ended = subprocess.run(command, stdout=writing, stderr=subprocess.PIPE, cwd=tmp_path, check=False)
    finally:
        os.close(writing)
    assert ended.stderr.decode() == ""
    assert ended.returncode == status
