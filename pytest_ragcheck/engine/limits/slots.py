"""Holds the slots of a limit: each request takes one, and the processes of a run share them."""

from __future__ import annotations

import random
import struct
from collections import deque
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import astuple, fields
from pathlib import Path

from pytest_ragcheck.concurrency.file_lock import LockedFile
from pytest_ragcheck.engine.limits.adaptive_limit import AdaptiveLimit

_WANTED = struct.Struct("=3d")
"""A request for a slot: its expiry, the number of the process that needs it, and the start of the wait."""

_LIMIT = struct.Struct(f"={1 + len(fields(AdaptiveLimit))}d")
"""1.0 and the fields of the adaptive limit; zeros before the first change."""

_LOCK_OF_NUMBERS = 0
"""Index of the lock of the numbers; the locks of the slots follow."""

_WANTED_SECONDS = 0.1
"""Time limit of a request for a slot, so that a process that stopped polling does not block the others."""

_SIZE = 512


class PrivateTable:
    """The locks and the numbers of one limit in a run with a single process, which needs no locks."""

    def __init__(self) -> None:
        self._memory = bytearray(_SIZE)

    def take(self, index: int) -> bool:  # noqa: ARG002 - no other process takes slots
        return True

    def free(self, index: int) -> None:
        """Do nothing."""

    def read(self, numbers: struct.Struct, offset: int) -> tuple[float, ...]:
        return numbers.unpack_from(self._memory, offset)

    def write(self, numbers: struct.Struct, offset: int, values: Iterable[float]) -> None:
        numbers.pack_into(self._memory, offset, *values)


class SharedTable(LockedFile):
    """The table of a run with several processes: a file; an `OSError` if it cannot be created, locked or written."""

    def __init__(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        super().__init__(path)
        # A full disk is noticed here, and not at the first refusal.
        self.grow_to(_SIZE)


class Slots:
    """
    The slots of one limit, as one process sees them.

    Args:
        number: Slots of the whole run, >= 1.
        processes: Processes that share the slots, >= 1.
        table: The table that these processes share; None: this process is the only one.
    """

    def __init__(self, number: int, *, processes: int = 1, table: PrivateTable | SharedTable | None = None) -> None:
        self.number = number
        self.shared = table is not None
        self._processes = processes
        self._table = PrivateTable() if table is None else table
        self._held: list[int] = []
        self._hung: list[int] = []
        """Marks of this process for slots with hung calls: locks after the slots' own, from number + 1."""

        self._others = deque(random.sample(range(1, number + 1), number))
        self._id = random.random()  # noqa: S311 - no secret

    def running(self) -> int:
        return len(self._held) + (self._taken_by_others(self._others) if self.shared else 0)

    def take(self, now: float) -> bool:
        if self.shared and self._another_wants_one(now):
            return False
        allowed = self.limit().number
        if len(self._held) >= allowed or not self._take_any():
            return False
        if self.shared and allowed < self.number and self.running() > allowed:
            # The count comes after the lock, so that two processes at the same moment never exceed the limit.
            self.free()
            return False
        if self.shared and self._wanted()[1] == self._id:
            self._want(0.0, 0.0)
        return True

    def free(self) -> None:
        slot = self._held.pop()
        self._table.free(slot)
        self._others.appendleft(slot)

    def mark_hung(self) -> int:
        """Mark one slot of this process as held by a call that may never end, and return the mark."""
        while True:
            # A process that counts the marks holds each for a moment.
            for mark in self._marks():
                if self._table.take(mark):
                    self._hung.append(mark)
                    return mark

    def unmark_hung(self, mark: int) -> None:
        self._hung.remove(mark)
        self._table.free(mark)

    def are_hung(self) -> bool:
        """True if calls that may never end hold all slots that are taken, in all processes."""
        hung = len(self._hung)
        if self.shared:
            hung += self._taken_by_others(self._marks())
        return hung > 0 and hung >= self.running()

    def ask_for_one(self, now: float, *, since: float) -> bool:
        """
        Ask the other processes for a slot if this one has fewer than its even share; return True in that case.

        The process that has waited longest gets it, so that each gets its turn if the limit is one request.
        """
        if len(self._held) >= max(1, self.limit().number // self._processes):
            return False
        if not self._another_wants_one(now) or since < self._wanted()[2]:
            self._want(now + _WANTED_SECONDS, since)
        return True

    def limit(self) -> AdaptiveLimit:
        known, *numbers = self._table.read(_LIMIT, _WANTED.size)
        return AdaptiveLimit(*numbers) if known else AdaptiveLimit(self.number, self.number)

    @contextmanager
    def changing_limit(self) -> Iterator[AdaptiveLimit | None]:
        """Yield the adaptive limit, and write it back at the end; yield None while another process changes it."""
        if not self._table.take(_LOCK_OF_NUMBERS):
            yield None
            return
        limit = self.limit()
        try:
            yield limit
        finally:
            self._table.write(_LIMIT, _WANTED.size, (1.0, *astuple(limit)))
            self._table.free(_LOCK_OF_NUMBERS)

    def _take_any(self) -> bool:
        for _ in range(len(self._others)):
            slot = self._others.popleft()
            if self._table.take(slot):
                self._held.append(slot)
                return True
            self._others.append(slot)
        return False

    def _marks(self) -> list[int]:
        return [mark for mark in range(self.number + 1, 2 * self.number + 1) if mark not in self._hung]

    def _taken_by_others(self, locks: Iterable[int]) -> int:
        count = 0
        for lock in locks:
            if self._table.take(lock):
                self._table.free(lock)
            else:
                count += 1
        return count

    def _another_wants_one(self, now: float) -> bool:
        until, process, _ = self._wanted()
        return now < until and process != self._id

    def _wanted(self) -> tuple[float, ...]:
        return self._table.read(_WANTED, 0)

    def _want(self, until: float, since: float) -> None:
        self._table.write(_WANTED, 0, (until, self._id, since))
