"""The one writer of JSON files: redacted, rounded, atomic, and never outside its folder."""

from __future__ import annotations

import json
import os
import secrets
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any

from pytest_ragcheck.report.documents import JUDGEMENT
from pytest_ragcheck.report.folder import not_written

if TYPE_CHECKING:
    from pathlib import Path

    from pytest_ragcheck.redaction import Redactor

DECIMALS = 6

_ENCODED = json.JSONEncoder(ensure_ascii=False, allow_nan=False).encode
_SHORT_WAYS: dict[type, Callable[[Any], str]] = {float: repr, bool: {True: "true", False: "false"}.__getitem__}
"""How the commonest values but strings are encoded, which takes the encoder ten times as long."""


class Writer:
    """Writes JSON files into one folder, which it makes when there is something to write."""

    def __init__(self, folder: Path, redactor: Redactor) -> None:
        self.folder = folder
        self._redactor = redactor

    def write(self, name: str, document: dict[str, Any]) -> Path:
        """
        The path of the written file: the whole document, or what stood there before, never a half.

        An iterator among the document's values is an array, whose rows are made as they are written.
        """
        path = self.folder / name
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            _replace(path, self._pieces(document))
        except OSError as error:
            raise not_written(path, error) from error
        return path

    def _pieces(self, document: dict[str, Any]) -> Iterator[str]:
        """The document's text, as `json.dumps` with an indent of two writes it."""
        between = "{"
        for key, value in document.items():
            yield f"{between}\n  {self._text(key)}: "
            between = ","
            if not isinstance(value, Iterator):
                yield self._text(value, depth=1)
                continue
            before = "["
            for row in value:
                yield f"{before}\n    {self._text(row, depth=2)}"
                before = ","
            yield "[]" if before == "[" else "\n  ]"
        yield "{}\n" if between == "{" else "\n}\n"

    def _text(self, value: Any, *, depth: int = 0) -> str:
        return _indented(self._redactor.document(value), "\n" + "  " * depth)


def rounded(value: Any) -> Any:
    """
    The JSON value with every float at `DECIMALS` decimals, except in `metadata`, which is the user's, and in
    `judgement`, by which a run can be decided anew.
    """
    if isinstance(value, float):
        return round(value, DECIMALS)
    if isinstance(value, dict):
        return {key: item if key in {"metadata", JUDGEMENT} else rounded(item) for key, item in value.items()}
    if isinstance(value, list):
        return [rounded(item) for item in value]
    return value


def _indented(value: Any, line: str) -> str:
    """
    The JSON value as `json.dumps` with an indent of two writes it, which takes four times as long.

    Args:
        value: As the redactor leaves it: of dicts, lists and what stands in them, without infinities.
        line: A line break and the indent of the line that the value begins in.
    """
    inner = line + "  "
    if type(value) is dict:
        begin, rows, end = "{", [f"{_ENCODED(key)}: {_indented(item, inner)}" for key, item in value.items()], "}"
    elif type(value) is list:
        begin, rows, end = "[", [_indented(item, inner) for item in value], "]"
    else:
        return _SHORT_WAYS.get(type(value), _ENCODED)(value)
    return f"{begin}{inner}{f',{inner}'.join(rows)}{line}{end}" if rows else begin + end


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
