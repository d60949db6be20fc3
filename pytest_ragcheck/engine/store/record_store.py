"""Defines the store protocol: the claims and records of questions that the processes of a run share."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Protocol

from pytest_ragcheck.verdict.record import Record


class Store(Protocol):
    """
    The questions of a run by key, for all of its processes.

    The process that claims a question asks it. The others wait until there is a record to take, or until they can claim
    the question themselves. The claims of a process that dies are free again.
    """

    @property
    def claims_ahead(self) -> bool:
        """True if questions may be claimed before they are wanted; False if other processes cannot see the records."""
        ...

    @property
    def shared(self) -> bool:
        """True if other processes may have claims in the store too."""
        ...

    async def claim(self, keys: Sequence[Hashable], most: int) -> list[Hashable]:
        """Claim the first *most* free questions for this process, and return them."""
        ...

    async def finish(self, key: Hashable, record: Record) -> None:
        """Keep the record of a question that this process has claimed, and release the question."""
        ...

    def release(self, key: Hashable) -> None:
        """Free the claim of this process on a question, if it has one."""
        ...

    async def take(self, key: Hashable) -> Record | None:
        """Return the record, once; None if there is none to take."""
        ...

    async def discard(self, key: Hashable) -> None:
        """Count a question as used, so that no process begins or continues to evaluate it."""
        ...

    async def is_used(self, key: Hashable) -> bool:
        """Return True if the record was taken, or the question discarded."""
        ...

    async def has(self, key: Hashable) -> bool:
        """Return True if the question has a record, taken or not, or was discarded."""
        ...

    async def untaken(self) -> int:
        """Return how many records of this run, of all processes, are not taken yet."""
        ...


class MemoryStore:
    """The store of a run with a single process, or of a process that shares no disk with the others."""

    claims_ahead = True
    shared = False

    def __init__(self) -> None:
        self._claimed: set[Hashable] = set()
        self._finished: dict[Hashable, Record] = {}
        self._used: set[Hashable] = set()

    async def claim(self, keys: Sequence[Hashable], most: int) -> list[Hashable]:
        free = [key for key in keys if key not in self._claimed and not await self.has(key)]
        self._claimed.update(free[:most])
        return free[:most]

    async def finish(self, key: Hashable, record: Record) -> None:
        self._finished[key] = record
        self.release(key)

    def release(self, key: Hashable) -> None:
        self._claimed.discard(key)

    async def take(self, key: Hashable) -> Record | None:
        record = self._finished.pop(key, None)
        if record is not None:
            self._used.add(key)
        return record

    async def discard(self, key: Hashable) -> None:
        self._finished.pop(key, None)
        self._used.add(key)

    async def is_used(self, key: Hashable) -> bool:
        return key in self._used

    async def has(self, key: Hashable) -> bool:
        return key in self._finished or key in self._used

    async def untaken(self) -> int:
        return len(self._finished)
