"""Keeps the records of a run on disk, for all its processes and for a run that resumes it."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Hashable, Sequence
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from pytest_ragcheck.engine.store.record_store import MemoryStore
from pytest_ragcheck.engine.store.run_locks import RunLocks
from pytest_ragcheck.engine.store.shared_database import opened, when_unlocked
from pytest_ragcheck.engine.store.store_file import FILE, lay_out
from pytest_ragcheck.errors import StoreError
from pytest_ragcheck.redaction import Redactor
from pytest_ragcheck.verdict.record import Record

T = TypeVar("T")

_BUSY_SECONDS = 30.0
_KNOWN = "select key from questions where taken < 2 and key in (select value from json_each(?))"
_WRITE = "insert or replace into questions (key, record, verdict, taken) values (?, ?, ?, ?)"
_KEEP_LEAK = (
    "insert into questions (key, record, verdict, taken) values (?, ?, ?, 2) "
    "on conflict (key) do update set record = excluded.record, verdict = excluded.verdict where ?"
)
"""Only a resumed run sees a question with `taken = 2`."""
_DISCARD = "insert into questions (key, taken) values (?, 1) on conflict (key) do update set taken = 1"


class SharedStore:
    """
    A store like `MemoryStore` with the records in an SQLite file in the folder of a run, and the claims as locks.

    If the file fails, the process keeps further records in memory, and reads those on disk if reading works. The other
    processes then ask again what this one has asked.

    Args:
        folder: The folder of the run, which exists.
        redactor: Removes secrets from stored text.
        alone: True if the run has a single process, which may prefetch even if the file fails.
        on_failure: Called once with the error of the file.
        resumes: True to offer the records of an earlier run again, except its ERRORs.
        damaged: The error of a damaged file that was moved aside; empty if there was none.

    Raises:
        StoreError: The file is damaged, has another layout, or cannot be opened. No method raises it.
    """

    def __init__(
        self,
        folder: Path,
        redactor: Redactor,
        *,
        alone: bool,
        on_failure: Callable[[StoreError], None],
        resumes: bool = False,
        damaged: str = "",
    ) -> None:
        self.shared = not alone
        self.damaged = damaged
        self.resumed = 0
        """The number of records taken from an earlier run."""

        self._path = folder / FILE
        self._clean = redactor
        self._on_failure = on_failure
        self._works = True
        self._memory = MemoryStore()
        """Questions that ended after the file failed."""
        self._stored: dict[Hashable, Record] = {}
        """Copies of records on disk that only this process takes, in a run with a single process."""
        try:
            self._locks = RunLocks(folder)
            try:
                layout = partial(lay_out, resumes=resumes)
                self._database = opened(self._path, lay_out=layout, within_seconds=_BUSY_SECONDS)
            except BaseException:
                self._locks.close()
                raise
        except (sqlite3.Error, OSError) as error:
            raise self._error(error) from error

    @property
    def claims_ahead(self) -> bool:
        return self._works or not self.shared

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
                if self.shared and not await self._unknown([key]):
                    self.release(claimed.pop())
        except BaseException:
            for key in claimed:
                self.release(key)
            raise
        return claimed

    async def finish(self, key: Hashable, record: Record) -> None:
        if not await self._store(key, record, taken=False):
            await self._memory.finish(key, record)
        elif not self.shared:
            self._stored[key] = record
        self.release(key)

    async def keep(self, key: Hashable, record: Record) -> None:
        """Store the record of an unclaimed question as taken; it replaces an earlier one."""
        await self._store(key, record, taken=True)

    async def keep_leak(self, key: Hashable, record: Record, *, is_new: bool) -> None:
        """Store a leak before its question is finished, for a run that resumes this one; a new one replaces another."""
        await self._write(_KEEP_LEAK, key, self._document(record), record.verdict.value, is_new)

    def release(self, key: Hashable) -> None:
        self._locks.free(key)

    async def take(self, key: Hashable) -> Record | None:
        if await self._memory.has(key):
            return await self._memory.take(key)
        record, resumed = self._stored.pop(key, None), 0
        if record is None:
            record, resumed = await self._read_record(key)
        if record is None:
            return None
        marked = await self._write("update questions set taken = 1 where key = ? and taken = 0", key)
        if not self._works:
            await self._memory.discard(key)
        elif not marked:
            return None
        self.resumed += resumed
        return record

    async def _read_record(self, key: Hashable) -> tuple[Record | None, int]:
        """The record on disk that was not taken, and 1 if an earlier run made it; None and 0 without one."""
        query = "select record, resumed from questions where key = ? and taken = 0 and record is not null"
        rows = await self._read(query, key)
        try:
            return (Record.from_json(rows[0][0]), rows[0][1]) if rows else (None, 0)
        except (ValueError, KeyError, TypeError) as error:
            self._fail(error)
            return None, 0

    async def take_resumed(self, key: Hashable) -> Record | None:
        """The record that an earlier run left for an unclaimed question; None without one."""
        known = await self._read("select 1 from questions where key = ? and resumed = 1", key)
        return await self.take(key) if known else None

    async def discard(self, key: Hashable) -> None:
        self._stored.pop(key, None)
        if not await self._write(_DISCARD, key):
            await self._memory.discard(key)

    async def is_used(self, key: Hashable) -> bool:
        query = "select 1 from questions where key = ? and taken = 1"
        return await self._memory.is_used(key) or bool(await self._read(query, key))

    async def has(self, key: Hashable) -> bool:
        return not await self._unknown([key])

    async def untaken(self) -> int:
        rows = await self._read("select count(*) from questions where taken = 0 and resumed = 0")
        return await self._memory.untaken() + (int(rows[0][0]) if rows else 0)

    def close(self) -> None:
        """Close the file, and free the claims of this process."""
        self._database.close()
        self._locks.close()

    async def _unknown(self, keys: Sequence[Hashable]) -> list[Hashable]:
        # A file that failed may hold records that cannot be read.
        query = _KNOWN if self._works else f"{_KNOWN} and taken = 1"
        known = {key for (key,) in await self._read(query, json.dumps(keys))}
        return [key for key in keys if key not in known and not await self._memory.has(key)]

    def _lock(self, key: Hashable) -> bool:
        try:
            return self._locks.claim(key)
        except OSError as error:
            self._fail(error)
            return True

    async def _store(self, key: Hashable, record: Record, *, taken: bool) -> bool:
        return bool(await self._write(_WRITE, key, self._document(record), record.verdict.value, int(taken)))

    def _document(self, record: Record) -> str:
        return json.dumps(self._clean.document(record.to_document()))

    async def _read(self, query: str, *values: Any) -> list[Any]:
        """The rows; empty if they cannot be read."""
        return await self._try(lambda: self._database.execute(query, values).fetchall()) or []

    async def _write(self, statement: str, *values: Any) -> int:
        """The number of changed rows; 0 if the file cannot be written."""
        if not self._works:
            return 0
        return await self._try(lambda: self._database.execute(statement, values).rowcount) or 0

    async def _try(self, operation: Callable[[], T]) -> T | None:
        try:
            return await when_unlocked(operation, within_seconds=_BUSY_SECONDS)
        except sqlite3.Error as error:
            self._fail(error)
            return None

    def _fail(self, error: Exception) -> None:
        if self._works:
            self._works = False
            self._on_failure(self._error(error))

    def _error(self, error: Exception) -> StoreError:
        return StoreError(f"{self._path}: {error}", path=self._path)
