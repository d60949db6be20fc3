"""Caches the verdicts of a judge and its model, so that a later run does not ask again for the same answer."""

from __future__ import annotations

import json
import sqlite3
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any, Protocol, TypeVar

from pytest_ragcheck.concurrency.tasks import closing, in_thread
from pytest_ragcheck.engine.store.shared_database import opened, when_unlocked
from pytest_ragcheck.errors import JudgeReplyError
from pytest_ragcheck.judging.judgement import Judge, JudgeIdentity, Judgement, digest_of, material_digest
from pytest_ragcheck.judging.model.chat import AsksModel, Chat, ExpectedReply
from pytest_ragcheck.judging.panel import Cached
from pytest_ragcheck.questions.question import Question
from pytest_ragcheck.rag.answer import RagAnswer
from pytest_ragcheck.redaction import Redactor
from pytest_ragcheck.verdict.record import members

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


class VerdictCache:
    """
    Keeps judgements and a model's other replies as JSON values by key, in an SQLite file for all processes.

    A value is returned once in a run, because a repeated or rerun test needs a new one. No method raises: a failed
    cache is empty and has the reason in `problem`.

    The folder must exist. All processes of one run share the name *run*, and no other run has it. *most_bytes* is the
    approximate size that is kept when the cache is closed; the least recently used entries are dropped.
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

    async def take(self, key: str) -> Any:
        """The JSON value that an earlier run kept; None without one, or if this run took it before."""

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
        text = json.dumps(self._redactor.document(value))
        row = (key, text, self._run, time.time())
        await self._try(
            lambda connection: connection.execute("INSERT OR REPLACE INTO verdicts VALUES (?, ?, ?, ?)", row)
        )

    async def aclose(self) -> None:
        files = [self._path.with_name(FILE + ending) for ending in ("", "-wal")]
        # The search for these entries reads all of them.
        if sum(file.stat().st_size for file in files if file.exists()) > self._most_bytes:
            await self._try(lambda connection: connection.execute(_TRIM, (self._most_bytes,)))
        self._close()

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
            # Another operation may have handled the same error.
            if connection is self._connection and not self._is_off(error):
                await in_thread(self._open)
            return None

    def _is_off(self, error: sqlite3.Error) -> bool:
        # Close the file; return False if it was damaged and therefore removed.
        self._close()
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

    def _close(self) -> None:
        if self._connection is not None:
            with suppress(sqlite3.Error):
                self._connection.close()
        self._connection = None


def _lay_out(connection: sqlite3.Connection) -> None:
    if connection.execute("PRAGMA user_version").fetchone()[0] not in (0, _LAYOUT):
        connection.execute("DROP TABLE IF EXISTS verdicts")
    connection.execute(_TABLE)
    connection.execute(f"PRAGMA user_version = {_LAYOUT}")


class Fingerprinted(Judge, Protocol):
    """A judge whose verdicts depend only on its fingerprint, the question and the answer."""

    identity: JudgeIdentity
    fingerprint: str
    """Digest of the model, the server, the prompt and the parameters."""


class CachingJudge(Cached):
    """
    Asks the judge only if the cache has no judgement. Errors of the judge are not kept.

    The cache is closed with the judge. *repeat* is the index of this judgement among several of the same answer, from
    0; each has its own entry. With *afresh*, the judge is asked even if the cache has a judgement.
    """

    def __init__(self, judge: Fingerprinted, cache: VerdictCache, *, repeat: int = 0, afresh: bool = False) -> None:
        self.identity = judge.identity
        chat = getattr(judge, "chat", None)
        self.chat = None if chat is None else CachingChat(chat, cache, afresh=afresh)
        """The judge's model behind the same cache; None without one."""

        self.asked: Fingerprinted = judge
        """The judge behind the cache."""

        self._cache = cache
        self._repeat = repeat
        self._afresh = afresh

    async def judge(self, question: Question, answer: RagAnswer) -> Judgement:
        key = digest_of([self.asked.fingerprint, self._repeat, material_digest(question, answer)])
        known = None if self._afresh else _judgement(await self._cache.take(key))
        if known is not None:
            return known
        judgement = await self.asked.judge(question, answer)
        await self._cache.keep(key, members(judgement))
        return judgement

    def for_repeat(self, index: int) -> CachingJudge:
        return CachingJudge(self.asked, self._cache, repeat=index, afresh=self._afresh)

    def afresh(self) -> CachingJudge:
        return CachingJudge(self.asked, self._cache, repeat=self._repeat, afresh=True)

    async def aclose(self) -> None:
        await closing(self._cache, self.asked).aclose()


class CachingChat(AsksModel):
    """
    Asks a model only if the cache has no reply; a reply that cannot be read is not kept.

    The key is a digest of the model, its server, the reply schema, and the whole prompt except its nonce: the
    instructions, the question, the accepted answers, the contexts and the answer.

    With *afresh*, the model is asked even if the cache has a reply. This class does not close the cache.
    """

    def __init__(self, chat: Chat, cache: VerdictCache, *, afresh: bool) -> None:
        self.server = chat.server
        self._chat = chat
        self._cache = cache
        self._afresh = afresh

    async def ask(self, prompt: str, wanted: ExpectedReply[T], *, nonce: str) -> T:
        """The parsed reply, new or from an earlier run. Arguments and errors are those of `Chat.ask`."""
        key = digest_of([self.server.fingerprint, wanted.name, wanted.schema, prompt.replace(nonce, "")])
        kept = None if self._afresh else await self._cache.take(key)
        if isinstance(kept, dict):
            with suppress(JudgeReplyError):  # written by another version, or edited
                return wanted.read(str(kept.get("text")), nonce=str(kept.get("nonce")))
        reply = await self._chat.reply(prompt, wanted, nonce=nonce)
        await self._cache.keep(key, {"nonce": nonce, "text": reply.text})
        return reply.value


def _judgement(kept: Any) -> Judgement | None:
    # The kept judgement; None if there is none, or it cannot be read.
    try:
        return replace(Judgement.from_wire(kept), cached=True)
    except (AttributeError, KeyError, TypeError, ValueError):
        return None
