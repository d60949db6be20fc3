"""Caches the verdicts of a judge's model, so that a later run does not ask again for the same answer."""

from __future__ import annotations

import json
import sqlite3
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from pytest_ragcheck.concurrency.exit_stack import closing
from pytest_ragcheck.concurrency.threads import in_thread
from pytest_ragcheck.engine.store.reply_cache import CachingChat
from pytest_ragcheck.engine.store.shared_database import opened, when_unlocked
from pytest_ragcheck.judging.judged_material import digest_of, material_digest
from pytest_ragcheck.judging.judgement import Judge, JudgeIdentity, Judgement
from pytest_ragcheck.verdict.record import members

if TYPE_CHECKING:
    from pytest_ragcheck.questions.question import Question
    from pytest_ragcheck.rag.answer import RagAnswer
    from pytest_ragcheck.redaction import Redactor

T = TypeVar("T")

FILE = "verdicts.sqlite"
MOST_BYTES = 64 * 1024 * 1024
"""Size of the kept judgements, about 150,000 of usual length; the most recently used stay."""

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
    """A judge whose verdicts depend only on its fingerprint, the question and the answer."""

    identity: JudgeIdentity
    fingerprint: str
    """Digest of the model, the server, the prompt and the parameters."""


class VerdictCache:
    """
    Judgements by key in one SQLite file for any number of processes, and the models' replies to other prompts.

    A judgement is returned once in a run, because a repeated or rerun test needs a new one. No method raises: a cache
    that fails gives the reason in `problem` and is empty.

    Args:
        folder: The folder of the file; created if missing.
        run: A name that all processes of one run share, and no other run.
        redactor: Removes secrets from stored text.
        most_bytes: Approximate size that is kept when the cache is closed; the least recently used entries are dropped.
    """

    def __init__(self, folder: Path, *, run: str, redactor: Redactor, most_bytes: int = MOST_BYTES) -> None:
        self.problem = ""
        """Why the cache is off or was emptied, and the remedy; empty if the cache works."""

        self._path = folder / FILE
        self._run = run
        self._redactor = redactor
        self._most_bytes = most_bytes
        self._connection: sqlite3.Connection | None = None
        self._open()

    async def take(self, key: str) -> Judgement | None:
        """Return the judgement of an earlier run; None without one, or if this run took it before."""
        kept = await self.take_kept(key)
        return None if kept is None else _judgement(kept)

    async def put(self, key: str, judgement: Judgement) -> None:
        """Keep the judgement for later runs."""
        await self.keep(key, members(judgement))

    async def take_kept(self, key: str) -> Any:
        """Return the JSON value of the key, under the same rule; None without one."""

        def take(connection: sqlite3.Connection) -> Any:
            # Reading needs no lock, and in a first run there is nothing to take.
            found = connection.execute("SELECT judgement FROM verdicts WHERE key = ?", (key,)).fetchone()
            if found is None or not connection.execute(_TAKE, (self._run, time.time(), key, self._run)).rowcount:
                return None
            return found

        row = await self._try(take)
        try:
            return None if row is None else json.loads(row[0])
        except ValueError:
            return None

    async def keep(self, key: str, value: Any) -> None:
        """Keep a JSON value for later runs."""
        text = json.dumps(self._redactor.document(value))
        row = (key, text, self._run, time.time())
        await self._try(
            lambda connection: connection.execute("INSERT OR REPLACE INTO verdicts VALUES (?, ?, ?, ?)", row)
        )

    async def aclose(self) -> None:
        """Drop the least recently used entries above the size limit, and close the file."""
        await self._try(lambda connection: connection.execute(_TRIM, (self._most_bytes,)))
        self._let_go()

    def _open(self) -> None:
        try:
            self._connection = opened(self._path, lay_out=_lay_out, within_seconds=_LONGEST_WAIT_SECONDS)
        except sqlite3.Error as error:
            if not self._is_off(error):
                self._open()

    async def _try(self, operation: Callable[[sqlite3.Connection], T]) -> T | None:
        connection = self._connection
        if connection is None:
            return None
        try:
            return await when_unlocked(lambda: operation(connection), within_seconds=_LONGEST_WAIT_SECONDS)
        except sqlite3.Error as error:
            # Another operation may have met the same error first.
            if connection is self._connection and not self._is_off(error):
                await in_thread(self._open)
            return None

    def _is_off(self, error: sqlite3.Error) -> bool:
        """Close the file; return False if it was damaged and therefore removed."""
        self._let_go()
        if isinstance(error, sqlite3.OperationalError) or self.problem:
            self.problem = (
                f"{self._path}: the verdict cache is off: {error}. The judge is asked about every answer. "
                "Free some space or allow writing there, or set rag_disable = cache."
            )
            return True
        self.problem = f"{self._path}: the verdict cache was damaged ({error}) and has been recreated."
        for ending in ("", "-wal", "-shm"):
            with suppress(OSError):
                self._path.with_name(FILE + ending).unlink()
        return False

    def _let_go(self) -> None:
        if self._connection is not None:
            with suppress(sqlite3.Error):
                self._connection.close()
        self._connection = None


class CachingJudge:
    """
    Asks the judge only if the cache has no judgement. Errors of the judge are not kept.

    Args:
        judge: The judge, whose verdicts depend only on its fingerprint, the question and the answer.
        cache: The cache, which is closed with the judge.
        repeat: Index of this judgement among several of the same answer, from 0; each has its own entry.
        afresh: True to ask the judge even if the cache has a judgement.
    """

    def __init__(self, judge: Fingerprinted, cache: VerdictCache, *, repeat: int = 0, afresh: bool = False) -> None:
        self.identity = judge.identity
        chat = getattr(judge, "chat", None)
        self.chat = None if chat is None else CachingChat(chat, cache, afresh=afresh)
        """The judge's model behind the same cache; None without one."""

        self.asked = judge
        """The judge behind the cache."""

        self._cache = cache
        self._repeat = repeat
        self._afresh = afresh

    async def judge(self, question: Question, answer: RagAnswer) -> Judgement:
        """
        Return the judgement, from the cache (`cached` is True) or from the judge.

        Raises:
            JudgeError: As the judge does.
        """
        key = digest_of([self.asked.fingerprint, self._repeat, material_digest(question, answer)])
        known = None if self._afresh else await self._cache.take(key)
        if known is not None:
            return known
        judgement = await self.asked.judge(question, answer)
        await self._cache.put(key, judgement)
        return judgement

    def for_repeat(self, index: int) -> CachingJudge:
        """Return the same judge and cache for another of several judgements of the same answer."""
        return CachingJudge(self.asked, self._cache, repeat=index, afresh=self._afresh)

    def afresh(self) -> CachingJudge:
        """Return the same judge and cache, ignoring earlier entries."""
        return CachingJudge(self.asked, self._cache, repeat=self._repeat, afresh=True)

    async def aclose(self) -> None:
        await closing(self._cache, self.asked).aclose()


def _lay_out(connection: sqlite3.Connection) -> None:
    if connection.execute("PRAGMA user_version").fetchone()[0] not in (0, _LAYOUT):
        connection.execute("DROP TABLE IF EXISTS verdicts")
    connection.execute(_TABLE)
    connection.execute(f"PRAGMA user_version = {_LAYOUT}")


def _judgement(kept: Any) -> Judgement | None:
    try:
        return replace(Judgement.from_wire(kept), cached=True)
    except (AttributeError, KeyError, TypeError, ValueError):
        return None
