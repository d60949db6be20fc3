"""The verdict cache: what a judge's model said once of an answer, it need not be asked again in a later run."""

from __future__ import annotations

import json
import sqlite3
import time
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from pytest_ragcheck.engine.replies import CachingChat
from pytest_ragcheck.engine.wal import use_wal
from pytest_ragcheck.judging.judgement import Judge, JudgeIdentity, Judgement
from pytest_ragcheck.judging.material import digest_of, material_digest
from pytest_ragcheck.record import members

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from pytest_ragcheck.questions.question import Question
    from pytest_ragcheck.rag.answer import RagAnswer
    from pytest_ragcheck.redaction import Redactor

T = TypeVar("T")

FILE = "verdicts.sqlite"
MOST_BYTES = 64 * 1024 * 1024
"""Of judgements that are kept, about 150,000 of usual length; those used last stay."""

_LAYOUT = 1
_LONGEST_WAIT_SECONDS = 5.0
_TABLE = "CREATE TABLE IF NOT EXISTS verdicts (key TEXT PRIMARY KEY, judgement TEXT, run TEXT, used REAL) WITHOUT ROWID"
_TAKE = "UPDATE verdicts SET run = ?, used = ? WHERE key = ? AND run <> ?"
_TRIM = """
DELETE FROM verdicts WHERE key IN (
    SELECT key FROM (SELECT key, sum(length(judgement) + 200) OVER (ORDER BY used DESC, key) AS bytes FROM verdicts)
    WHERE bytes > ?)
"""


class Fingerprinted(Judge, Protocol):
    """A judge whose verdicts depend on nothing but its fingerprint, the question and the answer."""

    identity: JudgeIdentity
    fingerprint: str
    """Digest of everything that its verdicts depend on: model, server, prompt, parameters."""

    async def aclose(self) -> None:
        """Lets go of what the judge holds open."""
        ...


class VerdictCache:
    """
    Judgements by key in one SQLite file, for any number of processes; and replies of their models to further questions.

    A judgement is given out once a run: whoever asks a second time, as a repeated or rerun test does, wants a
    judgement of its own. Nothing here raises: a cache that cannot work says why in `problem`, and is empty.

    Args:
        folder: Where the file is, or is made.
        run: The same for all processes of one run, and for no other run.
        redactor: What is stored goes through it.
        most_bytes: About how much is kept when the cache is closed; what was not used for longest goes first.
    """

    def __init__(self, folder: Path, *, run: str, redactor: Redactor, most_bytes: int = MOST_BYTES) -> None:
        self.problem = ""
        """Why the cache is off, or why it was started anew, and what to do; empty where all is well."""

        self._path = folder / FILE
        self._run = run
        self._redactor = redactor
        self._most_bytes = most_bytes
        self._connection: sqlite3.Connection | None = None
        self._open()

    def take(self, key: str) -> Judgement | None:
        """The judgement of an earlier run; None if there is none, or this run was given it before."""
        kept = self.take_kept(key)
        return None if kept is None else _judgement(kept)

    def put(self, key: str, judgement: Judgement) -> None:
        """Keeps the judgement for later runs."""
        self.keep(key, members(judgement))

    def take_kept(self, key: str) -> Any:
        """What JSON holds of the key, under the same rule; None if there is nothing."""

        def take(connection: sqlite3.Connection) -> Any:
            # To read needs no lock, and in a first run there is nothing.
            found = connection.execute("SELECT judgement FROM verdicts WHERE key = ?", (key,)).fetchone()
            if found is None or not connection.execute(_TAKE, (self._run, time.time(), key, self._run)).rowcount:
                return None
            return found

        row = self._try(take)
        try:
            return None if row is None else json.loads(row[0])
        except ValueError:
            return None

    def keep(self, key: str, value: Any) -> None:
        """Keeps for later runs what JSON can hold."""
        text = json.dumps(self._redactor.document(value))
        row = (key, text, self._run, time.time())
        self._try(lambda connection: connection.execute("INSERT OR REPLACE INTO verdicts VALUES (?, ?, ?, ?)", row))

    def close(self) -> None:
        """Drops what is too much, and closes the file."""
        self._try(lambda connection: connection.execute(_TRIM, (self._most_bytes,)))
        self._let_go()

    def _open(self) -> None:
        try:
            self._connection = _connected(self._path)
        except sqlite3.Error as error:
            self._meet(error)

    def _try(self, operation: Callable[[sqlite3.Connection], T]) -> T | None:
        if self._connection is None:
            return None
        try:
            return operation(self._connection)
        except sqlite3.Error as error:
            self._meet(error)
            return None

    def _meet(self, error: sqlite3.Error) -> None:
        self._let_go()
        if isinstance(error, sqlite3.OperationalError) or self.problem:
            self.problem = (
                f"{self._path}: the verdict cache is off: {error}. The judge is asked about every answer. "
                "Make room or give rights there, or set rag_cache = off."
            )
            return
        self.problem = f"{self._path}: the verdict cache was damaged ({error}) and has been started anew."
        for ending in ("", "-wal", "-shm"):
            with suppress(OSError):
                self._path.with_name(FILE + ending).unlink()
        self._open()

    def _let_go(self) -> None:
        if self._connection is not None:
            with suppress(sqlite3.Error):
                self._connection.close()
        self._connection = None


class CachingJudge:
    """
    Asks the judge only what the cache does not know. What the judge fails to judge is not kept.

    Args:
        judge: Whose verdicts depend on nothing else.
        cache: Closed with the judge.
        repeat: Which of several judgements of the same answer this one gives, from 0; each has its own place.
        afresh: Whether the judge is asked whatever the cache knows.
    """

    def __init__(self, judge: Fingerprinted, cache: VerdictCache, *, repeat: int = 0, afresh: bool = False) -> None:
        self.identity = judge.identity
        chat = getattr(judge, "chat", None)
        self.chat = None if chat is None else CachingChat(chat, cache, afresh=afresh)
        """The judge's model, where it is one, with the same cache before it."""

        self.asked = judge
        """Who is asked what the cache does not know."""

        self._cache = cache
        self._repeat = repeat
        self._afresh = afresh

    async def judge(self, question: Question, answer: RagAnswer) -> Judgement:
        """
        The judgement, from the cache (`cached` is True) or from the judge.

        Raises:
            JudgeError: The judge's own.
        """
        key = digest_of([self.asked.fingerprint, self._repeat, material_digest(question, answer)])
        known = None if self._afresh else self._cache.take(key)
        if known is not None:
            return known
        judgement = await self.asked.judge(question, answer)
        self._cache.put(key, judgement)
        return judgement

    def for_repeat(self, index: int) -> CachingJudge:
        """The same judge and cache, for another of several judgements of the same answer."""
        return CachingJudge(self.asked, self._cache, repeat=index, afresh=self._afresh)

    def afresh(self) -> CachingJudge:
        """The same judge and cache, where what the cache knows is of no use."""
        return CachingJudge(self.asked, self._cache, repeat=self._repeat, afresh=True)

    async def aclose(self) -> None:
        """Closes the judge and the cache."""
        try:
            await self.asked.aclose()
        finally:
            self._cache.close()


def _connected(path: Path) -> sqlite3.Connection:
    # Opened where a fixture begins, used in the private loop, by one thread at a time.
    connection = sqlite3.connect(path, timeout=_LONGEST_WAIT_SECONDS, isolation_level=None, check_same_thread=False)
    try:
        use_wal(connection, within_seconds=_LONGEST_WAIT_SECONDS)
        if connection.execute("PRAGMA user_version").fetchone()[0] not in (0, _LAYOUT):
            connection.execute("DROP TABLE IF EXISTS verdicts")
        connection.execute(_TABLE)
        connection.execute(f"PRAGMA user_version = {_LAYOUT}")
    except BaseException:
        connection.close()
        raise
    return connection


def _judgement(kept: Any) -> Judgement | None:
    try:
        return replace(Judgement.from_wire(kept), cached=True)
    except (AttributeError, KeyError, TypeError, ValueError):
        return None
