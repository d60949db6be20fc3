"""`load_questions` reads a chosen dataset, or the same `sample` of it in every run; `rows_of_file` reads its files."""

from __future__ import annotations

import bz2
import gzip
import hashlib
import heapq
import io
import json
import lzma
import os
import zipfile
import zlib
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass, field, replace
from importlib import import_module
from itertools import chain, islice
from pathlib import Path
from typing import IO, Any

from pytest_ragcheck.errors import DatasetError, UsageError
from pytest_ragcheck.questions.call import check_values
from pytest_ragcheck.questions.datasets.standard_dataset import Dataset, DatasetChoice, Hub, Row, described
from pytest_ragcheck.questions.question import Origin, Question, QuestionSet
from pytest_ragcheck.questions.question_ids import usable_id
from pytest_ragcheck.scores import ASSERTABLE

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
            "Or give the dataset as JSON or JSON Lines."
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
        what = f"expected parquet behind row {number}, found a broken file ({error})"
        raise DatasetError(f"{path.name}: {what}.") from error


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


def load_questions(
    choice: DatasetChoice,
    dataset: Dataset,
    *,
    samples: int | None,
    seed: int,
    known_metrics: Collection[str] = ASSERTABLE,
) -> QuestionSet:
    """
    The questions of the choice, which `check_choice` accepts, in the order of the file.

    *samples* is the maximum number of questions; None for all. Their `thresholds` may name *known_metrics*.

    Raises:
        DatasetError: The file or the hub has another format.
        UsageError: A package is missing, or the dataset made a question that cannot be asked.
    """
    split = choice.split or dataset.split
    seen = _Seen()
    try:
        read = dataset.read(_rows(choice, dataset, split), choice.dataset_name)
        chosen = sample(_usable(choice, read, seen, known_metrics), samples, seed=seed)
    except DatasetError as error:
        raise DatasetError(f"{error}\n{dataset.name} is read from {dataset.official}.") from error
    if not chosen:
        raise DatasetError(f"{choice}: expected questions, found none.")
    return QuestionSet(
        dataset_name=choice.dataset_name,
        path=choice.path or Path(choice.dataset_name),
        questions=chosen,
        origin=Origin(
            source=choice.path.name if choice.path else f"hub: {dataset.hub.repository if dataset.hub else ''}",
            split=None if choice.path is not None and choice.path.is_file() else split,
            available=len(seen.by_id),
            left_out=seen.left_out,
            samples=samples,
            seed=seed,
        ),
    )


@dataclass(slots=True)
class _Seen:
    by_id: dict[str, str] = field(default_factory=dict)
    """The start of each question's text by its id."""

    left_out: int = 0


def _usable(
    choice: DatasetChoice, read: Iterable[Question], seen: _Seen, known_metrics: Collection[str]
) -> Iterator[Question]:
    # Yield the questions with a text, each with an id that is valid in a node id and with the path of its file.
    for question in read:
        if not isinstance(question, Question):
            raise UsageError(f"{choice}: the dataset's read returned {question!r:.80}, not a Question.")
        if isinstance(question.question, str) and not question.question.strip():
            seen.left_out += 1
            continue
        text = str(question.question)[:60]
        question_id = usable_id(question.id) if isinstance(question.id, str) else question.id
        usable = replace(question, dataset_name=choice.dataset_name, id=question_id, path=choice.path)
        check_values(usable, known_metrics=known_metrics, given_as=str(choice))
        if question_id in seen.by_id:
            raise DatasetError(
                f"{choice}: expected an id of its own for each question, found {question_id!r} twice: "
                f"{seen.by_id[question_id]!r} and {text!r}."
            )
        seen.by_id[question_id] = text
        yield usable


def _rows(choice: DatasetChoice, dataset: Dataset, split: str) -> Iterator[Row]:
    if choice.path is not None:
        for path in files_at(choice.path, subset=choice.subset, split=split):
            yield from rows_of_file(path, dataset.unfold)
    elif dataset.hub is not None:
        yield from rows_of_hub(dataset.hub, subset=choice.subset, split=split)


def rows_of_hub(hub: Hub, *, subset: str | None, split: str) -> Iterator[Row]:
    """The rows of a split, which the library downloads and caches; a `DatasetError` quotes its error."""
    # By default, a test run sends no usage statistics.
    os.environ.setdefault("HF_HUB_DISABLE_TELEMETRY", "1")
    load_dataset: Any = import_module("datasets").load_dataset  # optional, needed for the hub only
    place = f"{hub.repository} ({', '.join(filter(None, (subset or hub.config, split)))})"
    try:
        table = load_dataset(hub.repository, subset or hub.config, split=split, revision=hub.revision)
    except Exception as error:  # the library's errors have no common class
        reason = " ".join(str(error).split())[:300]
        raise DatasetError(
            f"{place}: cannot be loaded from the hub ({type(error).__name__}: {reason}). "
            "Get the file by other means, and give its path: NAME=PATH."
        ) from error
    for number, columns in enumerate(table, start=1):
        yield Row(f"{place}: row {number}", columns)


def sample(questions: Iterable[Question], size: int | None, *, seed: int) -> tuple[Question, ...]:
    """
    *size* of the questions in their own order; all if there are fewer, or *size* is None.

    The choice depends on the seed and the ids only, not on the order of the file or on the other questions. A larger
    sample with the same seed includes every smaller one. Only the chosen questions are kept in memory.
    """
    if size is None:
        return tuple(questions)
    taken = heapq.nsmallest(size, enumerate(questions), key=lambda place: rank(place[1].id, seed))
    return tuple(question for _, question in sorted(taken, key=lambda place: place[0]))


def would_be_sampled(questions: QuestionSet, question_id: str) -> bool:
    origin = questions.origin
    if origin is None or origin.samples is None or len(questions.questions) < origin.samples:
        return True
    last = max(rank(question.id, origin.seed) for question in questions.questions)
    return rank(question_id, origin.seed) <= last


def rank(question_id: str, seed: int) -> str:
    """The sample takes the lowest ranks."""
    return hashlib.sha256(f"{seed}:{question_id}".encode()).hexdigest()
