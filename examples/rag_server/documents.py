"""Lists and deletes the documents of the index, and updates it to match the corpus."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from pytest_ragcheck.demo.index import Index, read_corpus

if TYPE_CHECKING:
    from pathlib import Path


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    id: str
    file_name: str

    uploaded: bool
    """False for a document of the folder that the server was started with."""

    added_at: str
    """ISO 8601, UTC."""


class DocumentIndex(Index):
    """The index of the server, whose documents have routes."""

    def delete(self, document_id: str) -> bool:
        """False if there is none with this id."""
        with self._lock, self._database:
            return self._delete(document_id)

    def documents(self) -> list[Document]:
        """All documents, the oldest first."""
        with self._lock:
            rows = self._database.execute("SELECT id, file_name, uploaded, added_at FROM documents ORDER BY rowid")
            return [
                Document(id=document_id, file_name=name, uploaded=bool(uploaded), added_at=added_at)
                for document_id, name, uploaded, added_at in rows
            ]

    def update(self, folder: Path) -> None:
        """
        Add the files of the folder as `read_corpus`.

        Documents of files that the folder no longer has are deleted. Uploaded documents stay.
        """
        before = {document.id for document in self.documents() if not document.uploaded}
        for document_id in before.difference(read_corpus(self, folder)):
            self.delete(document_id)
