"""A lock has one holder at a time, and ends with the holder's process."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

from pytest_ragcheck.concurrency.file_lock import FileLock, is_held

if TYPE_CHECKING:
    from pathlib import Path

HOLD = """
import sys
from pathlib import Path
from pytest_ragcheck.concurrency.file_lock import FileLock
assert FileLock(Path(sys.argv[1])).take()
print("held", flush=True)
sys.stdin.read()
"""


def test_one_holds_it_until_it_frees_it(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    first, second = FileLock(path), FileLock(path)
    assert not is_held(path)
    assert first.take()
    assert is_held(path)
    assert not second.take()
    first.free()
    first.free()
    assert not is_held(path)
    assert second.take()
    second.free()


def test_a_killed_holder_holds_it_no_more(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    with subprocess.Popen(
        [sys.executable, "-c", HOLD, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == b"held\n"
        assert is_held(path)
        holder.kill()
        holder.wait()
        assert not is_held(path)


def test_who_enters_waits_for_the_holder(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    with subprocess.Popen(
        [sys.executable, "-c", HOLD, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as holder:
        assert holder.stdout is not None
        assert holder.stdin is not None
        assert holder.stdout.readline() == b"held\n"
        holder.stdin.close()
        with FileLock(path):
            assert is_held(path)
    assert not is_held(path)


def test_a_file_that_does_not_stay_is_deleted_and_its_next_holder_has_a_new_one(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    holder, waiting = FileLock(path, stays=False), FileLock(path, stays=False)
    with holder:
        assert not waiting.take()
    assert sys.platform == "win32" or not path.exists()
    with waiting:
        assert is_held(path)
