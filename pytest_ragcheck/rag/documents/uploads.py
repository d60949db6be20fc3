"""Makes the files to upload from the passages of questions, and holds what became of them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from pytest_ragcheck.frozen import frozen
from pytest_ragcheck.questions.passages import documents_of, text_digest
from pytest_ragcheck.questions.question import Question

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

    A file has the name of its document, with unsafe characters as `_`. Files that would share a name get a part of
    their digests.
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
