"""`compose_csv` turns CSV text into nodes: a header row with the names of the keys, then one question a row."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from operator import attrgetter

from pytest_ragcheck.questions.fields.entry import subject_of
from pytest_ragcheck.questions.fields.key_names import KINDS, QUESTION, KeyKind, named_entries, near_match
from pytest_ragcheck.questions.nodes.json_nodes import compose_json
from pytest_ragcheck.questions.nodes.node import (
    NULLS,
    Entry,
    ListNode,
    MappingNode,
    Mistakes,
    Node,
    Scalar,
    Site,
    Unreadable,
    is_flag,
    number_in,
    shortened,
)

DELIMITERS = (",", ";", "\t")
SEPARATOR_LINE = re.compile(r'"?sep=([,;\t|:])"?(?:\r\n?|\n)', re.IGNORECASE)
"""The first line of a file in which Excel writes the delimiter."""

_WORDS = re.compile(r"[\w -]+")
_QUOTED = re.compile(r' *"[^"]*(?:""[^"]*)*"')

_CONVERT = "convert the table: ragcheck convert FILE."
_HEADER = replace(QUESTION, advice=f"Delete the column, or {_CONVERT}")

_JSON_BEGINS_WITH = {"texts": "[", "mentions": "[", "tags": "[", "passages": "[{", "thresholds": "{", "mapping": "{["}
_NEVER_TEXTS = frozenset({"flag", "count", "thresholds"})


def compose_csv(text: str, mistakes: Mistakes) -> ListNode | None:
    """The questions in *text*; None if no row is valid. Invalid rows and columns are noted as mistakes and skipped."""
    begin, line = 0, 1
    if separator := SEPARATOR_LINE.match(text):
        begin, line = separator.end(), 2
    delimiter = separator[1] if separator else _delimiter_of(text)
    rows = split_rows(text[begin:], delimiter, line=line)
    nodes: list[Node] = []
    longer: list[list[Scalar]] = []
    site = Site(mistakes, "the row")
    try:
        header = next(rows, None)
        columns = _read_header(mistakes, header, delimiter if separator else "") if header else None
        if header is None or columns is None:
            return None
        line = header[0].line
        for row in rows:
            if _fits(site, row, columns, delimiter):
                nodes.append(_question_node(mistakes, row, columns, number=len(nodes) + 1))
                if len(row) > len(columns) and columns[-1] != "":
                    longer.append(row)
        # The header or all rows may end in a delimiter. If only some rows do, a value holds one, and cells are shifted.
        if len(longer) < len(nodes):
            for row in longer:
                site.mistake(row[0].line, _too_many(row, columns, delimiter))
    except Unreadable as error:
        Site(mistakes, "the file").mistake(error.line, error.text)
    if not nodes and not mistakes.found:
        raise Unreadable(line, "has a header and no questions. Write a row for each question, or delete the file.")
    return ListNode(line, nodes) if nodes else None


def _delimiter_of(text: str) -> str:
    # The delimiter by which the header has the most known names; empty for a header of one name.
    # The header decides, since names contain no delimiter, while questions and answers may contain any.
    best, most = "", (0, 1)
    for delimiter in DELIMITERS:
        try:
            header = next(split_rows(text, delimiter), [])
        except Unreadable:
            continue  # a wrong delimiter puts quotes inside a cell; under the right one the mistake is noted later
        count = (sum(_is_name(cell.text) for cell in header), len(header))
        if count > most and len(header) > 1:
            best, most = delimiter, count
    return best


def _is_name(text: str) -> bool:
    return text in QUESTION.real_names or text in QUESTION.refused


def _is_misspelt(text: str) -> bool:
    return _WORDS.fullmatch(text) is not None and near_match(text, tuple(QUESTION.real_names)) is not None


def _read_header(mistakes: Mistakes, header: Sequence[Scalar], declared: str) -> list[str | None] | None:
    """
    The key of each column: empty for a nameless column, None for a column with a mistake.

    The result is None if the header leaves all rows unreadable. *declared* is the delimiter of a line `sep=` before it.
    """
    site = Site(mistakes, "the header")
    line = header[0].line
    names = [cell.text.strip() for cell in header]
    found = ", ".join(map(shortened, names))
    if not any(_is_name(name) or _is_misspelt(name) for name in names):
        between = "',', ';' or a tab between them."
        if declared:
            between = f"{declared!r} between them, or delete the line 'sep={declared}' before it."
        site.mistake(
            line,
            f"names no key (found: {found}). Write the keys into the first row, such as "
            f"question{declared or ','}expected_answer, with {between} Or {_CONVERT}",
        )
        return None
    typed = [Entry(name, cell.line, cell) for name, cell in zip(names, header, strict=True)]
    entries = named_entries(site, MappingNode(line, [entry for entry in typed if entry.key]), _HEADER)
    if "question" not in entries:
        site.mistake(line, f"has no 'question' (found: {found}). Rename the column with the texts to ask.")
        return None
    read = {*map(id, entries.values())}
    return [entry.key if id(entry) in read or not entry.key else None for entry in typed]


def _fits(site: Site, row: Sequence[Scalar], columns: Sequence[str | None], delimiter: str) -> bool:
    nameless = (number for number, column in enumerate(columns[: len(row)], start=1) if column == "")
    other = next((each for each in DELIMITERS if row[0].text.count(each) == len(columns) - 1), "")
    if len(row) == 1 < len(columns) and other:
        what = f"has {other!r} between its cells, and the header {delimiter!r}. Write {delimiter!r} in all rows."
    elif list(map(attrgetter("text"), row)) == columns:
        what = "repeats the header. Delete it."
    elif len(row) < len(columns):
        what = (
            f"has {len(row)} of the header's {len(columns)} cells. "
            "Write the others too, empty where nothing is given, and put a cell with a line break into quotes."
        )
    elif any(cell.text.strip() for cell in row[len(columns) :]):
        what = _too_many(row, columns, delimiter)
    elif number := next((number for number in nameless if row[number - 1].text.strip()), 0):
        what = (
            f"has {shortened(row[number - 1].text)} in column {number}, which has no name in the header. "
            "Name the column, or delete the cell."
        )
    else:
        return True
    site.mistake(row[0].line, what)
    return False


def _too_many(row: Sequence[Scalar], columns: Sequence[str | None], delimiter: str) -> str:
    return f"has {len(row)} cells, and the header {len(columns)}. Put a cell that holds {delimiter!r} into quotes."


def _question_node(mistakes: Mistakes, row: Sequence[Scalar], columns: Sequence[str | None], *, number: int) -> Node:
    entries: list[Entry] = []
    broken: list[tuple[str, Unreadable]] = []
    for name, cell in zip(columns, row, strict=False):  # a row may have more empty cells
        if name and cell.text.strip():
            try:
                entries.append(Entry(name, cell.line, _value(KINDS[QUESTION.real_names[name]], cell)))
            except Unreadable as error:
                broken.append((name, error))
    node = MappingNode(row[0].line, entries)
    if broken:
        site = Site(mistakes, subject_of(node, number))
        for name, what in broken:
            site.mistake(what.line, f"has a cell under {name!r} that {what.text}")
    return node


def _value(kind: KeyKind, cell: Scalar) -> Node:
    text = cell.text.strip()
    if text[0] in _JSON_BEGINS_WITH.get(kind, ""):
        return compose_json(cell.text, line=cell.line, whole="cell")
    bare = Scalar(cell.line, text, quoted=False)
    if (kind in _NEVER_TEXTS and text not in NULLS) or (
        kind == "reason" and (is_flag(bare) or number_in(bare) is not None)
    ):
        return bare
    return cell


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
