"""Makes the files to upload from the passages of questions, and records each upload on disk before it is sent."""

from __future__ import annotations

import json
import os
import re
import shutil
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pytest_ragcheck.concurrency.file_lock import FileLock, is_held
from pytest_ragcheck.frozen import frozen
from pytest_ragcheck.questions.question import Question, documents_of, text_digest
from pytest_ragcheck.rag.ask import are_texts

_UNSAFE = re.compile(r"[:\s/\\\"<>|?*%\x00-\x1f\x7f-\x9f\ud800-\udfff]")
_LONGEST_BYTES = 150


@frozen
class Upload:
    doc_id: str
    """Our id of the document."""

    text: str
    file_name: str
    identity: str = ""
    """The name of the identity that uploads it; empty for none."""

    datasets: frozenset[str] = frozenset()
    """The datasets whose questions have the document; another dataset may have a different text of the same id."""


def uploads_of(questions: Iterable[Question]) -> list[Upload]:
    """
    The documents of the questions with ingestion and of the turns before them, each once and in their order.

    Files of documents with the same name get a part of their digests.
    """
    distinct: dict[tuple[str, str, str], set[str]] = {}
    for question in questions:
        for turn in (*question.asked_before, question) if question.ingest else ():
            for passage in documents_of(turn):
                key = (str(passage.doc_id), passage.text, passage.identity or turn.identity)
                distinct.setdefault(key, set()).add(question.dataset_name)
    names = {key: _UNSAFE.sub("_", key[0]).encode()[:_LONGEST_BYTES].decode(errors="ignore") for key in distinct}
    # Some servers have file systems that ignore case.
    taken = Counter(map(str.casefold, names.values()))
    return [
        Upload(
            doc_id=doc_id,
            text=text,
            identity=identity,
            datasets=frozenset(distinct[doc_id, text, identity]),
            file_name=f"{name}{_digest(doc_id, text, identity) if taken[name.casefold()] > 1 else ''}.txt",
        )
        for (doc_id, text, identity), name in names.items()
    ]


def _digest(*parts: str) -> str:
    return "-" + text_digest("\0".join(filter(None, parts)))[:8]


@frozen
class Left:
    file_name: str
    id: str | None
    """The server's id; None if unknown."""

    reason: str


@frozen
class Documents:
    deleted: int = 0
    kept: int = 0
    """Number of documents that stay because of `rag_disable = cleanup`."""

    left: tuple[Left, ...] = ()
    """The documents that could not be deleted."""

    def __add__(self, other: Documents) -> Documents:
        return Documents(
            deleted=self.deleted + other.deleted, kept=self.kept + other.kept, left=(*self.left, *other.left)
        )

    @classmethod
    def from_row(cls, row: Mapping[str, Any]) -> Documents:
        """The value from the output of `asdict`, also by way of JSON."""
        return cls(**{**row, "left": tuple(Left(**left) for left in row["left"])})

    def lines(self) -> Iterator[str]:
        kept = f", {self.kept} kept (rag_disable); ragcheck cleanup deletes them" if self.kept else ""
        yield f"documents: {self.deleted} deleted{kept}"
        for left in self.left:
            yield f"WARNING: document {left.id or '?'} (file {left.file_name}) is left: {left.reason}"
        if self.left:
            yield "Delete them with: ragcheck cleanup --rag-url=URL --output=FOLDER, the output folder of the run"


# `{output}/.ragcheck/documents/{run}/` holds the ledger, one JSON object a line, and a lock for each process of the
# run. A folder without a held lock belongs to a run that ended without cleaning up.
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

        An *undecided* process may find that the documents are in another system.
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
