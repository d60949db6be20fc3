"""
What a run has put into the system, on disk before it goes there: who cleans up needs nothing else.

`{output}/.ragcheck/documents/{run}/` holds the ledger, one JSON object a line, and a lock for each process of the
run. A folder that nobody holds any more is of a run that ended without cleaning up.
"""

from __future__ import annotations

import json
import os
import shutil
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from pytest_ragcheck.engine.lock import FileLock, is_held

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_FILE = "ledger.jsonl"


@dataclass(slots=True, kw_only=True)
class Entries:
    """What a ledger says."""

    base: str = ""
    """The base URL of the server, without secrets."""

    before: dict[str, list[str]] = field(default_factory=dict)
    """By the name of every file that was uploaded, or was about to be, the ids that had this name already."""

    batches: dict[str, str] = field(default_factory=dict)
    """By file name the batch that the server named."""

    refused: set[str] = field(default_factory=set)
    """The names of the files that the server answered with an error."""

    documents: dict[str, str] = field(default_factory=dict)
    """By the server's id the file name of what is there, and ours."""

    unclear: dict[str, list[str]] = field(default_factory=dict)
    """By file name the ids of which one is ours, and nobody knows which."""

    kept: bool = False
    """Whether the documents are to stay until somebody says otherwise."""

    failed: bool = False
    """Whether a process of the run that has ended had a failure."""

    told: bool = False
    """Whether the run itself has told what it could not delete."""

    @property
    def seen_to(self) -> bool:
        """Whether the run itself has nothing more to do with the documents."""
        return self.kept or self.told


class Ledger:
    """
    The ledger of one run; several processes may write to it.

    Args:
        folder: Of the run; made when the first line is written.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._held: FileLock | None = None

    def hold(self) -> None:
        """Has the run count as alive as long as this process is, even if its folder was taken away meanwhile."""
        lock = self.folder / f"{os.getpid()}.lock"
        if self._held is None or not lock.exists():
            self.release()
            self._make_folder()
            self._held = FileLock(lock)
            self._held.take()

    def release(self) -> None:
        """This process has nothing to do with the run any more."""
        if self._held is not None:
            self._held.free()
            self._held = None

    def write(self, **line: Any) -> None:
        """Adds a line; it is on disk when this returns."""
        self._make_folder()
        with (self.folder / _FILE).open("a", encoding="utf-8") as file:
            file.write(json.dumps(line) + "\n")
            file.flush()
            os.fsync(file.fileno())

    def read(self) -> Entries:
        """What the ledger says; a last line that broke off is of something that was not begun."""
        entries = Entries()
        with suppress(FileNotFoundError):
            for text in (self.folder / _FILE).read_text(encoding="utf-8").splitlines():
                with suppress(ValueError):
                    _apply(entries, json.loads(text))
        return entries

    def remove(self) -> None:
        """Deletes the ledger with its folder: nothing is left of the run on the server."""
        self.release()
        shutil.rmtree(self.folder, ignore_errors=True)

    @property
    def alive(self) -> bool:
        """Whether a process of the run is still at work, this one included."""
        return any(is_held(path) for path in self.folder.glob("*.lock"))

    def _make_folder(self) -> None:
        if not self.folder.is_dir():
            self.folder.mkdir(parents=True, exist_ok=True)
            ignore = self.folder.parents[1] / ".gitignore"
            if not ignore.exists():
                ignore.write_text("*\n", encoding="utf-8")


def folder_of_documents(output: Path) -> Path:
    """Where the ledgers are that belong to an output folder."""
    return output / ".ragcheck" / "documents"


def abandoned(output: Path) -> Iterator[Ledger]:
    """The ledgers of runs that have ended and left something on a server, the oldest first."""
    paths = folder_of_documents(output).glob(f"*/{_FILE}")
    for path in sorted(paths, key=lambda path: (path.stat().st_mtime, path)):
        ledger = Ledger(path.parent)
        if not ledger.alive:
            yield ledger


def ledgers_of(output: Path, run: str) -> Iterator[Ledger]:
    """The ledgers of a run's processes, whatever they say."""
    return map(Ledger, sorted(folder_of_documents(output).glob(f"{run}*")))


def _apply(entries: Entries, line: dict[str, Any]) -> None:
    match line:
        case {"base": base}:
            entries.base = base
        case {"upload": name, "before": before}:
            entries.before[name] = before
        case {"batch": batch, "file_name": name}:
            entries.batches[name] = batch
        case {"refused": name}:
            entries.refused.add(name)
        case {"document": document_id, "file_name": name}:
            entries.documents[document_id] = name
        case {"unclear": ids, "file_name": name}:
            entries.unclear[name] = ids
        case {"gone": document_id}:
            name = entries.documents.pop(document_id, None)
            entries.before.pop(name or "", None)
        case {"kept": _} | {"failed": _} | {"told": _}:
            ((flag, value),) = line.items()
            setattr(entries, flag, value)
