"""Steps that are done once a run, whatever the number of its processes."""

from __future__ import annotations

import json
import os
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

import anyio

from pytest_ragcheck.engine.lock import FileLock
from pytest_ragcheck.errors import StepFailed

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable
    from pathlib import Path

    from pytest_ragcheck.redaction import Redactor

_POLL_SECONDS = 0.03


class Once:
    """
    The steps of one run, and what they came to.

    The first process that asks for a step does it; all others wait, and get its result or its error. A process
    that dies over a step leaves it to the next one.

    Args:
        folder: Of the run, the same for all of its processes; made where it is missing.
        redactor: Knows what may not be written down.
    """

    def __init__(self, folder: Path, redactor: Redactor) -> None:
        self._folder = folder / "steps"
        self._clean = redactor

    async def do(self, name: str, step: Callable[[], Awaitable[str]]) -> str:
        """
        What the step returned, to whichever process did it.

        Args:
            name: Of the step, a part of a file name.
            step: A coroutine function; its result crosses processes as text, best JSON; secrets are taken out of it.

        Raises:
            StepFailed: The step raised an error, here or in the process that did it.
            OSError: The folder cannot be written to.
        """
        async with self._turn(name):
            said = self._read(name)
            if said is None:
                said = await self._did(name, step)
                self._write(name, said)
        if "error" in said:
            raise StepFailed(said["error"], name=name)
        return said["result"]

    async def undo(self, name: str, opposite: Callable[[], Awaitable[bool]]) -> None:
        """
        Has the opposite of a step done while nobody does the step, or gets its result.

        Args:
            name: Of the step.
            opposite: A coroutine function; says whether it has come to that. If so, the step is done anew for
                whoever asks for it next.

        Raises:
            OSError: The folder cannot be written to.
        """
        async with self._turn(name):
            if await opposite():
                (self._folder / f"{name}.json").unlink(missing_ok=True)

    @asynccontextmanager
    async def _turn(self, name: str) -> AsyncIterator[None]:
        """Waits until no other process has to do with the step."""
        self._folder.mkdir(parents=True, exist_ok=True)
        lock = FileLock(self._folder / f"{name}.lock")
        while not lock.take():  # noqa: ASYNC110 - no event crosses processes
            await anyio.sleep(_POLL_SECONDS)
        try:
            yield
        finally:
            lock.free()

    async def _did(self, name: str, step: Callable[[], Awaitable[str]]) -> dict[str, str]:
        try:
            return {"result": self._clean.text(await step())}
        except Exception as error:
            # Whatever it is, the other processes have to hear of it.
            return {"error": self._clean.text(str(error) or f"{name}: {type(error).__name__}")}

    def _read(self, name: str) -> dict[str, str] | None:
        try:
            said: dict[str, str] = json.loads((self._folder / f"{name}.json").read_bytes())
        except FileNotFoundError:
            return None
        return said

    def _write(self, name: str, said: dict[str, str]) -> None:
        path = self._folder / f"{name}.json"
        # Whoever reads while this is written finds nothing, never a half.
        temporary = path.with_suffix(f".{os.getpid()}.tmp")
        temporary.write_text(json.dumps(said), encoding="utf-8")
        temporary.replace(path)
