"""Whose turn it is to ask a system that has room for less than one request of each process."""

from __future__ import annotations

import os
import time
from contextlib import suppress
from typing import TYPE_CHECKING

import anyio

from pytest_ragcheck.engine.lock import FileLock, is_held

if TYPE_CHECKING:
    from pathlib import Path

_POLL_SECONDS = 0.02


class Turn:
    """
    One process's view of a turn that at most one process of the run has at a time.

    While a process has it the others begin no request, so that what room there is comes to be that one's. It ends
    with its process. Where the file cannot be had, nobody ever has the turn.

    Args:
        path: Of a file in a folder that the processes share; None: there are no others.
    """

    def __init__(self, path: Path | None = None) -> None:
        self._path = path
        self._lock: FileLock | None = None

    @property
    def mine(self) -> bool:
        """Whether this process has it."""
        return self._lock is not None

    def take(self) -> bool:
        """True where this process has it now and had it not before."""
        if self._path is None or self.mine:
            return False
        lock = FileLock(self._path)
        with suppress(OSError):
            if lock.take():
                self._lock = lock
        return self.mine

    def free(self, *, served: bool = False) -> None:
        """Lets others have it, and tells them whether this process's request was *served*."""
        if self._path is not None and self._lock is not None:
            if served:
                now = time.time_ns()  # the file system's own clock may stand still for some milliseconds
                with suppress(OSError):
                    os.utime(self._path, ns=(now, now))
            self._lock.free()
            self._lock = None

    async def end_of_others(self) -> bool:
        """Waits until no other process has it; True where one had it, and was served meanwhile."""
        if self._path is None or self.mine or not self._is_anothers(self._path):
            return False
        before = self._served_at(self._path)
        while self._is_anothers(self._path):  # noqa: ASYNC110 - no event crosses processes
            await anyio.sleep(_POLL_SECONDS)
        return self._served_at(self._path) != before

    @staticmethod
    def _is_anothers(path: Path) -> bool:
        try:
            return is_held(path)
        except OSError:
            return False

    @staticmethod
    def _served_at(path: Path) -> int:
        try:
            return path.stat().st_mtime_ns
        except OSError:
            return 0
