"""Keeps the records of a run in an SQLite file, beside the locks of its questions."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Hashable
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from pytest_ragcheck.engine.store.run_folder import RunLocks
from pytest_ragcheck.engine.store.shared_database import opened, when_unlocked
from pytest_ragcheck.engine.store.store_file import FILE, lay_out
from pytest_ragcheck.errors import StoreError
from pytest_ragcheck.redaction import Redactor
from pytest_ragcheck.verdict.record import Record

T = TypeVar("T")

_BUSY_SECONDS = 30.0
_EARLIER = "select key from questions where taken = 0 and resumed = 1"
_WRITE = "insert or replace into questions (key, record, verdict, taken) values (?, ?, ?, ?)"
_KEEP_LEAK = (
    "insert into questions (key, record, verdict, taken) values (?, ?, ?, 2) "
    "on conflict (key) do update set record = excluded.record, verdict = excluded.verdict"
)
"""Only a resumed run sees a question with `taken = 2`."""


class RecordFile:
    """
    The file with the records of a run. After its first error it is not written any more, but read if reading works.

    Args:
        folder: The folder of the run, which exists.
        redactor: Removes secrets from stored text.
        on_failure: Called once with the error of the file.
        resumes: True to offer the records of an earlier run again, except its ERRORs.
        damaged: The error of a damaged file that was moved aside; empty if there was none.

    Raises:
        StoreError: The file is damaged, has another layout, or cannot be opened.
    """

    def __init__(
        self,
        folder: Path,
        redactor: Redactor,
        *,
        on_failure: Callable[[StoreError], None],
        resumes: bool = False,
        damaged: str = "",
    ) -> None:
        self.damaged = damaged
        self.works = True
        self._path = folder / FILE
        self._clean = redactor
        self._on_failure = on_failure
        try:
            self.locks = RunLocks(folder)
            try:
                layout = partial(lay_out, resumes=resumes)
                self._database = opened(self._path, lay_out=layout, within_seconds=_BUSY_SECONDS)
                self.earlier = {key for (key,) in self._database.execute(_EARLIER)} if resumes else set()
                """The keys of the records that an earlier run left."""
            except BaseException:
                self.locks.close()
                raise
        except (sqlite3.Error, OSError) as error:
            raise self._error(error) from error

    def close(self) -> None:
        """Close the file, and free the claims of this process."""
        self._database.close()
        self.locks.close()

    async def add(self, key: Hashable, record: Record, *, taken: bool) -> bool:
        """Write a record in place of an earlier one; return True if that worked."""
        return bool(await self.write(_WRITE, key, self._document(record), record.verdict.value, int(taken)))

    async def keep_leak(self, key: Hashable, record: Record) -> None:
        """Write the leak of an unfinished question, for a run that resumes this one."""
        await self.write(_KEEP_LEAK, key, self._document(record), record.verdict.value)

    async def untaken(self, key: Hashable) -> tuple[Record | None, int]:
        """The record that was not taken, and 1 if an earlier run made it; None and 0 without one."""
        query = "select record, resumed from questions where key = ? and taken = 0 and record is not null"
        rows = await self.read(query, key)
        try:
            return (Record.from_json(rows[0][0]), rows[0][1]) if rows else (None, 0)
        except (ValueError, KeyError, TypeError) as error:
            self.fail(error)
            return None, 0

    async def mark_taken(self, key: Hashable) -> int:
        """Return 0 if the record was taken before, or the file cannot be written."""
        return await self.write("update questions set taken = 1 where key = ? and taken = 0", key)

    async def read(self, query: str, *values: Any) -> list[Any]:
        """The rows; empty if they cannot be read."""
        return await self._try(lambda: self._database.execute(query, values).fetchall()) or []

    async def write(self, statement: str, *values: Any) -> int:
        """The number of changed rows; 0 if the file cannot be written."""
        if not self.works:
            return 0
        return await self._try(lambda: self._database.execute(statement, values).rowcount) or 0

    def fail(self, error: Exception) -> None:
        if self.works:
            self.works = False
            self._on_failure(self._error(error))

    def _document(self, record: Record) -> str:
        return json.dumps(self._clean.document(record.to_document()))

    async def _try(self, operation: Callable[[], T]) -> T | None:
        try:
            return await when_unlocked(operation, within_seconds=_BUSY_SECONDS)
        except sqlite3.Error as error:
            self.fail(error)
            return None

    def _error(self, error: Exception) -> StoreError:
        return StoreError(f"{self._path}: {error}", path=self._path)
