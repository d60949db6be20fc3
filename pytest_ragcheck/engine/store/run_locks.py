"""Locks the questions that a process evaluates, and the folder of its run, until the process ends."""

from __future__ import annotations

import itertools
import os
import time
import zlib
from collections.abc import Hashable
from contextlib import suppress
from pathlib import Path

from pytest_ragcheck.concurrency.locked_file import LockedFile

_FILE = "locks"

_PROCESSES = 1 << 16
"""The first locks: each process of the run holds one of them."""

_AGAIN_SECONDS = 0.001


class RunLocks:
    """
    The locks of this process in a file of the run folder, which exists. The system frees them when the process dies.

    Raises:
        OSError: The file cannot be created or locked.
    """

    def __init__(self, folder: Path) -> None:
        self._file = LockedFile(folder / _FILE)
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
    if not (folder / _FILE).exists():
        return False
    file = LockedFile(folder / _FILE)
    try:
        return not file.take(0, count=_PROCESSES)
    finally:
        file.close()
