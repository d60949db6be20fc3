"""Writes JSON files: redacted, rounded, atomic, and never outside the folder."""

from __future__ import annotations

import json
import math
import os
import secrets
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from json.encoder import encode_basestring
from pathlib import Path
from typing import Any

from pytest_ragcheck.redaction import Redactor
from pytest_ragcheck.report.files.output_folder import not_written
from pytest_ragcheck.report.files.result_documents import JUDGEMENT

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
    """The text of a row of an array, in the format of `JsonWriter`."""

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
        """The text of a row, which `write` accepts instead of the value."""
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
        """
        The redacted value in the format of `json.dumps` with an indent of two, in one pass.

        *line* is a line break and the indent of the value's first line.
        """
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
