"""Keeps the records of a run with a single process in memory, and in a file for a run that resumes it."""

from __future__ import annotations

from collections.abc import Hashable

from pytest_ragcheck.engine.store.record_file import RecordFile
from pytest_ragcheck.engine.store.record_store import MemoryStore
from pytest_ragcheck.verdict.record import Record


class JournaledStore(MemoryStore):
    """A `MemoryStore` that writes each record once; those of an earlier run are read when they are taken."""

    def __init__(self, file: RecordFile) -> None:
        super().__init__()
        self.file = file
        self.resumed = 0
        """The number of records taken from an earlier run."""

        self._earlier: set[Hashable] = set(file.earlier)

    async def finish(self, key: Hashable, record: Record) -> None:
        await self.file.add(key, record, taken=True)
        await super().finish(key, record)

    async def keep(self, key: Hashable, record: Record) -> None:
        """Store the record of an unclaimed question as taken; it replaces an earlier one."""
        await self.file.add(key, record, taken=True)
        await super().discard(key)
        self._earlier.discard(key)

    async def take(self, key: Hashable) -> Record | None:
        if key not in self._earlier:
            return await super().take(key)
        record, _ = await self.file.untaken(key)
        if record is None:
            self._earlier.discard(key)
        else:
            await self.discard(key)
            self.resumed += 1
        return record

    async def take_resumed(self, key: Hashable) -> Record | None:
        """The record that an earlier run left for an unclaimed question; None without one."""
        return await self.take(key) if key in self._earlier else None

    async def discard(self, key: Hashable) -> None:
        if key in self._earlier:
            await self.file.mark_taken(key)
            self._earlier.discard(key)
        await super().discard(key)

    async def has(self, key: Hashable) -> bool:
        return key in self._earlier or await super().has(key)
