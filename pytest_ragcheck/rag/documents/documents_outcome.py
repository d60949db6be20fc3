"""Holds the outcome of a run's documents, for the summary."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from pytest_ragcheck.frozen import frozen


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
