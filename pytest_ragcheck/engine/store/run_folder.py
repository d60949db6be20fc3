"""Holds the folder that the processes of a run share: locks, common steps, and the marks of its stop and end."""

from __future__ import annotations

import asyncio
import itertools
import json
import os
import shutil
import time
import zlib
from collections.abc import AsyncIterator, Awaitable, Callable, Hashable, Iterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path

from pytest_ragcheck.concurrency.file_lock import FileLock, LockedFile, replace_text
from pytest_ragcheck.errors import StepFailed
from pytest_ragcheck.redaction import Redactor

FOLDER = ".ragcheck"
"""Subfolder of the folder of the result files."""

UNWRITTEN = "unwritten"
"""A file in the folder of a run, until its results are written."""

STOP_FILE = "stopped"
"""A file in the folder of a run that was stopped, with the reason."""

_LOCKS = "locks"

_PROCESSES = 1 << 16
"""The first locks: each process of the run holds one of them."""

_AGAIN_SECONDS = 0.001


def make_home(home: Path) -> None:
    """Create the folder of all runs of an agent, which version control ignores; an `OSError` if that fails."""
    home.mkdir(parents=True, exist_ok=True)
    (home.parent / ".gitignore").write_text("*\n", encoding="utf-8")


def mark_begun(folder: Path, *, resumes: bool) -> None:
    """
    Mark before the first question that the run began, if the folder of results exists, which may have older ones.

    A run without answers that *resumes* the last one leaves the last one to be resumed.
    """
    with suppress(OSError):
        if folder.parents[2].is_dir():
            make_home(folder.parent)
            folder.mkdir(exist_ok=True)
            (folder / UNWRITTEN).write_text("resumes" if resumes else "", encoding="ascii")


def forget_begun(folder: Path) -> None:
    if not (folder / _LOCKS).exists():
        shutil.rmtree(folder, ignore_errors=True)


def unwritten(results: Path, agent: str) -> Iterator[Path]:
    """The marks of runs whose results are not in the folder of the agent's *results*."""
    return (results / FOLDER / agent).glob(f"*/{UNWRITTEN}")


def stop(folder: Path, reason: str) -> bool:
    """
    Stop the processes of the run, because no further records are wanted; *reason* says why, in one line.

    False if the run was stopped before; the earlier reason stays.
    """
    try:
        with (folder / STOP_FILE).open("x", encoding="utf-8") as file:
            file.write(reason)
    except FileExistsError:
        return False
    except OSError:  # the folder is missing if no question was asked or if it cannot be created
        pass
    return True


def stop_reason(folder: Path) -> str | None:
    """Why the run was stopped, which is empty on a full disk; None if it was not stopped."""
    try:
        for _ in range(10):
            if reason := (folder / STOP_FILE).read_text(encoding="utf-8"):
                return reason
            time.sleep(0.01)  # another process may be about to write it
    except OSError:
        return None
    return ""


class RunLocks:
    """
    The locks of this process in a file of the run folder, which exists. The system frees them when the process dies.

    An `OSError` if the file cannot be created or locked.
    """

    def __init__(self, folder: Path) -> None:
        self._file = LockedFile(folder / _LOCKS)
        self._held: dict[Hashable, int] = {}
        try:
            # `is_in_use` in another process holds all places for a moment.
            for place in itertools.count(os.getpid()):
                if self._file.take(place % _PROCESSES):
                    break
                time.sleep(_AGAIN_SECONDS)
        except BaseException:
            self._file.close()
            raise

    def claim(self, key: Hashable) -> bool:
        """
        Lock a question; True if nothing held it before, in this process or another one.

        An `OSError` if the file cannot be locked.
        """
        # Two keys may share a lock; the second question then waits for the first.
        place = _PROCESSES + (zlib.crc32(str(key).encode()) >> 2)
        if place in self._held.values() or not self._file.take(place):
            return False
        self._held[key] = place
        return True

    def free(self, key: Hashable) -> None:
        if (place := self._held.pop(key, None)) is not None:
            with suppress(OSError):
                self._file.free(place)

    def close(self) -> None:
        self._held.clear()
        self._file.close()


def is_in_use(folder: Path) -> bool:
    """
    True if another process of the run is alive; do not call it for a run of this process.

    An `OSError` if the file of the locks cannot be opened or locked.
    """
    if not (folder / _LOCKS).exists():
        return False
    file = LockedFile(folder / _LOCKS)
    try:
        return not file.take(0, count=_PROCESSES)
    finally:
        file.close()


POLL_SECONDS = 0.03
"""Pause between two checks for another process."""


class Once:
    """
    The steps of one run, and their results.

    The first process that requests a step runs it. The others wait, and get its result or its error. If a process dies
    during a step, the next one runs it again.

    *folder* is equal in all processes of the run, and is created if missing.
    """

    def __init__(self, folder: Path, redactor: Redactor) -> None:
        self._folder = folder / "steps"
        self._clean = redactor

    async def do(self, name: str, step: Callable[[], Awaitable[str]]) -> str:
        """
        The result of the step, from the process that ran it; a `StepFailed` if the step raised an error there.

        The name is a part of a file name. The result is stored as text, preferably JSON, without secrets. An `OSError`
        if the folder cannot be written.
        """
        async with self._turn(name):
            file = self._folder / f"{name}.json"
            if not file.exists():
                try:
                    outcome = {"result": self._clean.text(await step())}
                except Exception as error:
                    # Any error is stored, because the other processes must report it too.
                    outcome = {"error": self._clean.text(str(error) or f"{name}: {type(error).__name__}")}
                replace_text(file, json.dumps(outcome))
            stored: dict[str, str] = json.loads(file.read_bytes())
        if "error" in stored:
            raise StepFailed(stored["error"], name=name)
        return stored["result"]

    async def undo(self, name: str, opposite: Callable[[], Awaitable[bool]]) -> None:
        """
        Undo a step while no process runs it or reads its result; an `OSError` if the folder cannot be written.

        *opposite* undoes the step if it is due, and returns True if it did. The next process that requests the step
        then runs it again.
        """
        async with self._turn(name):
            if await opposite():
                (self._folder / f"{name}.json").unlink(missing_ok=True)

    @asynccontextmanager
    async def _turn(self, name: str) -> AsyncIterator[None]:
        # Wait until no other process uses the step, and hold its lock.
        self._folder.mkdir(parents=True, exist_ok=True)
        lock = FileLock(self._folder / f"{name}.lock")
        while not lock.take():  # noqa: ASYNC110 - no event crosses processes
            await asyncio.sleep(POLL_SECONDS)
        try:
            yield
        finally:
            lock.free()
