"""`read_material` reads an exported file as rows and decides its syntax from its content."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain
from operator import attrgetter
from pathlib import Path
from typing import Any, TypeAlias

from pytest_ragcheck.errors import DatasetError
from pytest_ragcheck.questions.csv_nodes import DELIMITERS, SEPARATOR_LINE, split_rows
from pytest_ragcheck.questions.datasets.loading import rows_of_file
from pytest_ragcheck.questions.nodes.node import ListNode, MappingNode, Node, Unreadable
from pytest_ragcheck.questions.reader import decoded

# YAML by its content: a list, or promptfoo's configuration with the key `tests`.
_YAML = re.compile(r"\A(?:[ \t\r]*(?:(?:#|---)[^\n]*)?\n)* *- |^tests\s*:(?:\s|$)", re.MULTILINE)

# numpy writes an array without commas, and Python joins adjacent literals: ['a' 'b'] would be ['ab']. A literal without
# an end goes to the end of the text, which would otherwise be searched for an end from each quote.
_LITERAL = re.compile(r"""('(?:[^'\\]|\\.?)*(?:'|\Z)|"(?:[^"\\]|\\.?)*(?:"|\Z))(\s*(?=['"]))?""", re.DOTALL)


_TEXT = attrgetter("text")
_TITLES = 5
"""Maximum number of rows among which the header is looked for."""

Rows: TypeAlias = tuple[Mapping[str, Any], ...]


@dataclass(frozen=True, kw_only=True)
class Material:
    path: Path

    text: str
    """The whole text; empty for a folder and for parquet."""

    document: Any = None
    """The JSON or YAML value; None for other files, and for JSON Lines and CSV."""

    rows: Rows = ()
    """The objects of JSON Lines, of a JSON or YAML list, or the rows of CSV, parquet or columns in JSON."""

    qrels: tuple[Material, ...] = ()
    """The judgements of TREC that belong to the topics in this file."""

    columns: Mapping[str, str] = field(default_factory=dict)
    """The keys of columns and variables by the options `--column`."""

    is_csv: bool = False
    """True if the values of `rows` are cells: texts, empty for nothing."""

    @cached_property
    def keys(self) -> frozenset[str]:
        return frozenset(map(str, chain.from_iterable(self.rows)))

    def have(self, *names: str) -> bool:
        return bool(self.rows) and set(names) <= self.keys

    def have_one_of(self, *names: str) -> bool:
        return not self.keys.isdisjoint(names)


def read_material(path: Path) -> Material:
    """
    Raises:
        DatasetError: The file cannot be read, is not UTF-8, or is empty.
        UsageError: The file is parquet, and pyarrow is not installed.
    """
    if path.is_dir():
        return Material(path=path, text="")
    try:
        content = path.read_bytes()
        if content.startswith(b"PAR1"):
            return Material(path=path, text="", rows=tuple(row.columns for row in rows_of_file(path)))
        return _material(path, decoded(content))
    except OSError as error:
        raise DatasetError(f"{path}: cannot be read ({error.strerror or error}).") from error
    except Unreadable as error:
        raise DatasetError(f"{path.name}: line {error.line}: the file {error.text}") from error


def _material(path: Path, text: str) -> Material:
    if not text.strip():
        raise DatasetError(f"{path.name}: is empty. Export it again.")
    if text.lstrip()[0] in "{[":
        return _json_material(path, text)
    if _YAML.search(text) or path.suffix.lower() in (".yaml", ".yml"):
        from pytest_ragcheck.questions.nodes.yaml_nodes import compose_yaml

        document = _plain(compose_yaml(text))
        return Material(path=path, text=text, document=document, rows=_objects(document))
    try:
        rows = table_rows(path, text)
    except DatasetError:
        if path.suffix.lower() == ".csv":
            raise
        rows = ()  # another text may have delimiters in its first line too
    return Material(path=path, text=text, rows=rows, is_csv=bool(rows))


def value_of(cell: Any) -> Any:
    """The value of a CSV cell: JSON, a Python literal as pandas writes lists, or the text; None if blank."""
    if not isinstance(cell, str):
        return cell
    stripped = cell.strip()
    if not stripped:
        return None
    if stripped[0] in "[{":
        with suppress(ValueError, RecursionError):
            return _json(stripped)
        # A literal such as {[1]: 2} has a TypeError.
        with suppress(ValueError, TypeError, SyntaxError, RecursionError, MemoryError):
            return ast.literal_eval(_LITERAL.sub(lambda found: found[1] + ("" if found[2] is None else ","), stripped))
    return cell


def _json_material(path: Path, text: str) -> Material:
    try:
        document = _json(text)
    except (ValueError, RecursionError) as whole:
        rows: list[dict[str, Any]] = []
        for number, line in enumerate(text.split("\n"), start=1):
            if not line.strip():
                continue
            try:
                value = _json(line)
            except (ValueError, RecursionError) as error:
                if not rows:
                    raise DatasetError(f"{path.name}: expected JSON, found something else ({whole}).") from error
                what = f"expected a JSON object, found a broken one ({error})"
                raise DatasetError(f"{path.name}: line {number}: {what}.") from error
            if not isinstance(value, dict):
                raise DatasetError(f"{path.name}: line {number}: expected a JSON object.") from whole
            rows.append(value)
        return Material(path=path, text=text, rows=tuple(rows))
    rows_of = _rows_of_columns(document) or (document,) if isinstance(document, dict) else _objects(document)
    return Material(path=path, text=text, document=document, rows=rows_of)


def _rows_of_columns(document: dict[str, Any]) -> Rows:
    # The rows of columns that are lists, or objects by row number as pandas writes them; else none.
    rows: dict[str, dict[str, Any]] = {}
    for name, column in document.items():
        cells = dict(enumerate(column)) if isinstance(column, list) else column
        if not isinstance(cells, dict):
            return ()
        for number, cell in cells.items():
            if not str(number).isdecimal() or (str(number) not in rows and isinstance(cell, dict)):
                return ()  # a list of messages is no column
            rows.setdefault(str(number), {})[name] = cell
    return tuple(rows.values()) if {*map(len, rows.values())} == {len(document)} else ()


def lists_in(document: Any) -> dict[str, Rows]:
    """The lists of objects in an object and in its objects, by name."""
    found: dict[str, Rows] = {}
    # A question file needs no conversion.
    if not isinstance(document, Mapping) or document.keys() & {"dataset_name", "defaults", "tier", "ingest"}:
        return found
    for outer in (document, *document.values()):
        for name, value in outer.items() if isinstance(outer, Mapping) else ():
            if rows := _objects(value):
                found[name] = rows
    return found


def _json(text: str) -> Any:
    # pandas writes NaN for a missing value.
    return json.loads(text, parse_constant=lambda _: None)


def _objects(document: Any) -> Rows:
    if isinstance(document, list) and document and all(isinstance(each, dict) for each in document):
        return tuple(document)
    return ()


def table_rows(path: Path, text: str) -> Rows:
    """The rows of CSV; none if the header has no delimiter. Raises a `DatasetError` about a row."""
    separator = SEPARATOR_LINE.match(text)
    begin = separator.end() if separator else 0
    header = text[begin:].split("\n", 1)[0]
    delimiter = separator[1] if separator else max(DELIMITERS, key=header.count)
    if delimiter not in header or header.lstrip(" ").startswith(("#", "<", "-")):
        return ()
    try:
        rows = list(split_rows(text[begin:], delimiter, line=2 if separator else 1))
    except Unreadable as error:
        raise DatasetError(f"{path.name}: line {error.line}: the file {error.text}") from None
    if len(rows) < 2:
        return ()
    # A spreadsheet may have a title in its first cell, above the header.
    for number, row in enumerate(rows[:_TITLES]):
        if any(map(_TEXT, row[1:])):
            del rows[:number]
            break
    names: list[str] = []
    for cell in rows[0]:
        name = cell.text.strip()
        names.append(f"{name}.{names.count(name)}" if name in names and name else name)
    found = []
    for row in rows[1:]:
        if len(row) > len(names):
            raise DatasetError(
                f"{path.name}: line {row[0].line}: the row has {len(row)} cells, and the header {len(names)}. "
                f"Put a cell that holds {delimiter!r} into quotes."
            )
        # A column without a name is the index of pandas, or comes from delimiters at the ends of the lines.
        cells = dict(zip(names, map(_TEXT, row), strict=False))
        cells.pop("", None)
        found.append(cells)
    return tuple(found)


def _plain(node: Node | None) -> Any:
    # The value of a node of YAML 1.2, as promptfoo reads it: `no`, `12:30` and `2024-01-01` are texts.
    if isinstance(node, ListNode):
        return list(map(_plain, node.items))
    if isinstance(node, MappingNode):
        return {entry.key: _plain(entry.value) for entry in node.entries}
    if node is None or node.is_null:
        return None
    if not node.quoted:
        with suppress(ValueError):  # a text, or a whole number with too many digits
            return _json(re.sub(r"^(-?)\.", r"\g<1>0.", node.text.lower()))
    return node.text
