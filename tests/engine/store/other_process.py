"""Another process of a run, which calls the store for a test."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_ragcheck.engine.store.record_file import RecordFile
from pytest_ragcheck.engine.store.record_store import SharedStore
from pytest_ragcheck.redaction import Redactor
from tests.making import a_record

if TYPE_CHECKING:
    from typing_extensions import Self

    from pytest_ragcheck.errors import StoreError


def store_in(folder: Path, *, resumes: bool = False) -> SharedStore:
    """The store of a process of the run; it must not fail."""
    return SharedStore(RecordFile(folder, Redactor(), on_failure=_raise, resumes=resumes))


def _raise(error: StoreError) -> None:
    raise error


_STATEMENTS = {"lock": "begin immediate", "unlock": "commit"}


class OtherProcess:
    """A process with the store of the folder open, until it is closed or killed."""

    def __init__(self, folder: Path) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", __name__, str(folder)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        assert self._said() == "open"

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.kill()
        self._process.communicate()

    def __call__(self, command: str, *keys: str) -> str:
        """Calls that method of the store with each of the keys, and returns the results."""
        assert self._process.stdin is not None
        print(command, *keys, file=self._process.stdin, flush=True)
        return self._said()

    def kill(self) -> None:
        self._process.kill()
        self._process.wait()

    def _said(self) -> str:
        assert self._process.stdout is not None
        return self._process.stdout.readline().strip()


async def _answer(store: SharedStore, command: str, keys: list[str]) -> str:
    if command in _STATEMENTS:
        store.file._database.execute(_STATEMENTS[command])
        return command
    if command == "claim":
        return " ".join(str(key) for key in await store.claim(keys, len(keys)))
    return " ".join([await _answer_for(store, command, key) for key in keys])


async def _answer_for(store: SharedStore, command: str, key: str) -> str:
    match command:
        case "finish":
            await store.finish(key, a_record(key))
        case "release":
            store.release(key)
        case "discard":
            await store.discard(key)
        case "take":
            record = await store.take(key)
            return "-" if record is None else record.question.id
        case "used":
            return str(await store.is_used(key))
        case _:
            raise ValueError(command)
    return command


def _serve(folder: Path) -> None:
    store = store_in(folder)
    _say("open")
    for line in sys.stdin:
        command, *keys = line.split()
        _say(asyncio.run(_answer(store, command, keys)))


def _say(text: str) -> None:
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    _serve(Path(sys.argv[1]))
