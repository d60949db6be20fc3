"""Cuts Markdown and plain text into chunks of whole statements, each under its heading path."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from pytest_ragcheck.frozen import frozen

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
