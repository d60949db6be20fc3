"""Keeps the claims and records of a run's questions: in memory, in a file for a run that resumes it, or shared."""

from __future__ import annotations

import json
from collections.abc import Hashable, Sequence
from typing import TYPE_CHECKING

from pytest_ragcheck.verdict.record import Record

if TYPE_CHECKING:
    from pytest_ragcheck.engine.store.record_file import RecordFile

_KNOWN = "select key from questions where taken < ? and key in (select value from json_each(?))"
_DISCARD = "insert into questions (key, taken) values (?, 1) on conflict (key) do update set taken = 1"


class MemoryStore:
    """
    The store of a run with a single process, or of a process that shares no disk with the others.

    The process that claims a question asks it. The others wait until there is a record to take, or until they can claim
    the question themselves. The claims of a process that dies are free again.
    """

    claims_ahead = True
    """True if questions may be claimed before they are wanted; False if other processes cannot see the records."""

    shared = False
    """True if other processes may have claims in the store too."""

    def __init__(self) -> None:
        self._claimed: set[Hashable] = set()
        self._finished: dict[Hashable, Record] = {}
        self._used: set[Hashable] = set()

    async def claim(self, keys: Sequence[Hashable], most: int) -> list[Hashable]:
        """Claim the first *most* free questions for this process, and return them."""
        free = [key for key in keys if key not in self._claimed and not await self.has(key)]
        self._claimed.update(free[:most])
        return free[:most]

    claim_ahead = claim

    async def finish(self, key: Hashable, record: Record) -> None:
        """Keep the record of a question that this process has claimed, and release the question."""
        self._finished[key] = record
        self.release(key)

    def release(self, key: Hashable) -> None:
        self._claimed.discard(key)

    async def take(self, key: Hashable) -> Record | None:
        """The record, once; None if there is none to take."""
        record = self._finished.pop(key, None)
        if record is not None:
            self._used.add(key)
        return record

    async def discard(self, key: Hashable) -> None:
        """Count a question as used, so that no process begins or continues to evaluate it."""
        self._finished.pop(key, None)
        self._used.add(key)

    async def is_used(self, key: Hashable) -> bool:
        """True if the record was taken, or the question discarded."""
        return key in self._used

    async def has(self, key: Hashable) -> bool:
        """True if the question has a record, taken or not, or was discarded."""
        return key in self._finished or key in self._used

    async def untaken(self) -> int:
        """How many records of this run, of all processes, are not taken yet."""
        return len(self._finished)


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


class SharedStore:
    """
    A store like `JournaledStore` for several processes, with the claims as locks.

    If the file fails, the process keeps further records in memory, and the others ask again what it has asked.
    """

    shared = True

    def __init__(self, file: RecordFile) -> None:
        self.file = file
        self.resumed = 0
        self._memory = MemoryStore()
        """Questions that ended after the file failed."""

    @property
    def claims_ahead(self) -> bool:
        return self.file.works

    async def claim(self, keys: Sequence[Hashable], most: int, *, below: int = 2) -> list[Hashable]:
        claimed: list[Hashable] = []
        try:
            for key in await self._unknown(keys, below):
                if len(claimed) == most:
                    break
                if not self._lock(key):
                    continue
                claimed.append(key)
                # Another process may have stored the record and freed the lock since the first look.
                if not await self._unknown([key], below):
                    self.release(claimed.pop())
            if claimed:
                self.file.begin(claimed)
        except BaseException:
            for key in claimed:
                self.release(key)
            raise
        return claimed

    async def claim_ahead(self, keys: Sequence[Hashable], most: int) -> list[Hashable]:
        """Claim questions that no process has begun, since they may have crashed it."""
        return await self.claim(keys, most, below=3)

    async def finish(self, key: Hashable, record: Record) -> None:
        if not await self.file.add(key, record, taken=False):
            await self._memory.finish(key, record)
        self.release(key)

    async def keep(self, key: Hashable, record: Record) -> None:
        await self.file.add(key, record, taken=True)

    def release(self, key: Hashable) -> None:
        self.file.locks.free(key)

    async def take(self, key: Hashable) -> Record | None:
        if await self._memory.has(key):
            return await self._memory.take(key)
        record, resumed = await self.file.untaken(key)
        if record is None:
            return None
        marked = await self.file.mark_taken(key)
        if not self.file.works:
            await self._memory.discard(key)
        elif not marked:
            return None
        self.resumed += resumed
        return record

    async def take_resumed(self, key: Hashable) -> Record | None:
        known = await self.file.read("select 1 from questions where key = ? and resumed = 1", key)
        return await self.take(key) if known else None

    async def discard(self, key: Hashable) -> None:
        if not await self.file.write(_DISCARD, key):
            await self._memory.discard(key)

    async def is_used(self, key: Hashable) -> bool:
        query = "select 1 from questions where key = ? and taken = 1"
        return await self._memory.is_used(key) or bool(await self.file.read(query, key))

    async def has(self, key: Hashable) -> bool:
        return not await self._unknown([key])

    async def untaken(self) -> int:
        rows = await self.file.read("select count(*) from questions where taken = 0 and resumed = 0")
        return await self._memory.untaken() + (int(rows[0][0]) if rows else 0)

    async def _unknown(self, keys: Sequence[Hashable], below: int = 2) -> list[Hashable]:
        # A file that failed may hold records that cannot be read.
        query = _KNOWN if self.file.works else f"{_KNOWN} and taken = 1"
        known = {key for (key,) in await self.file.read(query, below, json.dumps(keys))}
        return [key for key in keys if key not in known and not await self._memory.has(key)]

    def _lock(self, key: Hashable) -> bool:
        try:
            return self.file.locks.claim(key)
        except OSError as error:
            self.file.fail(error)
            return True
