"""Opens SQLite files that several processes use at once, and waits for their locks without blocking the event loop."""

from __future__ import annotations

import asyncio
import sqlite3
import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

T = TypeVar("T")

_AGAIN_SECONDS = 0.005


def opened(path: Path, *, lay_out: Callable[[sqlite3.Connection], None], within_seconds: float) -> sqlite3.Connection:
    """
    Open or create the file, for one thread at a time; do not call it in an event loop.

    *lay_out* creates the tables if they are missing. *within_seconds* is how long to wait for other processes that lock
    the file. Later statements do not wait: run them by `when_unlocked`. A `sqlite3.Error` if the file cannot be opened,
    is damaged, or stays locked.
    """
    database = sqlite3.connect(path, timeout=within_seconds, isolation_level=None, check_same_thread=False)
    try:
        _use_write_ahead_log(database, end=time.monotonic() + within_seconds)
        lay_out(database)
        database.execute("pragma busy_timeout = 0")
    except BaseException:
        database.close()
        raise
    return database


async def when_unlocked(operation: Callable[[], T], *, within_seconds: float) -> T:
    """
    The result of an operation on a database, which is repeated while another process locks the file.

    A `sqlite3.Error` if the operation fails, or the file stays locked.
    """
    end = time.monotonic() + within_seconds
    while True:
        try:
            return operation()
        except sqlite3.OperationalError as error:
            if not _is_locked(error) or time.monotonic() >= end:
                raise
        await asyncio.sleep(_AGAIN_SECONDS)


def _use_write_ahead_log(database: sqlite3.Connection, *, end: float) -> None:
    # Switch to write-ahead logging: a kill -9 loses no committed data, and no write waits for the disk.
    # SQLite refuses all but one of the processes that switch a new file at the same moment, whatever their timeout.
    while True:
        is_last = time.monotonic() >= end
        try:
            database.execute("pragma journal_mode = wal")
            break
        except sqlite3.OperationalError as error:
            if is_last or not _is_locked(error):
                raise
        time.sleep(_AGAIN_SECONDS)
    database.execute("pragma synchronous = normal")


def _is_locked(error: sqlite3.OperationalError) -> bool:
    # By the text, because Python 3.10 has no error code.
    return "locked" in str(error)
