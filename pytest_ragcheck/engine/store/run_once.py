"""Runs steps once in a run, for any number of processes."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path

from pytest_ragcheck.concurrency.file_lock import FileLock, replace_text
from pytest_ragcheck.errors import StepFailed
from pytest_ragcheck.redaction import Redactor

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
        The result of the step, from the process that ran it.

        The name is a part of a file name. The result is stored as text, preferably JSON, without secrets.

        Raises:
            StepFailed: The step raised an error, here or in another process.
            OSError: The folder cannot be written.
        """
        async with self._turn(name):
            outcome = self._read(name)
            if outcome is None:
                outcome = await self._run_step(name, step)
                replace_text(self._folder / f"{name}.json", json.dumps(outcome))
        if "error" in outcome:
            raise StepFailed(outcome["error"], name=name)
        return outcome["result"]

    async def undo(self, name: str, opposite: Callable[[], Awaitable[bool]]) -> None:
        """
        Undo a step while no process runs it or reads its result.

        *opposite* undoes the step if it is due, and returns True if it did. The next process that requests the step
        then runs it again.

        Raises:
            OSError: The folder cannot be written.
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

    async def _run_step(self, name: str, step: Callable[[], Awaitable[str]]) -> dict[str, str]:
        try:
            return {"result": self._clean.text(await step())}
        except Exception as error:
            # Any error is stored, because the other processes must report it too.
            return {"error": self._clean.text(str(error) or f"{name}: {type(error).__name__}")}

    def _read(self, name: str) -> dict[str, str] | None:
        try:
            outcome: dict[str, str] = json.loads((self._folder / f"{name}.json").read_bytes())
        except FileNotFoundError:
            return None
        return outcome
