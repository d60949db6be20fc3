"""The file of a run's store: how it is laid out, and what can be read of it when the run is over."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING, Any

from pytest_ragcheck.errors import StoreError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

FILE = "store.sqlite"
FILES = (FILE, f"{FILE}-wal", f"{FILE}-shm")
"""What SQLite writes in WAL mode."""

LAYOUT = 1
"""Of the table; kept as the file's `user_version`. Another one has another number, and no run goes on with it."""

_TABLE = """
create table if not exists questions (
    key text primary key,
    owner text,
    waiter text,
    record text,
    verdict text,
    taken integer not null default 0,
    resumed integer not null default 0
)
"""
_UNTAKEN = "create index if not exists untaken on questions (key) where taken = 0 and resumed = 0"
_AWAITED = "create index if not exists awaited on questions (owner) where waiter is not null and record is null"

FINISHED = "select key from questions where verdict != 'ERROR'"
"""The keys of all questions that have a record which is no ERROR."""


def lay_out(database: sqlite3.Connection) -> None:
    """
    Makes the table where there is none.

    Raises:
        sqlite3.DatabaseError: The file has another layout, or is damaged.
    """
    # At once, so that nobody who opens it at the same moment sees a half of it, nor a later run if this one is killed.
    database.execute("begin immediate")
    try:
        _lay_out(database)
        database.execute("commit")
    except BaseException:
        if database.in_transaction:  # some errors end it
            database.execute("rollback")
        raise


def _lay_out(database: sqlite3.Connection) -> None:
    found = _layout(database)
    if found not in (None, LAYOUT):
        raise sqlite3.DatabaseError(
            f"another version of pytest-ragcheck wrote it (its layout is {found}, that of this version {LAYOUT})"
        )
    database.execute(f"pragma user_version = {LAYOUT}")
    for statement in (_TABLE, _UNTAKEN, _AWAITED):
        database.execute(statement)


def layout_of(folder: Path) -> int | None:
    """
    The layout of the store of a run that is over, >= 0; None where it has no table yet.

    Raises:
        StoreError: There is none, or it cannot be read.
    """
    with _reading(folder) as database:
        return _layout(database)


def finished_keys(folder: Path) -> list[str]:
    """
    The keys of the questions that a run which is over has finished without an ERROR.

    Raises:
        StoreError: Its store cannot be read.
    """
    with _reading(folder) as database:
        return [key for (key,) in database.execute(FINISHED)]


def rows(folder: Path) -> list[dict[str, Any]]:
    """The records in the store of a run that is over, as JSON documents; for those who read it without a run."""
    with closing(sqlite3.connect(folder / FILE)) as database:
        found = database.execute("select record from questions where record is not null order by rowid").fetchall()
    return [json.loads(record) for (record,) in found]


@contextmanager
def _reading(folder: Path) -> Iterator[sqlite3.Connection]:
    path = folder / FILE
    try:
        # Not to be made anew where it is missing.
        database = sqlite3.connect(f"{path.absolute().as_uri()}?mode=rw", uri=True)
        try:
            yield database
        finally:
            database.close()
    except sqlite3.Error as error:
        raise StoreError(f"{path}: {error}", path=path) from error


def _layout(database: sqlite3.Connection) -> int | None:
    """The number that is in the file; None where nothing else is."""
    (layout,) = database.execute("pragma user_version").fetchone()
    (tables,) = database.execute("select count(*) from sqlite_master").fetchone()
    return int(layout) if layout or tables else None
