"""Splits documents and questions into words, and indexes documents in SQLite for full-text search by BM25."""

from __future__ import annotations

import json
import math
import re
import sqlite3
import threading
import unicodedata
from collections.abc import Collection, Mapping
from contextlib import closing
from datetime import datetime, timezone
from pathlib import Path

from pytest_ragcheck.demo.chunks import Chunk, Passage, chunks_of
from pytest_ragcheck.package_text import package_text

# Function words carry no topic. Question words are included, because `quoted_answer` checks them itself.
STOP_WORDS = frozenset(package_text("demo/stop_words.txt").split())

# The parts of a word may be joined by `_`, `-` or `.`: rag_top_k, read-ahead, conftest.py, 0.7.
_COMPOUND = re.compile(r"[^\W_]+(?:[-_.][^\W_]+)*")
_POSSESSIVE = re.compile(r"['\u2019]s\b")
_JOINT = re.compile(r"[-_.]")


def words_of(text: str) -> list[str]:
    """
    The words of *text* in order, without case, accents, inflection and stop words.

    A compound adds its parts and itself joined by `_`, so that `--rag-top-k`, `rag_top_k` and "top k" share a word.
    """
    decomposed = unicodedata.normalize("NFKD", _POSSESSIVE.sub("", text.casefold()))
    plain = "".join(character for character in decomposed if not unicodedata.combining(character))
    words: list[str] = []
    for compound in _COMPOUND.findall(plain):
        parts = list(map(_stem, _JOINT.split(compound)))
        words += [part for part in parts if part not in STOP_WORDS]
        if len(parts) > 1:
            words.append("_".join(parts))
    return words


def _stem(word: str) -> str:
    # The same stem for judge, judges, judged and judging; only English endings are removed.
    if word in STOP_WORDS or not word.isascii() or not word.isalpha() or len(word) < 4:
        return word
    if word.endswith("ies"):
        return word[:-3] + "y"
    if word.endswith("s") and not word.endswith(("ss", "us", "is")):
        word = word[:-1]
    for ending in ("ing", "ed"):
        stem = word.removesuffix(ending)
        if stem != word and len(stem) >= 3 and re.search("[aeiouy]", stem):
            doubled = stem[-1] == stem[-2] and stem[-1] not in "lsz"
            word = stem[:-1] if doubled else stem
            break
    if word.endswith("ied"):
        return word[:-3] + "y"
    return word.removesuffix("e") if len(word) > 4 else word


HEADING_WEIGHT = 2.0
"""A word of the heading counts double, because a heading names the topic."""


class Index:
    """
    Finds the passages of documents by their words. Any thread may call any method.

    Args:
        path: The database file, created if missing; None for a database in memory.
    """

    def __init__(self, path: Path | None = None) -> None:
        # One connection under one lock: a search takes less than a millisecond, and memory has no second connection.
        self._lock = threading.Lock()
        self._database = sqlite3.connect(path or ":memory:", check_same_thread=False)
        self._database.executescript(package_text("demo/tables.txt"))

    def close(self) -> None:
        self._database.close()

    def add(self, document_id: str, text: str, *, file_name: str, uploaded: bool = False) -> None:
        """Add a document; it replaces an earlier one with the same id."""
        rows = [
            (
                " ".join(words_of(chunk.heading)),
                " ".join(words_of("\n".join(chunk.statements))),
                document_id,
                chunk.heading,
                json.dumps(chunk.statements),
            )
            for chunk in chunks_of(text)
        ]
        now = datetime.now(timezone.utc).isoformat(timespec="seconds")
        with self._lock, self._database:
            self._delete(document_id)
            self._database.execute("INSERT INTO documents VALUES (?, ?, ?, ?)", (document_id, file_name, uploaded, now))
            self._database.executemany("INSERT INTO passages VALUES (?, ?, ?, ?, ?)", rows)

    def search(self, words: Collection[str], limit: int) -> list[Passage]:
        """At most *limit* passages with any of *words*, best first."""
        if not words or limit < 1:
            return []
        # A quoted word is never an operator (AND, NEAR, *).
        query = " OR ".join(f'"{word}"' for word in words)
        with (
            self._lock,
            closing(
                self._database.execute(
                    "SELECT document_id, file_name, heading, statements, bm25(passages, ?) AS distance FROM passages "
                    "JOIN documents ON documents.id = document_id WHERE passages MATCH ? "
                    "ORDER BY distance, passages.rowid LIMIT ?",
                    (HEADING_WEIGHT, query, min(limit, 2**31)),
                )
            ) as found,
        ):
            return [_passage(*row) for row in found]

    def rarity(self, words: Collection[str]) -> Mapping[str, float]:
        """The inverse document frequency of each word, > 0; highest for a word of no passage."""
        with self._lock:
            total = self._database.execute("SELECT count(*) FROM passages").fetchone()[0]
            counts = {
                word: self._database.execute("SELECT doc FROM vocabulary WHERE term = ?", (word,)).fetchone()
                for word in words
            }
        having = {word: row[0] if row else 0 for word, row in counts.items()}
        return {word: math.log(1 + (total - count + 0.5) / (count + 0.5)) for word, count in having.items()}

    def _delete(self, document_id: str) -> bool:
        self._database.execute("DELETE FROM passages WHERE document_id = ?", (document_id,))
        return self._database.execute("DELETE FROM documents WHERE id = ?", (document_id,)).rowcount > 0


def _passage(document_id: str, file_name: str, heading: str, statements: str, distance: float) -> Passage:
    chunk = Chunk(heading=heading, statements=tuple(json.loads(statements)))
    # A smaller BM25 of SQLite is better.
    return Passage(document_id=document_id, file_name=file_name, text=chunk.text, chunk=chunk, score=-distance)


SUFFIXES = {".md", ".txt"}
"""The endings of the files that are read."""


def read_corpus(index: Index, folder: Path) -> list[str]:
    """Add the files of the folder, at any depth, with their relative paths as ids, which are returned."""
    files = sorted(path for path in folder.rglob("*") if path.suffix in SUFFIXES and path.is_file())
    document_ids = [path.relative_to(folder).as_posix() for path in files]
    for path, document_id in zip(files, document_ids, strict=True):
        text = path.read_text(encoding="utf-8-sig", errors="replace")
        index.add(document_id, text, file_name=document_id)
    return document_ids
