"""Holds the folder that the processes of a run share: its locks, and the files that stop the run and mark its end."""

from __future__ import annotations

import itertools
import os
import time
import zlib
from collections.abc import Hashable, Iterator
from contextlib import suppress
from pathlib import Path

from pytest_ragcheck.concurrency.file_lock import LockedFile

FOLDER = ".ragcheck"
"""Subfolder of the folder of the result files."""

UNWRITTEN = "unwritten"
"""A file in the folder of a run, until its results are written."""

STOP_FILE = "stopped"
"""A file in the folder of a run that was stopped, with the reason."""

_LOCKS = "locks"

_PROCESSES = 1 << 16
"""The first locks: each process of the run holds one of them."""

_AGAIN_SECONDS = 0.001


def make_home(home: Path) -> None:
    """
    Create the folder of all runs of an agent, which version control ignores.

    Raises:
        OSError: The folder cannot be written.
    """
    home.mkdir(parents=True, exist_ok=True)
    (home.parent / ".gitignore").write_text("*\n", encoding="utf-8")


def unwritten(results: Path, agent: str) -> Iterator[Path]:
    """The marks of runs whose results are not in the folder of the agent's *results*."""
    return (results / FOLDER / agent).glob(f"*/{UNWRITTEN}")


def stop(folder: Path, reason: str) -> bool:
    """
    Stop the processes of the run, because no further records are wanted; *reason* says why, in one line.

    Returns:
        False if the run was stopped before; the earlier reason stays.
    """
    try:
        with (folder / STOP_FILE).open("x", encoding="utf-8") as file:
            file.write(reason)
    except FileExistsError:
        return False
    except OSError:  # the folder is missing if no question was asked or if it cannot be created
        pass
    return True


def stop_reason(folder: Path) -> str | None:
    """Why the run was stopped, which is empty on a full disk; None if it was not stopped."""
    try:
        for _ in range(10):
            if reason := (folder / STOP_FILE).read_text(encoding="utf-8"):
                return reason
            time.sleep(0.01)  # another process may be about to write it
    except OSError:
        return None
    return ""


class RunLocks:
    """
    The locks of this process in a file of the run folder, which exists. The system frees them when the process dies.

    Raises:
        OSError: The file cannot be created or locked.
    """

    def __init__(self, folder: Path) -> None:
        self._file = LockedFile(folder / _LOCKS)
        self._held: dict[Hashable, int] = {}
        try:
            # `is_in_use` in another process holds all places for a moment.
            for place in itertools.count(os.getpid()):
                if self._file.take(place % _PROCESSES):
                    break
                time.sleep(_AGAIN_SECONDS)
        except BaseException:
            self._file.close()
            raise

    def claim(self, key: Hashable) -> bool:
        """
        Lock a question; return True if nothing held it before, in this process or another one.

        Raises:
            OSError: The file cannot be locked.
        """
        # Two keys may share a lock; the second question then waits for the first.
        place = _PROCESSES + (zlib.crc32(str(key).encode()) >> 2)
        if place in self._held.values() or not self._file.take(place):
            return False
        self._held[key] = place
        return True

    def free(self, key: Hashable) -> None:
        if (place := self._held.pop(key, None)) is not None:
            with suppress(OSError):
                self._file.free(place)

    def close(self) -> None:
        self._held.clear()
        self._file.close()


def is_in_use(folder: Path) -> bool:
    """
    Return True if another process of the run is alive; do not call it for a run of this process.

    Raises:
        OSError: The file of the locks cannot be opened or locked.
    """
    if not (folder / _LOCKS).exists():
        return False
    file = LockedFile(folder / _LOCKS)
    try:
        return not file.take(0, count=_PROCESSES)
    finally:
        file.close()
