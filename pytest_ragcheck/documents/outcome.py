"""What became of the documents of a run, as its summary says it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping


@dataclass(frozen=True, slots=True, kw_only=True)
class Left:
    """A document that is still on the server, or may be."""

    file_name: str
    id: str | None
    """The server's; None where it is not known."""

    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Documents:
    """The documents of a run after its end."""

    deleted: int = 0
    kept: int = 0
    """How many stay because the run was told so."""

    left: tuple[Left, ...] = ()
    """What was to be deleted, and was not."""

    def __add__(self, other: Documents) -> Documents:
        return Documents(
            deleted=self.deleted + other.deleted, kept=self.kept + other.kept, left=(*self.left, *other.left)
        )

    @classmethod
    def from_row(cls, row: Mapping[str, Any]) -> Documents:
        """What `asdict` made of one, be it by way of JSON."""
        return cls(**{**row, "left": tuple(Left(**left) for left in row["left"])})

    def lines(self) -> Iterator[str]:
        """For people."""
        kept = f", {self.kept} kept (rag_keep_documents); ragcheck cleanup deletes them" if self.kept else ""
        yield f"documents: {self.deleted} deleted{kept}"
        for left in self.left:
            yield f"WARNING: document {left.id or '?'} (file {left.file_name}) is left: {left.reason}"
        if self.left:
            yield "Delete what is left with: ragcheck cleanup --rag-url=URL"
