"""Shares a small file between processes, with locks that the system frees when their holder dies."""

from __future__ import annotations

import os
import struct
import sys
import time
from collections.abc import Iterable
from pathlib import Path

if sys.platform == "win32":
    import msvcrt

    def _lock(descriptor: int, place: int, count: int) -> None:
        os.lseek(descriptor, place, os.SEEK_SET)
        msvcrt.locking(descriptor, msvcrt.LK_NBLCK, count)

    def _unlock(descriptor: int, place: int) -> None:
        os.lseek(descriptor, place, os.SEEK_SET)
        msvcrt.locking(descriptor, msvcrt.LK_UNLCK, 1)
else:
    import fcntl

    def _lock(descriptor: int, place: int, count: int) -> None:
        fcntl.lockf(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB, count, place)

    def _unlock(descriptor: int, place: int) -> None:
        fcntl.lockf(descriptor, fcntl.LOCK_UN, 1, place)


_FIRST_LOCK = 1 << 20
"""The locked bytes lie beyond the content, because Windows lets no other process read a locked byte."""

_AGAIN_SECONDS = 0.001


class LockedFile:
    """
    A file with any number of locks that share one file descriptor.

    A lock excludes other processes only: a process that takes its own lock again succeeds. Open a file once in a
    process, because POSIX frees all locks of a process on a file as soon as the process closes the file.

    Raises:
        OSError: The file cannot be created, opened or locked.
    """

    def __init__(self, path: Path) -> None:
        self._descriptor = os.open(path, os.O_RDWR | os.O_CREAT | getattr(os, "O_BINARY", 0), 0o644)

    def take(self, index: int, count: int = 1) -> bool:
        """Take *count* locks at once; True if this process holds them now, False if another has one."""
        try:
            _lock(self._descriptor, _FIRST_LOCK + index, count)
        except (BlockingIOError, PermissionError):  # Windows raises the latter
            return False
        return True

    def free(self, index: int) -> None:
        _unlock(self._descriptor, _FIRST_LOCK + index)

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
        """Free all locks."""
        os.close(self._descriptor)

    def _write(self, content: bytes, offset: int) -> None:
        os.lseek(self._descriptor, offset, os.SEEK_SET)
        os.write(self._descriptor, content)
