"""Locks a file until the process that holds the lock frees it or ends."""

from __future__ import annotations

import os
import sys
import time
from contextlib import suppress
from pathlib import Path

if sys.platform == "win32":
    import msvcrt

    def _lock(descriptor: int) -> None:
        msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
else:
    import fcntl

    def _lock(descriptor: int) -> None:
        # lockf would free its locks when the process closes the file anywhere, and cannot test its own lock.
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)


_POLL_SECONDS = 0.02


class FileLock:
    """
    A lock with one holder at a time, across processes.

    The system frees the lock when its holder dies. The file stays; without *stays*, a `with` statement deletes it.
    """

    def __init__(self, path: Path, *, stays: bool = True) -> None:
        self._path = path
        self._stays = stays
        self._descriptor: int | None = None

    def take(self) -> bool:
        """
        Take the lock; return True if this object holds it now, False if another one does.

        Raises:
            OSError: The file cannot be created or opened.
        """
        descriptor = os.open(self._path, os.O_RDWR | os.O_CREAT, 0o644)
        try:
            _lock(descriptor)
        except (BlockingIOError, PermissionError):  # Windows raises the latter for a held lock
            os.close(descriptor)
            return False
        except BaseException:
            os.close(descriptor)
            raise
        if not self._stays and not os.fstat(descriptor).st_nlink:
            os.close(descriptor)  # the last holder has deleted the file
            return False
        self._descriptor = descriptor
        return True

    def free(self) -> None:
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None

    def wait(self) -> None:
        """Take the lock, which others hold for no longer than a few file operations."""
        while not self.take():
            time.sleep(_POLL_SECONDS)

    def __enter__(self) -> None:
        self.wait()

    def __exit__(self, *_: object) -> None:
        if not self._stays:
            if sys.platform == "win32":
                self.free()  # Windows deletes no open file, not even another's
            with suppress(OSError):
                self._path.unlink()
        self.free()


def replace_text(path: Path, text: str) -> None:
    """Write the file such that no other process reads half of it."""
    temporary = path.with_suffix(f".{os.getpid()}.tmp")
    temporary.write_text(text, encoding="utf-8")
    temporary.replace(path)


def is_held(path: Path) -> bool:
    """True if a live process holds the file's lock; False if the file does not exist."""
    if not path.exists():
        return False
    lock = FileLock(path)
    taken = lock.take()
    lock.free()
    return not taken
