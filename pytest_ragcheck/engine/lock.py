"""A lock on a file that ends with the process that holds it, however the process ends."""

from __future__ import annotations

import os
import sys
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    from typing_extensions import Self

if sys.platform == "win32":
    import msvcrt

    def _lock(descriptor: int) -> None:
        msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
else:
    import fcntl

    def _lock(descriptor: int) -> None:
        # Not lockf: its locks end as soon as the process closes the file anywhere, and it could not test its own.
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)


_POLL_SECONDS = 0.02


class FileLock:
    """
    One holder at a time, across processes.

    The system frees the lock when its holder dies, so that nobody waits for the dead. The file stays.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._descriptor: int | None = None

    def take(self) -> bool:
        """
        True where the lock is this object's now; False where somebody else holds it.

        Raises:
            OSError: The file cannot be made or opened.
        """
        descriptor = os.open(self._path, os.O_RDWR | os.O_CREAT, 0o644)
        try:
            _lock(descriptor)
        except (BlockingIOError, PermissionError):  # Windows says the latter of a lock that is held
            os.close(descriptor)
            return False
        except BaseException:
            os.close(descriptor)
            raise
        self._descriptor = descriptor
        return True

    def free(self) -> None:
        """Lets others take the lock; nothing happens where it is not held."""
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None

    def __enter__(self) -> Self:
        """Waits for the lock: for what takes no longer than a few file operations."""
        while not self.take():
            time.sleep(_POLL_SECONDS)
        return self

    def __exit__(self, *_: object) -> None:
        self.free()


def is_held(path: Path) -> bool:
    """Whether a living process holds the lock of that file; False where there is no such file."""
    if not path.exists():
        return False
    lock = FileLock(path)
    taken = lock.take()
    lock.free()
    return not taken
