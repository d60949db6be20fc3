"""SQLite's write-ahead log, for a file that several processes open at the same moment."""

from __future__ import annotations

import sqlite3
import time

_AGAIN_SECONDS = 0.01


def use_wal(database: sqlite3.Connection, *, within_seconds: float) -> None:
    """
    Has the file written by way of a log: a kill -9 loses nothing that was written, and no write waits for the disk.

    Of those who make a new file so at the same moment SQLite refuses all but one at once, whatever their timeout:
    they try again for so long.

    Raises:
        sqlite3.Error: It cannot be done.
    """
    end = time.monotonic() + within_seconds
    while not _switched(database, last=time.monotonic() >= end):
        time.sleep(_AGAIN_SECONDS)
    database.execute("pragma synchronous = normal")


def _switched(database: sqlite3.Connection, *, last: bool) -> bool:
    try:
        database.execute("pragma journal_mode = wal")
    except sqlite3.OperationalError as error:
        # By its text, for Python 3.10 has no code of it.
        if last or "locked" not in str(error):
            raise
        return False
    return True
