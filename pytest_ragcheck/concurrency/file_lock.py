"""Locks files between processes; the system frees the locks of a process that ends."""

from __future__ import annotations

import os
import struct
import sys
import time
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

if sys.platform == "win32":
    import msvcrt

    def _lock(descriptor: int) -> None:
        msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)

    def _lock_place(descriptor: int, place: int, count: int) -> None:
        os.lseek(descriptor, place, os.SEEK_SET)
        msvcrt.locking(descriptor, msvcrt.LK_NBLCK, count)

    def _free_place(descriptor: int, place: int) -> None:
        os.lseek(descriptor, place, os.SEEK_SET)
        msvcrt.locking(descriptor, msvcrt.LK_UNLCK, 1)
else:
    import fcntl

    def _lock(descriptor: int) -> None:
        # lockf would free its locks when the process closes the file anywhere, and cannot test its own lock.
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)

    def _lock_place(descriptor: int, place: int, count: int) -> None:
        fcntl.lockf(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB, count, place)

    def _free_place(descriptor: int, place: int) -> None:
        fcntl.lockf(descriptor, fcntl.LOCK_UN, 1, place)


_POLL_SECONDS = 0.02

_FIRST_LOCK = 1 << 20
"""The locked bytes lie beyond the content, because Windows lets no other process read a locked byte."""

_AGAIN_SECONDS = 0.001


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
        """Take the lock; True if this object holds it now. An `OSError` if the file cannot be opened."""
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
    if not path.exists():
        return False
    lock = FileLock(path)
    taken = lock.take()
    lock.free()
    return not taken


class LockedFile:
    """
    A file with any number of locks that share one file descriptor; an `OSError` if it cannot be opened or locked.

    A lock excludes other processes only: a process that takes its own lock again succeeds. Open a file once in a
    process, because POSIX frees all locks of a process on a file as soon as the process closes the file.
    """

    def __init__(self, path: Path) -> None:
        self._descriptor = os.open(path, os.O_RDWR | os.O_CREAT | getattr(os, "O_BINARY", 0), 0o644)

    def take(self, index: int, count: int = 1) -> bool:
        """Take *count* locks at once; True if this process holds them now, False if another has one."""
        try:
            _lock_place(self._descriptor, _FIRST_LOCK + index, count)
        except (BlockingIOError, PermissionError):  # Windows raises the latter
            return False
        return True

    def free(self, index: int) -> None:
        _free_place(self._descriptor, _FIRST_LOCK + index)

    def read(self, numbers: struct.Struct, offset: int) -> tuple[float, ...]:
        """The numbers at the offset; zeros before the first write."""
        os.lseek(self._descriptor, offset, os.SEEK_SET)
        return numbers.unpack(os.read(self._descriptor, numbers.size))

    def write(self, numbers: struct.Struct, offset: int, values: Iterable[float]) -> None:
        self._write(numbers.pack(*values), offset)

    def grow_to(self, size: int) -> None:
        """Write zeros up to the size, unless another process did."""
        while not self.take(0):
            time.sleep(_AGAIN_SECONDS)
        try:
            known = os.fstat(self._descriptor).st_size
            if known < size:
                self._write(bytes(size - known), known)
        finally:
            self.free(0)

    def close(self) -> None:
        os.close(self._descriptor)

    def _write(self, content: bytes, offset: int) -> None:
        os.lseek(self._descriptor, offset, os.SEEK_SET)
        os.write(self._descriptor, content)
