"""Encodes the rows of the predictions while a run waits for replies."""

from __future__ import annotations

import tempfile
from array import array
from contextlib import suppress
from pathlib import Path
from typing import IO

from pytest_ragcheck.redaction import Redactor
from pytest_ragcheck.report.files.json_writer import EncodedRow, JsonWriter, rounded
from pytest_ragcheck.report.files.result_documents import prediction_row
from pytest_ragcheck.verdict.record import Record
from pytest_ragcheck.verdict.verdict import Verdict


class RowsAhead:
    """
    Encodes the rows of the predictions as their records arrive, so that little work is left after the last reply.

    The rows go to an unnamed file, because 50,000 rows have 150 MB. If the file cannot be written, as on a full disk,
    all rows are encoded at the end. The first row creates the output folder.
    """

    def __init__(self, folder: Path, redactor: Redactor) -> None:
        self._folder = folder
        self._writer = JsonWriter(folder, redactor)
        self._file: IO[bytes] | None = None
        self._is_usable = True
        self._numbers: dict[tuple[str, str], int] = {}
        """The number of the row in the file, by dataset name and question id."""

        self._records: list[Record] = []
        self._ends = array("Q", [0])
        """The offset in the file at which each row begins, and the end of the last row."""

    def add(self, record: Record) -> None:
        """Encode the row of a record, unless it is an ERROR, in place of an earlier row of the question."""
        if record.verdict is Verdict.ERROR or not self._is_usable:
            return
        row = self._writer.row(rounded(prediction_row(record))).encode()
        try:
            if self._file is None:
                self._folder.mkdir(parents=True, exist_ok=True)
                self._file = tempfile.TemporaryFile(dir=self._folder)  # noqa: SIM115 - closed by `close`
            self._file.write(row)
        except OSError:
            self._is_usable = False
            return
        self._numbers[record.question.key] = len(self._records)
        self._records.append(record)
        self._ends.append(self._ends[-1] + len(row))

    def row_of(self, record: Record) -> EncodedRow | None:
        """The row of this record object; None if it was not added."""
        number = self._numbers.get(record.question.key)
        if number is None or self._records[number] is not record or self._file is None or not self._is_usable:
            return None
        start, end = self._ends[number : number + 2]
        try:
            if self._file.tell() != start:
                self._file.seek(start)
            return EncodedRow(self._file.read(end - start), "utf-8")
        except OSError:
            return None

    def close(self) -> None:
        self._is_usable = False
        if self._file is not None:
            with suppress(OSError):  # flushing the last rows fails on a full disk
                self._file.close()
