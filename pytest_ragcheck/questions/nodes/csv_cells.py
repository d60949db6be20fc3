"""`split_rows` splits CSV text into rows of cells with line numbers."""

# The standard library's reader does not return the line of a cell, treats a quote after a space as text, and limits the
# size of a cell for the whole process.

from __future__ import annotations

import re
from collections.abc import Iterator

from pytest_ragcheck.questions.nodes.node import Scalar, Unreadable
from pytest_ragcheck.questions.nodes.node_values import shortened

_QUOTED = re.compile(r' *"[^"]*(?:""[^"]*)*"')


def split_rows(text: str, delimiter: str, *, line: int = 1) -> Iterator[list[Scalar]]:
    """
    Yield the rows of *text*, which begins on *line* of the file, without empty rows.

    A cell has no quotes, and no spaces outside of the quotes. An empty *delimiter* gives rows of a single cell.

    Raises:
        Unreadable: A quote is not closed, or text follows a closing quote; the rest cannot be split.
    """
    escaped = re.escape(delimiter)
    end_of_cell = rf"{escaped}|\r\n?|\n|\Z" if delimiter else r"\r\n?|\n|\Z"
    cell = rf' *(?:"([^"]*(?:""[^"]*)*)" *|([^"{escaped}\r\n ][^{escaped}\r\n]*)?)({end_of_cell})'
    next_cell = re.compile(cell).match
    position = 0
    row: list[Scalar] = []
    while position < len(text) or row:
        found = next_cell(text, position)
        if found is None:
            raise _bad_quotes(text, position, line)
        quoted, plain, end = found.groups()
        if quoted is None:
            row.append(Scalar(line, (plain or "").rstrip(" "), quoted=True))
        else:
            # Make a line break within a cell the same on every operating system.
            row.append(Scalar(line, quoted.replace('""', '"').replace("\r\n", "\n"), quoted=True))
            line += quoted.count("\n")
        position = found.end()
        if end and end == delimiter:
            continue
        if any(each.text.strip() for each in row):
            yield row
        row = []
        line += 1


def _bad_quotes(text: str, position: int, line: int) -> Unreadable:
    quoted = _QUOTED.match(text, position)
    if quoted is None:
        return Unreadable(
            line, "has a cell in quotes that is not closed. Close it, and write each quote inside of it twice."
        )
    behind = text[quoted.end() : quoted.end() + 20].partition("\n")[0].strip()
    return Unreadable(
        line + quoted[0].count("\n"),
        f"has {shortened(behind)} behind the closing quote of a cell. Write each quote inside of a cell twice.",
    )
