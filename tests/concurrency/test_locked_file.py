"""Locks in a file exclude other processes, and end with their holder."""

from __future__ import annotations

import struct
import subprocess
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest

from pytest_ragcheck.concurrency.file_lock import LockedFile

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

HOLD = """
import sys
from pathlib import Path
from pytest_ragcheck.concurrency.file_lock import LockedFile

file = LockedFile(Path(sys.argv[1]))
print(file.take(3), flush=True)
sys.stdin.read()
"""


@contextmanager
def holder(path: Path) -> Iterator[subprocess.Popen[str]]:
    """A process that has taken the third lock."""
    with subprocess.Popen(
        [sys.executable, "-c", HOLD, path], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "True\n"
        yield process


def test_a_lock_of_another_process_cannot_be_taken_until_the_process_dies(tmp_path: Path) -> None:
    file = LockedFile(tmp_path / "file")
    with holder(tmp_path / "file") as process:
        assert (file.take(2), file.take(3), file.take(4)) == (True, False, True)
        assert (file.take(0, count=3), file.take(0, count=4)) == (True, False)
        process.kill()
        process.wait()
        assert file.take(3)
    file.close()


def test_a_freed_lock_can_be_taken_by_another_process(tmp_path: Path) -> None:
    file = LockedFile(tmp_path / "file")
    assert file.take(3)
    file.free(3)
    with holder(tmp_path / "file"):
        assert not file.take(3)
    file.close()


def test_the_content_is_shared_and_grows_once(tmp_path: Path) -> None:
    one, other = LockedFile(tmp_path / "file"), LockedFile(tmp_path / "file")
    numbers = struct.Struct("=2d")
    one.grow_to(24)
    one.write(numbers, 8, (0.5, 2.0))
    other.grow_to(24)
    assert (other.read(numbers, 8), other.read(numbers, 0)) == ((0.5, 2.0), (0.0, 0.5))
    assert (tmp_path / "file").stat().st_size == 24
    one.close()
    other.close()


def test_a_file_that_cannot_be_created_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        LockedFile(tmp_path / "missing" / "file")
