"""Defines a passage, from which answers are made."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pytest_ragcheck.demo.chunks import Chunk


@dataclass(frozen=True, slots=True, kw_only=True)
class Passage:
    """A part of a document that was found, or that came with the question."""

    document_id: str
    file_name: str | None
    """The name of the uploaded file; None for a passage that came with the question."""

    text: str
    chunk: Chunk
    """The text, split into the statements that an answer may quote."""

    score: float | None = None
    """BM25, higher is better; None without a search."""
