"""Defines the layout of the file of a run's store, and reads the file after the run."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any

from pytest_ragcheck.errors import StoreError

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


def lay_out(database: sqlite3.Connection, *, resumes: bool = False) -> None:
    """
    Create the table if it is missing.

    *resumes* is True to delete the ERRORs of an earlier run, and to offer its other records again.

    Raises:
        sqlite3.DatabaseError: The file has another layout, or is damaged.
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
            _mark_resumed(database)


def _mark_resumed(database: sqlite3.Connection) -> None:
    ((found,), *_) = database.execute("pragma quick_check(1)").fetchall()
    if found != "ok":
        raise sqlite3.DatabaseError(found)
    database.execute(f"delete from questions where key not in ({_FINISHED})")  # noqa: S608 - fixed
    database.execute("update questions set taken = 0, resumed = 1")


def layout_of(folder: Path) -> int | None:
    """
    The layout of the store of a finished run, >= 0; None if it has no table yet.

    Raises:
        StoreError: The store is missing or cannot be read.
    """
    with _reading(folder) as database:
        return _layout(database)


def finished_keys(folder: Path) -> list[str]:
    """
    The keys of the questions that a finished run recorded without an ERROR.

    Raises:
        StoreError: The store cannot be read.
    """
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
