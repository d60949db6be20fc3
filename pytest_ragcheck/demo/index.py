"""Splits documents into passages of whole statements, and indexes their words in SQLite for search by BM25."""

from __future__ import annotations

import json
import math
import re
import sqlite3
import threading
import unicodedata
from collections.abc import Collection, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass
from datetime import datetime, timezone
from pathlib import Path

from pytest_ragcheck.frozen import frozen
from pytest_ragcheck.package_text import package_text

CHUNK_CHARACTERS = 700
"""A chunk ends with the block that reaches this size: big enough for a section, small enough to stay on topic."""

_FENCE = re.compile(r"^(`{3,}|~{3,})", re.MULTILINE)
_LIST_MARK = re.compile(r"^\s*(?:[-*+]|\d{1,9}[.)])\s+")


@frozen
class Chunk:
    """One passage of a document, as it is found and shown."""

    heading: str
    """The headings above the passage, outermost first, joined by ` > `; empty if there are none."""

    statements: tuple[str, ...]
    """Its sentences, list items, table rows and fenced code in their order; an answer quotes these."""

    @property
    def text(self) -> str:
        return "\n".join((self.heading, *self.statements) if self.heading else self.statements)


@dataclass(frozen=True, slots=True)
class _Block:
    """Lines that belong together: `kind` is heading, code, table or text."""

    kind: str
    lines: list[str]


def without_code(statement: str) -> str:
    return _FENCE.split(statement, maxsplit=1)[0]


def chunks_of(markdown: str) -> list[Chunk]:
    """The chunks of one document in order; plain text is Markdown without headings."""
    chunks: list[Chunk] = []
    headings: list[str] = []
    statements: list[str] = []

    def close() -> None:
        if statements:
            chunks.append(Chunk(heading=" > ".join(filter(None, headings)), statements=tuple(statements)))
            statements.clear()

    for block in _blocks(markdown):
        if block.kind == "heading":
            close()
            marks, *title = block.lines[0].split(maxsplit=1)
            level = len(marks)
            # A skipped level leaves an empty place, so that the next heading of that level replaces it.
            skipped = [""] * (level - 1 - len(headings))
            headings[level - 1 :] = [*skipped, _plain(re.sub(r"\s+#+$", "", "".join(title)))]
            continue
        for statement in _statements(block):
            if sum(map(len, statements)) >= CHUNK_CHARACTERS and not _leads_in(statements[-1]):
                close()
            if block.kind == "code" and statements and _leads_in(statements[-1]):
                statements[-1] += f"\n{statement}"
            else:
                statements.append(statement)
    close()
    return chunks


def _blocks(markdown: str) -> Iterator[_Block]:
    # Yield headings, fenced code, tables, and texts that end at a blank line or a list mark.
    lines = iter(re.sub(r"<!--.*?-->", "", markdown, flags=re.DOTALL).splitlines())
    block = _Block("text", [])
    for line in lines:
        stripped = line.strip()
        fence = _FENCE.match(stripped)
        if fence:
            yield block
            yield _Block("code", [stripped, *_until_closed(lines, fence[1], len(line) - len(line.lstrip())), fence[1]])
            block = _Block("text", [])
        elif re.match(r"#{1,6}\s", line):
            yield block
            yield _Block("heading", [stripped])
            block = _Block("text", [])
        else:
            kind = "table" if stripped.startswith("|") else "text"
            if not stripped or kind != block.kind or _LIST_MARK.match(line):
                yield block
                block = _Block(kind, [])
            if stripped:
                block.lines.append(line)
    yield block


def _until_closed(lines: Iterator[str], fence: str, indent: int) -> list[str]:
    code: list[str] = []
    for line in lines:
        mark = line.strip()
        if mark.startswith(fence) and not mark.strip(fence[0]):
            break
        code.append(line[indent:] if not line[:indent].strip() else line)
    return code


def _statements(block: _Block) -> list[str]:
    if block.kind == "code":
        return ["\n".join(block.lines)]
    statements = _rows(block.lines) if block.kind == "table" else _sentences(block.lines)
    return [statement for statement in statements if re.search(r"\w", statement)]


_OUTER_PIPES = re.compile(r"^\s*\||(?<!\\)\|\s*$")


def _rows(lines: list[str]) -> Iterator[str]:
    # Yield each row as `Column: cell; Column: cell`, so that it can be read alone.
    rows = [list(map(_plain, re.split(r"(?<!\\)\|", _OUTER_PIPES.sub("", line)))) for line in lines]
    columns, *rest = rows
    body = [row for row in rest if not all(re.fullmatch(r":?-+:?", cell) for cell in row)]
    if len(body) == len(rest):  # no line of dashes below the first: a table without column names
        columns, body = [], rows
    names = [*columns, *[""] * max(map(len, rows))]
    for row in body:
        yield "; ".join(f"{name}: {cell}" if name else cell for name, cell in zip(names, row, strict=False) if cell)


# A sentence ends with a line after a full stop or a colon; within a line a capital, digit or quote must follow.
_SENTENCE_END = re.compile(
    r"""(?<=[.!?:])\n | (?<=[.!?]["')])\n | (?<=[.!?])(?<!e\.g\.)(?<!i\.e\.)(?<!\b[A-Z]\.)[ ](?=[^\Wa-z]|["'`(\[*«])""",
    re.VERBOSE,
)


def _sentences(lines: list[str]) -> Iterator[str]:
    text = "\n".join(re.sub(r"^\s*>\s?", "", line).strip() for line in lines)
    return map(_plain, _SENTENCE_END.split(_LIST_MARK.sub("", text, count=1)))


def _plain(markdown: str) -> str:
    # One line without link targets, images and bold type.
    text = re.sub(r"!?\[([^\]]*)\]\([^)\s]*(?: \"[^\"]*\")?\)", r"\1", " ".join(markdown.split()))
    return re.sub(r"\*\*(\S(?:[^*`]*\S)?)\*\*", r"\1", text).replace("\\|", "|")


def _leads_in(statement: str) -> bool:
    return statement.endswith(":")


@frozen
class Passage:
    """A part of a document that a search found, or that came with the question."""

    document_id: str
    file_name: str | None
    """The name of the uploaded file; None for a passage that came with the question."""

    text: str
    chunk: Chunk
    """The text, split into the statements that an answer may quote."""

    score: float | None = None
    """BM25, higher is better; None without a search."""


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
