"""Which processes of a run are alive: each holds a lock on a file of its own for as long as it lives."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

from pytest_ragcheck.engine.lock import FileLock, is_held

if TYPE_CHECKING:
    from pathlib import Path


class Presence:
    """
    This process among those of a run.

    Args:
        folder: For the files of all of them; it is made if it is not there.

    Raises:
        OSError: The folder or the file cannot be made.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.name = f"{os.getpid()}-{os.urandom(4).hex()}"
        """That no other process has."""

        folder.mkdir(exist_ok=True)
        self._lock = FileLock(folder / self.name)
        self._lock.take()

    def is_alive(self, name: str) -> bool:
        """Whether the process of that name lives, and has not left."""
        # A process that was forked off it would keep its lock.
        return is_held(self._folder / name) and _runs(int(name.partition("-")[0]))

    def leave(self) -> None:
        """Lets the others believe that this process is dead."""
        self._lock.free()


def _runs(process: int) -> bool:
    """Whether there is a process of that number on this machine."""
    if sys.platform == "win32":
        return True  # the lock alone has to do: a signal 0 would end the process there
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
