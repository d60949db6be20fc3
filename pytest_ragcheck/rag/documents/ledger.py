"""Records each upload of a run on disk before it is sent, so that a cleanup needs nothing else."""

# `{output}/.ragcheck/documents/{run}/` holds the ledger, one JSON object a line, and a lock for each process of the
# run. A folder without a held lock belongs to a run that ended without cleaning up.

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pytest_ragcheck.concurrency.file_lock import FileLock, is_held
from pytest_ragcheck.rag.ask import are_texts

_FILE = "ledger.jsonl"
_UNDECIDED = ".undecided"


@dataclass(slots=True, kw_only=True)
class Entries:
    base: str = ""
    """The base URL of the server, without secrets."""

    identity: str = ""
    """The name of the identity that uploaded the documents; empty for none."""

    before: dict[str, list[str]] = field(default_factory=dict)
    """The ids of the documents that had the file name of a started upload before, by file name."""

    batches: dict[str, str] = field(default_factory=dict)
    """The server's batch, by file name."""

    refused: set[str] = field(default_factory=set)
    """The names of the files that the server refused with a status of 400 to 499."""

    documents: dict[str, str] = field(default_factory=dict)
    """The file names of our documents on the server, by the server's id."""

    unclear: dict[str, list[str]] = field(default_factory=dict)
    """New ids, by file name; one of them is ours, but it is unknown which one."""

    kept: bool = False
    """True if the documents stay until a cleanup by command."""

    failed: bool = False
    """True if an ended process of the run had a failure."""

    told: bool = False
    """True if a cleanup has reported the documents that it could not delete."""

    @property
    def is_settled(self) -> bool:
        return self.kept or self.told


class Ledger:
    """The ledger of one run, whose folder is created with the first line; several processes may write to it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._held: FileLock | None = None
        self._undecided: FileLock | None = None

    def hold(self, *, undecided: bool = False) -> None:
        """
        Holds the run's lock until `release` or the end of this process, even if its folder was removed meanwhile.

        An *undecided* process may find before `decide` that the documents are in another system.
        """
        lock = self.folder / f"{os.getpid()}.lock"
        if self._held is None or not lock.exists():
            self.release()
            self._make_folder()
            # Another process that checks a lock holds it for a moment.
            if undecided:
                self._undecided = FileLock(lock.with_suffix(_UNDECIDED))
                self._undecided.wait()
            self._held = FileLock(lock)
            self._held.wait()

    def decide(self) -> None:
        """Release the lock that marks this process as undecided."""
        if self._undecided is not None:
            self._undecided.free()
            self._undecided = None

    def release(self) -> None:
        self.decide()
        if self._held is not None:
            self._held.free()
            self._held = None

    @property
    def held(self) -> bool:
        return self._held is not None

    @property
    def undecided(self) -> bool:
        """True if a process has not decided yet whether the documents are in its system."""
        return any(map(is_held, self.folder.glob(f"*{_UNDECIDED}")))

    def write(self, **line: Any) -> None:
        """Add a line, which is on disk when the method returns."""
        self._make_folder()
        with (self.folder / _FILE).open("a", encoding="utf-8") as file:
            file.write(json.dumps(line) + "\n")
            file.flush()
            os.fsync(file.fileno())

    def read(self) -> Entries:
        """The content of the ledger; damaged lines are left out, such as the last one of a process that died."""
        entries = Entries()
        with suppress(FileNotFoundError):
            for text in (self.folder / _FILE).read_text(encoding="utf-8", errors="replace").splitlines():
                with suppress(ValueError):
                    _apply(entries, json.loads(text))
        return entries

    def remove(self) -> None:
        self.release()
        shutil.rmtree(self.folder, ignore_errors=True)

    @property
    def alive(self) -> bool:
        """True if a process of the run is still at work, this one included."""
        return any(map(is_held, self.folder.glob("*.lock")))

    def _make_folder(self) -> None:
        if not self.folder.is_dir():
            self.folder.mkdir(parents=True, exist_ok=True)
            ignore = self.folder.parents[1] / ".gitignore"
            if not ignore.exists():
                ignore.write_text("*\n", encoding="utf-8")


def folder_of_documents(output: Path) -> Path:
    return output / ".ragcheck" / "documents"


def abandoned(output: Path) -> Iterator[Ledger]:
    """The ledgers of ended runs with documents on a server, the oldest first."""
    paths = folder_of_documents(output).glob(f"*/{_FILE}")
    for path in sorted(paths, key=lambda path: (path.stat().st_mtime, path)):
        ledger = Ledger(path.parent)
        if not ledger.alive:
            yield ledger


def ledgers_of(output: Path, run: str) -> Iterator[Ledger]:
    return map(Ledger, sorted(folder_of_documents(output).glob(f"{run}*")))


def _apply(entries: Entries, line: Any) -> None:
    match line:
        case {"base": str(base)}:
            entries.base, entries.identity = base, str(line.get("identity", ""))
        case {"upload": str(name), "before": [*before]} if are_texts(before):
            entries.before[name] = before
            # Another worker may repeat the upload of a dead worker.
            entries.batches.pop(name, None)
            entries.refused.discard(name)
        case {"batch": str(batch), "file_name": str(name)}:
            entries.batches[name] = batch
        case {"refused": str(name)}:
            entries.refused.add(name)
        case {"document": str(document_id), "file_name": str(name)}:
            entries.documents[document_id] = name
        case {"unclear": [*ids], "file_name": str(name)} if are_texts(ids):
            entries.unclear[name] = ids
        case {"gone": str(document_id)}:
            entries.before.pop(entries.documents.pop(document_id, ""), None)
        case {"kept": bool()} | {"failed": bool()} | {"told": bool()} if len(line) == 1:
            ((flag, value),) = line.items()
            setattr(entries, flag, value)
