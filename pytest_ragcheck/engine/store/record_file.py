"""Keeps the records of a run in an SQLite file, beside the locks of its questions, and reads the file after the run."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Hashable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from pytest_ragcheck.engine.store.run_folder import RunLocks
from pytest_ragcheck.engine.store.shared_database import opened, when_unlocked
from pytest_ragcheck.errors import StoreError
from pytest_ragcheck.redaction import Redactor
from pytest_ragcheck.verdict.record import Record

T = TypeVar("T")

FILE = "store.sqlite"
FILES = (FILE, f"{FILE}-wal", f"{FILE}-shm")
"""The files that SQLite writes in WAL mode."""

LAYOUT = 1
"""Version of the table, kept as the file's `user_version`. A run cannot resume a store with another version."""

_TABLE = """
create table if not exists questions (
    key text primary key,
    record text,
    verdict text,
    taken integer not null default 0,
    resumed integer not null default 0
)
"""
_UNTAKEN = "create index if not exists untaken on questions (key) where taken = 0 and resumed = 0"
_FINISHED = "select key from questions where verdict != 'ERROR'"
_EARLIER = "select key from questions where taken = 0 and resumed = 1"
_WRITE = "insert or replace into questions (key, record, verdict, taken) values (?, ?, ?, ?)"
_BEGIN = "insert or ignore into questions (key, taken) select value, 2 from json_each(?)"
_KEEP_LEAK = (
    "insert into questions (key, record, verdict, taken) values (?, ?, ?, 2) "
    "on conflict (key) do update set record = excluded.record, verdict = excluded.verdict"
)
"""`taken = 2` is a question that was begun; only a resumed run sees its leak."""

_BUSY_SECONDS = 30.0


def lay_out(database: sqlite3.Connection, *, resumes: bool = False) -> None:
    """
    Create the table if it is missing; a `sqlite3.DatabaseError` if the file has another layout, or is damaged.

    *resumes* is True to delete the ERRORs of an earlier run, and to offer its other records again.
    """
    # One transaction: neither another process nor a run after a kill finds half a layout.
    with _transaction(database):
        found = _layout(database)
        if found not in (None, LAYOUT):
            raise sqlite3.DatabaseError(
                f"another version of pytest-ragcheck wrote it (its layout is {found}, that of this version {LAYOUT})"
            )
        database.execute(f"pragma user_version = {LAYOUT}")
        for statement in (_TABLE, _UNTAKEN):
            database.execute(statement)
        if resumes:
            ((problem,), *_) = database.execute("pragma quick_check(1)").fetchall()
            if problem != "ok":
                raise sqlite3.DatabaseError(problem)
            database.execute(f"delete from questions where key not in ({_FINISHED})")  # noqa: S608 - fixed
            database.execute("update questions set taken = 0, resumed = 1")


def layout_of(folder: Path) -> int | None:
    """The layout of the store of a finished run, >= 0; None without a table, a `StoreError` if it cannot be read."""
    with _reading(folder) as database:
        return _layout(database)


def finished_keys(folder: Path) -> list[str]:
    """The keys of the questions that a finished run recorded without an ERROR; a `StoreError` if it cannot be read."""
    with _reading(folder) as database:
        return [key for (key,) in database.execute(_FINISHED)]


def forget_unused(folder: Path) -> None:
    """Delete the records of an earlier run that the finished run did not use, such as those of a deleted question."""
    with suppress(StoreError), _reading(folder) as database, _transaction(database):
        database.execute("delete from questions where taken = 0 and resumed = 1")


def rows(folder: Path) -> list[dict[str, Any]]:
    with closing(sqlite3.connect(folder / FILE)) as database:
        found = database.execute("select record from questions where record is not null order by rowid").fetchall()
    return [json.loads(record) for (record,) in found]


@contextmanager
def _transaction(database: sqlite3.Connection) -> Iterator[None]:
    database.execute("begin immediate")
    try:
        yield
        database.execute("commit")
    except BaseException:
        if database.in_transaction:  # some errors end the transaction
            database.execute("rollback")
        raise


@contextmanager
def _reading(folder: Path) -> Iterator[sqlite3.Connection]:
    path = folder / FILE
    try:
        # A missing file must not be created here.
        with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=rw", uri=True)) as database:
            yield database
    except sqlite3.Error as error:
        raise StoreError(f"{path}: {error}", path=path) from error


def _layout(database: sqlite3.Connection) -> int | None:
    # The version number in the file; None if the file is empty.
    (layout,) = database.execute("pragma user_version").fetchone()
    (tables,) = database.execute("select count(*) from sqlite_master").fetchone()
    return int(layout) if layout or tables else None


class RecordFile:
    """
    The file with the records of a run. After its first error it is not written any more, but read if reading works.

    *folder*, that of the run, exists. *on_failure* is called once with the error of the file. *resumes* is True to
    offer the records of an earlier run again, except its ERRORs. *damaged* is the error of a damaged file that was
    moved aside. A `StoreError` if the file is damaged, has another layout, or cannot be opened.
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
        self._database.close()
        self.locks.close()

    async def add(self, key: Hashable, record: Record, *, taken: bool) -> bool:
        return bool(await self.write(_WRITE, key, self._document(record), record.verdict.value, int(taken)))

    def begin(self, keys: Sequence[Hashable]) -> None:
        """Mark the questions as begun, unless the file is locked."""
        with suppress(sqlite3.Error):
            self._database.execute(_BEGIN, [json.dumps(keys)])

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
