"""Each process of a run holds a lock, which shows that the run is alive."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from pytest_ragcheck.engine.store.run_folder import RunLocks, is_in_use
from tests.engine.store.other_process import OtherProcess

if TYPE_CHECKING:
    from pathlib import Path

HOLD = """
import sys, time
from pathlib import Path
from pytest_ragcheck.concurrency.file_lock import LockedFile
file = LockedFile(Path(sys.argv[1]))
assert file.take(0, count=1 << 16)
print("held", flush=True)
sys.stdin.readline()
time.sleep(0.2)
"""


def test_a_run_is_in_use_until_its_last_process_has_ended(tmp_path: Path) -> None:
    assert not is_in_use(tmp_path)
    with OtherProcess(tmp_path) as first, OtherProcess(tmp_path) as second:
        assert is_in_use(tmp_path)
        first.kill()
        assert is_in_use(tmp_path)
        second.kill()
        assert not is_in_use(tmp_path)


def test_a_process_that_opens_the_run_while_another_looks_at_it_is_seen_afterwards(tmp_path: Path) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", HOLD, str(tmp_path / "locks")], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as looking:
        assert looking.stdout is not None
        assert looking.stdin is not None
        assert looking.stdout.readline() == "held\n"
        print(file=looking.stdin, flush=True)
        locks = RunLocks(tmp_path)
        assert looking.wait(10) == 0
    look = "import sys; from pathlib import Path; from pytest_ragcheck.engine.store.run_folder import is_in_use"
    command = [sys.executable, "-c", f"{look}; print(is_in_use(Path(sys.argv[1])))", str(tmp_path)]
    assert subprocess.run(command, capture_output=True, check=True, text=True).stdout == "True\n"
    locks.close()


def test_a_folder_whose_locks_cannot_be_opened_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "locks").mkdir()
    with pytest.raises(OSError, match="Is a directory"):
        RunLocks(tmp_path)
