"""Shares the records of a run among its processes, by a file."""

from __future__ import annotations

import json
from collections.abc import Hashable, Sequence

from pytest_ragcheck.engine.store.record_file import RecordFile
from pytest_ragcheck.engine.store.record_store import MemoryStore
from pytest_ragcheck.verdict.record import Record

_KNOWN = "select key from questions where taken < 2 and key in (select value from json_each(?))"
_DISCARD = "insert into questions (key, taken) values (?, 1) on conflict (key) do update set taken = 1"


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

    async def claim(self, keys: Sequence[Hashable], most: int) -> list[Hashable]:
        claimed: list[Hashable] = []
        try:
            for key in await self._unknown(keys):
                if len(claimed) == most:
                    break
                if not self._lock(key):
                    continue
                claimed.append(key)
                # Another process may have stored the record and freed the lock since the first look.
                if not await self._unknown([key]):
                    self.release(claimed.pop())
        except BaseException:
            for key in claimed:
                self.release(key)
            raise
        return claimed

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

    async def _unknown(self, keys: Sequence[Hashable]) -> list[Hashable]:
        # A file that failed may hold records that cannot be read.
        query = _KNOWN if self.file.works else f"{_KNOWN} and taken = 1"
        known = {key for (key,) in await self.file.read(query, json.dumps(keys))}
        return [key for key in keys if key not in known and not await self._memory.has(key)]

    def _lock(self, key: Hashable) -> bool:
        try:
            return self.file.locks.claim(key)
        except OSError as error:
            self.file.fail(error)
            return True
