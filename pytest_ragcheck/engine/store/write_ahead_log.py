"""Sets up SQLite's write-ahead log for a file that several processes open at the same moment."""

from __future__ import annotations

import sqlite3
import time

_AGAIN_SECONDS = 0.01


def use_wal(database: sqlite3.Connection, *, within_seconds: float) -> None:
    """
    Switch the file to write-ahead logging: a kill -9 loses no committed data, and no write waits for the disk.

    SQLite refuses all but one of the processes that switch a new file at the same moment, whatever their timeout. The
    others retry for *within_seconds*.

    Raises:
        sqlite3.Error: The switch failed.
    """
    end = time.monotonic() + within_seconds
    while not _switched(database, last=time.monotonic() >= end):
        time.sleep(_AGAIN_SECONDS)
    database.execute("pragma synchronous = normal")


def _switched(database: sqlite3.Connection, *, last: bool) -> bool:
    try:
        database.execute("pragma journal_mode = wal")
    except sqlite3.OperationalError as error:
        # By the text, because Python 3.10 has no error code.
        if last or "locked" not in str(error):
            raise
        return False
    return True
