"""`rows_of_file` reads JSON, JSON Lines and parquet files of datasets, compressed or not."""

from __future__ import annotations

import bz2
import gzip
import io
import json
import lzma
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator
from itertools import chain, islice
from pathlib import Path
from typing import IO, Any

from pytest_ragcheck.errors import DatasetError, UsageError
from pytest_ragcheck.questions.datasets.standard_dataset import Row, described

_ENDINGS = (".json", ".jsonl", ".ndjson", ".parquet", ".gz", ".bz2", ".xz", ".zip")
_BROKEN = (EOFError, gzip.BadGzipFile, lzma.LZMAError, zlib.error, zipfile.BadZipFile)


def files_at(path: Path, *, subset: str | None, split: str) -> list[Path]:
    """The file at *path*, or the files of a split in that folder, sorted; a `DatasetError` if there are none."""
    if path.is_file():
        return [path]
    if not path.is_dir():
        raise DatasetError(f"{path}: there is no such file or folder. Give the path of the dataset's file.")
    folder = path / subset if subset is not None and (path / subset).is_dir() else path
    files = sorted(each for each in folder.rglob("*") if each.name.lower().endswith(_ENDINGS) and each.is_file())
    found = [each for each in files if each.name.startswith(split)]
    if not found:
        names = ", ".join(sorted({each.name for each in files})[:10]) or "none"
        raise DatasetError(
            f"{folder}: expected a file whose name begins with the split {split!r}, found {names}. "
            "Name the file itself, or another split with @SPLIT."
        )
    return found


def rows_of_file(path: Path, unfold: Callable[[Row], Iterable[Row] | None] | None = None) -> Iterator[Row]:
    """
    Yield the rows of the file: the lines of JSON Lines, the items of a JSON list, or the result of *unfold*.

    Raises:
        DatasetError: The file cannot be read, or has another format; the text names the place.
        UsageError: The file is parquet, and pyarrow is not installed.
    """
    try:
        with _opened(path) as stream:
            if stream.peek(4)[:4] == b"PAR1":
                yield from _parquet_rows(path, stream)
            else:
                yield from _json_rows(path, stream, unfold)
    except _BROKEN as error:
        raise DatasetError(f"{path.name}: cannot be decompressed ({error}). Download the file again.") from error
    except UnicodeDecodeError as error:
        found = f"byte 0x{error.object[error.start]:02x}"
        raise DatasetError(f"{path.name}: expected UTF-8 text or parquet, found {found} in its text.") from error
    except OSError as error:
        raise DatasetError(f"{path}: cannot be read ({error.strerror or error}).") from error


def _opened(path: Path) -> io.BufferedReader:
    # The decompressed content. Its first bytes decide the format, as downloads often lose their endings.
    decompressors: dict[bytes, Callable[[Path], Any]] = {
        b"\x1f\x8b": gzip.open,
        b"BZh": bz2.open,
        b"\xfd7zXZ\x00": lzma.open,
        b"PK\x03\x04": _only_member,
    }
    with path.open("rb") as file:
        begin = file.read(6)
    for magic, opened in decompressors.items():
        if begin.startswith(magic):
            return io.BufferedReader(opened(path))
    return path.open("rb")


def _only_member(path: Path) -> IO[bytes]:
    archive = zipfile.ZipFile(path)
    names = [name for name in archive.namelist() if not name.endswith("/") and not name.startswith("__MACOSX/")]
    if len(names) != 1:
        archive.close()
        found = ", ".join(names[:10]) or "none"
        raise DatasetError(f"{path.name}: expected one file in it, found {found}. Unpack it, and name the file.")
    member = archive.open(names[0])
    archive.close()  # the member keeps the file open
    return member


def _parquet_rows(path: Path, stream: io.BufferedReader) -> Iterator[Row]:
    try:
        import pyarrow as arrow  # pyright: ignore[reportMissingImports] - only for parquet
        from pyarrow import parquet  # pyright: ignore[reportMissingImports] - as above
    except ImportError:
        raise UsageError(
            f'{path.name}: is a parquet file, which needs pyarrow: pip install "pytest-ragcheck[datasets]". '
            f"Or give the dataset as JSON or JSON Lines."
        ) from None
    number = 0
    # pyarrow reads the end of the file first, and a compressed stream cannot seek.
    source = stream if isinstance(stream.raw, io.FileIO) else io.BytesIO(stream.read())
    try:
        for batch in parquet.ParquetFile(source).iter_batches(batch_size=1000):
            for columns in batch.to_pylist():
                number += 1
                yield Row(f"{path.name}: row {number}", columns)
    except arrow.ArrowException as error:
        raise DatasetError(
            f"{path.name}: expected parquet behind row {number}, found a broken file ({error})."
        ) from error


def _json_rows(path: Path, stream: IO[bytes], unfold: Callable[[Row], Iterable[Row] | None] | None) -> Iterator[Row]:
    with io.TextIOWrapper(stream, encoding="utf-8-sig", newline="\n") as text:
        lines = ((number, line) for number, line in enumerate(text, start=1) if line.strip())
        begin = list(islice(lines, 2))
        if not begin:
            raise DatasetError(f"{path.name}: expected rows, found an empty file.")
        if len(begin) == 1 or not isinstance(_read(begin[0][1]), dict):
            yield from _rows_in(path, "".join(line for _, line in chain(begin, lines)), unfold)
            return
        for number, line in chain(begin, lines):
            yield _line_row(path, number, line)


def _read(line: str) -> Any:
    # The JSON value of the line; None for a partial one, such as the first line of an indented file.
    try:
        return json.loads(line)
    except (ValueError, RecursionError):
        return None


def _line_row(path: Path, number: int, line: str) -> Row:
    place = f"{path.name}: line {number}"
    try:
        value = json.loads(line.rstrip())
    except json.JSONDecodeError as error:
        what = f"{error.msg.removesuffix(' at')} at column {error.colno}"
        raise DatasetError(f"{place}: expected a JSON object, found a broken one ({what}).") from error
    except RecursionError as error:
        raise DatasetError(f"{place}: expected a JSON object, found one that nests too deep.") from error
    if not isinstance(value, dict):
        raise DatasetError(f"{place}: expected a JSON object, found {described(value)}.")
    return Row(place, value)


def _rows_in(path: Path, text: str, unfold: Callable[[Row], Iterable[Row] | None] | None) -> Iterator[Row]:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise DatasetError(
            f"{path.name}: expected JSON, JSON Lines or parquet, found broken JSON ({error})."
        ) from error
    if isinstance(value, dict):
        row = Row(path.name, value)
        unfolded = unfold(row) if unfold is not None else None
        yield from (row,) if unfolded is None else unfolded
        return
    if not isinstance(value, list):
        raise DatasetError(f"{path.name}: expected a list of rows, found {described(value)}.")
    for number, item in enumerate(value, start=1):
        if not isinstance(item, dict):
            raise DatasetError(f"{path.name}: row {number}: expected an object, found {described(item)}.")
        yield Row(f"{path.name}: row {number}", item)
