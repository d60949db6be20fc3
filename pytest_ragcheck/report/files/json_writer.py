"""Writes JSON files: redacted, rounded, atomic, and never outside the folder."""

from __future__ import annotations

import json
import math
import os
import secrets
import tempfile
from array import array
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from functools import lru_cache
from json.encoder import encode_basestring
from pathlib import Path
from typing import IO, Any

from pytest_ragcheck.questions.question import Question
from pytest_ragcheck.questions.question_rows import question_row
from pytest_ragcheck.redaction import Redactor
from pytest_ragcheck.report.files.output_folder import not_written
from pytest_ragcheck.report.files.result_documents import JUDGEMENT, prediction_row
from pytest_ragcheck.verdict.record import Record
from pytest_ragcheck.verdict.verdict import Verdict

DECIMALS = 6

_ROW = "\n    "
"""The line break and the indent of a row of an array."""

_EXACT = frozenset({"metadata", "thresholds", "maximums", "repeated", JUDGEMENT})

_ENCODED = json.JSONEncoder(ensure_ascii=False, allow_nan=False).encode
_FAST_ENCODERS: dict[type, Callable[[Any], str]] = {
    float: repr,
    int: repr,
    bool: {True: "true", False: "false"}.__getitem__,
    type(None): lambda _: "null",
}
"""Encodings of the commonest values other than strings, ten times as fast as the encoder."""


class EncodedRow(str):
    __slots__ = ()


class JsonWriter:
    """Writes JSON files into one folder, which the first file creates."""

    def __init__(self, folder: Path, redactor: Redactor) -> None:
        self.folder = folder
        self._redactor = redactor
        self._key = lru_cache(1_000)(lambda key: encode_basestring(redactor.text(key)))

    def write(self, name: str, document: dict[str, Any]) -> Path:
        """
        Write the whole document or nothing, and return the path.

        An iterator among the document's values becomes an array, written row by row.
        """
        path = self.folder / name
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            _replace(path, self._pieces(document))
        except OSError as error:
            raise not_written(path, error) from error
        return path

    def row(self, value: Any) -> EncodedRow:
        return EncodedRow(self._text(value, _ROW))

    def _pieces(self, document: dict[str, Any]) -> Iterator[str]:
        between = "{"
        for key, value in document.items():
            yield f"{between}\n  {self._key(key)}: "
            between = ","
            if not isinstance(value, Iterator):
                yield self._text(value, "\n  ")
                continue
            before = "["
            for row in value:
                yield f"{before}{_ROW}{row if type(row) is EncodedRow else self._text(row, _ROW)}"
                before = ","
            yield "[]" if before == "[" else "\n  ]"
        yield "{}\n" if between == "{" else "\n}\n"

    def _text(self, value: Any, line: str) -> str:
        # As `json.dumps` with an indent of two, redacted; *line* is a line break and the indent of the first line.
        inner = line + "  "
        kind = type(value)
        if kind is str:
            return encode_basestring(self._redactor.text(value))
        if kind is dict:
            # Two keys may be equal once they are redacted.
            items = {self._key(str(key)): item for key, item in value.items()}
            begin, end = "{", "}"
            rows = [f"{key}: {self._text(item, inner)}" for key, item in items.items()]
        elif kind is list:
            begin, rows, end = "[", [self._text(item, inner) for item in value], "]"
        elif kind in _FAST_ENCODERS and (kind is not float or math.isfinite(value)):
            return _FAST_ENCODERS[kind](value)
        else:
            plain = self._redactor.document(value)
            return self._text(plain, line) if type(plain) in {dict, list} else _ENCODED(plain)
        return f"{begin}{inner}{f',{inner}'.join(rows)}{line}{end}" if rows else begin + end


def rounded(value: Any) -> Any:
    """
    The JSON value with every float rounded to `DECIMALS` decimals.

    `metadata` and the limits belong to the user, and `judgement` and `repeated` are read back to decide a run again, so
    these keep their digits.
    """
    if isinstance(value, float):
        return round(value, DECIMALS)
    if isinstance(value, dict):
        return {key: item if key in _EXACT else rounded(item) for key, item in value.items()}
    if isinstance(value, list):
        return list(map(rounded, value))
    return value


def _replace(path: Path, pieces: Iterable[str]) -> None:
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(4)}.tmp")
    try:
        with temporary.open("x", encoding="utf-8", newline="\n") as file:
            file.writelines(pieces)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


class RowsAhead:
    """
    Encodes the rows of the predictions and their questions as records arrive, so that little work is left after the
    last reply.

    The rows go to an unnamed file, because 50,000 rows have 150 MB. If the file cannot be written, as on a full disk,
    all rows are encoded at the end. The first row creates the output folder.
    """

    def __init__(self, folder: Path, redactor: Redactor) -> None:
        self._folder = folder
        self._writer = JsonWriter(folder, redactor)
        self._file: IO[bytes] | None = None
        self._is_usable = True
        self._numbers: dict[tuple[str, str], int] = {}
        """The place in `_records`, by dataset name and question id."""

        self._records: list[Record] = []
        self._ends = array("Q", [0])
        """The end of each row in the file, after the 0: of a record and its question, of the next record, and so on."""

    def add(self, record: Record) -> None:
        """Encode the rows of a record and its question, unless it is an ERROR, in place of earlier ones."""
        if record.verdict is Verdict.ERROR or not self._is_usable:
            return
        row = self._writer.row(rounded(prediction_row(record))).encode()
        of_question = self._writer.row(question_row(record.question)).encode()
        try:
            if self._file is None:
                self._folder.mkdir(parents=True, exist_ok=True)
                self._file = tempfile.TemporaryFile(dir=self._folder)  # noqa: SIM115 - closed by `close`
            self._file.write(row + of_question)
        except OSError:
            self._is_usable = False
            return
        self._numbers[record.question.key] = len(self._records)
        self._records.append(record)
        self._ends.append(self._ends[-1] + len(row))
        self._ends.append(self._ends[-1] + len(of_question))

    def row_of(self, source: Record | Question) -> EncodedRow | None:
        """The row of this record, or of the question of a record; None if this object was not added."""
        question = source.question if isinstance(source, Record) else source
        number = self._numbers.get(question.key)
        if number is None or self._file is None or not self._is_usable:
            return None
        record = self._records[number]
        if source is not record and source is not record.question:
            return None
        first = 2 * number + (source is question)
        start, end = self._ends[first : first + 2]
        try:
            self._file.seek(start)
            return EncodedRow(self._file.read(end - start), "utf-8")
        except OSError:
            return None

    def close(self) -> None:
        self._is_usable = False
        if self._file is not None:
            with suppress(OSError):  # flushing the last rows fails on a full disk
                self._file.close()
