"""Reads a folder of texts into an index."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pytest_ragcheck.demo.index import Index

SUFFIXES = {".md", ".txt"}
"""The endings of the files that are read."""


def read_corpus(index: Index, folder: Path) -> None:
    """
    Add the files of the folder, at any depth, with their relative paths as ids.

    Files that the index has from an earlier call and the folder lacks are deleted; uploaded documents stay.
    """
    files = sorted(path for path in folder.rglob("*") if path.suffix in SUFFIXES and path.is_file())
    document_ids = [path.relative_to(folder).as_posix() for path in files]
    before = {document.id for document in index.documents() if not document.uploaded}
    for document_id in before.difference(document_ids):
        index.delete(document_id)
    for path, document_id in zip(files, document_ids, strict=True):
        text = path.read_text(encoding="utf-8-sig", errors="replace")
        index.add(document_id, text, file_name=document_id, uploaded=False)
