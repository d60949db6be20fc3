"""Detects which processes of a run are alive: each holds a lock on its own file as long as it lives."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

from pytest_ragcheck.concurrency.file_lock import FileLock, is_held

if TYPE_CHECKING:
    from pathlib import Path


class Presence:
    """
    The presence of this process among the processes of a run.

    Args:
        folder: The folder of the files of all processes; created if missing.

    Raises:
        OSError: The folder or the file cannot be created.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.name = f"{os.getpid()}-{os.urandom(4).hex()}"
        """Unique among processes."""

        folder.mkdir(exist_ok=True)
        self._lock = FileLock(folder / self.name)
        # Another process that checks this file holds its lock for a moment.
        self._lock.wait()

    def is_alive(self, name: str) -> bool:
        """Return True if the process with that name is alive and has not left."""
        # A forked child would keep the lock of its dead parent.
        return is_held(self._folder / name) and _runs(int(name.partition("-")[0]))

    def leave(self) -> None:
        """Free the lock, so that other processes take this one for dead."""
        self._lock.free()


def _runs(process: int) -> bool:
    """Return True if this machine has a process with that number."""
    if sys.platform == "win32":
        return True  # On Windows the lock alone decides, because signal 0 would end the process.
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
