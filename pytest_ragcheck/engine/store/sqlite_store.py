"""Keeps the store of a run on disk, shared by its processes and still there when they are killed."""

from __future__ import annotations

import json
import sqlite3
from contextlib import contextmanager
from typing import TYPE_CHECKING

from pytest_ragcheck.engine.store.presence import Presence
from pytest_ragcheck.engine.store.record_store import Claim
from pytest_ragcheck.engine.store.store_file import FILE, FINISHED, lay_out
from pytest_ragcheck.engine.store.write_ahead_log import use_wal
from pytest_ragcheck.errors import StoreError
from pytest_ragcheck.verdict.record import Record

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Iterator, Sequence
    from pathlib import Path

    from pytest_ragcheck.redaction import Redactor

_NOBODY = ""
"""The waiter of a question whose item ended without its record."""

_KNOWN = "select key from questions where key in (select value from json_each(?))"
_BUSY_SECONDS = 30.0


class SqliteStore:
    """
    A `Store` in an SQLite file in the folder of a run.

    A claim names its owner, and the owner holds a lock on its own file as long as it lives. A claim of a dead process
    is therefore free at once, and a claim of a live one never expires.

    Args:
        folder: The folder of the run, which exists.
        redactor: Removes secrets from stored text.

    Raises:
        StoreError: From every method: the file is damaged or has another layout, the disk is full, and the like.
    """

    claims_ahead = True
    shared = True

    def __init__(self, folder: Path, redactor: Redactor) -> None:
        self._path = folder / FILE
        self._clean = redactor
        self._awaited: Hashable = None
        self.resumed = 0
        """The number of records taken from an earlier run."""

        with self._told():
            self._presence = Presence(folder / "owners")
            self._owner = self._presence.name
            self._database = sqlite3.connect(self._path, timeout=_BUSY_SECONDS, isolation_level=None)
            try:
                self._prepare()
            except BaseException:
                self.close()
                raise

    def _prepare(self) -> None:
        use_wal(self._database, within_seconds=_BUSY_SECONDS)
        lay_out(self._database)

    def claim(self, keys: Sequence[Hashable], most: int) -> list[Hashable]:
        """See `Store`."""
        with self._told():
            # Skips most claims of other processes without a lock on the file.
            known = {key for (key,) in self._database.execute(_KNOWN, (json.dumps(keys),))}
            free = [key for key in keys if key not in known]
            claimed: list[Hashable] = []
            with self._transaction():
                for key in free:
                    if len(claimed) == most:
                        break
                    added = self._database.execute(
                        "insert or ignore into questions (key, owner) values (?, ?)", (key, self._owner)
                    )
                    claimed += [key] * added.rowcount
            return claimed

    def finish(self, key: Hashable, record: Record) -> None:
        """See `Store`."""
        self._write(key, record, taken=False)

    def keep(self, key: Hashable, record: Record) -> None:
        """Store the record of an unclaimed question as taken; it replaces an earlier one."""
        self._write(key, record, taken=True)

    def release(self, keys: Iterable[Hashable]) -> None:
        """See `Store`."""
        with self._told(), self._transaction():
            self._database.executemany(
                "delete from questions where key = ? and owner = ? and record is null and taken = 0",
                [(key, self._owner) for key in keys],
            )

    def take(self, key: Hashable) -> Record | Claim:
        """See `Store`."""
        found = self.look(key)
        if found is Claim.UNDER_WAY and self._awaited != key:
            self._awaited = key
            with self._told():
                self._database.execute("update questions set waiter = ? where key = ?", (self._owner, key))
        if isinstance(found, Claim):
            return found
        with self._told():
            taken = self._database.execute("update questions set taken = 1 where key = ? and taken = 0", (key,))
            if not taken.rowcount:
                return Claim.USED
        self.resumed += self._is_resumed(key)
        return found

    def take_resumed(self, key: Hashable) -> Record | None:
        """Return the record that an earlier run left for an unclaimed question; None without one."""
        if not self._is_resumed(key):
            return None
        found = self.take(key)
        return None if isinstance(found, Claim) else found

    def look(self, key: Hashable) -> Record | Claim:
        """Return the same as `take`, without marking the record as taken."""
        with self._told():
            row = self._database.execute("select owner, record, taken from questions where key = ?", (key,)).fetchone()
            if row is None:
                return Claim.FREE
            owner, record, taken = row
            if taken:
                return Claim.USED
            return self._claim_of(owner) if record is None else Record.from_json(record)

    def give_up(self, key: Hashable) -> None:
        """See `Store`."""
        with self._told():
            self._database.execute(
                "update questions set waiter = ? where key = ? and waiter = ?", (_NOBODY, key, self._owner)
            )

    def unwanted(self) -> list[Hashable]:
        """See `Store`."""
        with self._told():
            waiters = self._database.execute(
                "select key, waiter from questions "
                "where owner = ? and waiter is not null and record is null and taken = 0",
                (self._owner,),
            ).fetchall()
            found: list[Hashable] = [
                key for key, waiter in waiters if waiter == _NOBODY or not self._presence.is_alive(waiter)
            ]
            for key in found:
                self._database.execute("update questions set taken = 1 where key = ?", (key,))
        return found

    def untaken(self) -> int:
        """See `Store`."""
        with self._told():
            (count,) = self._database.execute(
                "select count(*) from questions where taken = 0 and resumed = 0"
            ).fetchone()
            return int(count)

    def go_on(self) -> None:
        """
        Prepare the records of an earlier run to be taken, and delete its ERRORs and unfinished questions.

        Raises:
            StoreError: The file is damaged.
        """
        with self._told():
            ((said,), *_) = self._database.execute("pragma quick_check(1)").fetchall()
            if said != "ok":
                raise sqlite3.DatabaseError(said)
            with self._transaction():
                self._database.execute(f"delete from questions where key not in ({FINISHED})")  # noqa: S608 - fixed
                self._database.execute("update questions set taken = 0, resumed = 1")

    def close(self) -> None:
        """Close the file, and free the claims of this process."""
        self._database.close()
        self.leave()

    def leave(self) -> None:
        """Free the claims of this process; it can still read the store."""
        self._presence.leave()

    def _write(self, key: Hashable, record: Record, *, taken: bool) -> None:
        document = self._clean.document(record.to_document())
        with self._told():
            self._database.execute(
                "insert or replace into questions (key, record, verdict, taken) values (?, ?, ?, ?)",
                (key, json.dumps(document), record.verdict.value, int(taken)),
            )

    def _claim_of(self, owner: str) -> Claim:
        if self._presence.is_alive(owner):
            return Claim.UNDER_WAY
        self._database.execute("delete from questions where owner = ? and record is null and taken = 0", (owner,))
        return Claim.FREE

    def _is_resumed(self, key: Hashable) -> bool:
        with self._told():
            row = self._database.execute("select resumed from questions where key = ?", (key,)).fetchone()
            return bool(row and row[0])

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        self._database.execute("begin immediate")
        try:
            yield
        except BaseException:
            self._database.execute("rollback")
            raise
        self._database.execute("commit")

    @contextmanager
    def _told(self) -> Iterator[None]:
        """Raise a StoreError for an error of SQLite, of the system, or from a damaged row."""
        try:
            yield
        except (sqlite3.Error, OSError, ValueError, KeyError, TypeError) as error:
            raise StoreError(f"{self._path}: {error}", path=self._path) from error
