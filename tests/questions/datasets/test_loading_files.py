"""Dataset files in each compression and form, and broken ones."""

from __future__ import annotations

import bz2
import gzip
import json
import lzma
import sys
import zipfile
from typing import TYPE_CHECKING, Any

import pytest

from pytest_ragcheck.errors import DatasetError, UsageError
from pytest_ragcheck.questions.datasets.loading import files_at, rows_of_file

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

ROWS = [{"q": "Äh?"}, {"q": "b"}, {"q": "c"}]
LINES = "".join(json.dumps(row) + "\n" for row in ROWS)


def columns(path: Path) -> list[Any]:
    return [row.columns for row in rows_of_file(path)]


def places(path: Path) -> list[str]:
    return [row.place for row in rows_of_file(path)]


def saved(folder: Path, content: bytes | str, name: str = "rows") -> Path:
    path = folder / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def zipped(content: bytes) -> bytes:
    import io

    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        archive.writestr("folder/", b"")
        archive.writestr("folder/dev.json", content)
        archive.writestr("__MACOSX/folder/._dev.json", b"x")
    return stream.getvalue()


CUT_SHORT = "Compressed file ended before the end-of-stream marker was reached"
"""Python's message about it."""

PACKINGS: dict[str, Callable[[bytes], bytes]] = {
    "plain": bytes,
    "gz": gzip.compress,
    "bz2": bz2.compress,
    "xz": lzma.compress,
    "zip": zipped,
}


@pytest.mark.parametrize("packing", PACKINGS)
@pytest.mark.parametrize("text", [LINES, json.dumps(ROWS), json.dumps(ROWS, indent=2), "\ufeff\n" + LINES + "\n"])
def test_json_and_json_lines_are_read_however_they_are_packed(tmp_path: Path, packing: str, text: str) -> None:
    # The content decides, not the name.
    assert columns(saved(tmp_path, PACKINGS[packing](text.encode()))) == ROWS


def test_a_row_has_its_line_or_its_number(tmp_path: Path) -> None:
    assert places(saved(tmp_path, "\n" + LINES, "a.jsonl")) == ["a.jsonl: line 2", "a.jsonl: line 3", "a.jsonl: line 4"]
    assert places(saved(tmp_path, json.dumps(ROWS), "a.json")) == ["a.json: row 1", "a.json: row 2", "a.json: row 3"]


def test_one_object_is_one_row_unless_the_dataset_unfolds_it(tmp_path: Path) -> None:
    path = saved(tmp_path, '{"rows": [{"q": "a"}, {"q": "b"}]}', "a.json")
    assert columns(path) == [{"rows": [{"q": "a"}, {"q": "b"}]}]
    assert [row.columns for row in rows_of_file(path, lambda whole: whole.rows("rows"))] == [{"q": "a"}, {"q": "b"}]
    assert [row.place for row in rows_of_file(path, lambda _: None)] == ["a.json"]


@pytest.mark.parametrize("packing", PACKINGS)
def test_parquet_is_read_however_it_is_packed(tmp_path: Path, packing: str) -> None:
    path = saved(tmp_path, PACKINGS[packing](parquet_bytes(tmp_path)))
    assert columns(path) == ROWS
    assert places(path) == ["rows: row 1", "rows: row 2", "rows: row 3"]


def test_a_broken_parquet_file_is_said(tmp_path: Path) -> None:
    path = saved(tmp_path, parquet_bytes(tmp_path)[:-20], "a.parquet")
    with pytest.raises(DatasetError, match=r"^a.parquet: expected parquet behind row 0, found a broken file \("):
        columns(path)


def test_parquet_without_pyarrow_names_the_extra(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(UsageError) as caught:
        columns(saved(tmp_path, b"PAR1....PAR1", "test.parquet"))
    assert str(caught.value) == (
        'test.parquet: is a parquet file, which needs pyarrow: pip install "pytest-ragcheck[datasets]". '
        "Or give the dataset as JSON or JSON Lines."
    )


def parquet_bytes(folder: Path) -> bytes:
    arrow = pytest.importorskip("pyarrow", reason="parquet needs pyarrow, of the extra 'datasets'")
    parquet = pytest.importorskip("pyarrow.parquet")
    parquet.write_table(arrow.Table.from_pylist(ROWS), folder / "written.parquet")
    return (folder / "written.parquet").read_bytes()


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        ("", "expected rows, found an empty file."),
        (" \n\n", "expected rows, found an empty file."),
        ("7", "expected a list of rows, found the number 7."),
        ('[{"q": 1}, 7]', "row 2: expected an object, found the number 7."),
        ('{"q": 1}\n[7]\n', "line 2: expected a JSON object, found a list of 1."),
        (
            '{"q": 1}\n{"q": 2}\n\n{"q": \n',
            "line 4: expected a JSON object, found a broken one (Expecting value at column 6).",
        ),
        (
            '{"q": 1}\n{"q": "cut',
            "line 2: expected a JSON object, found a broken one (Unterminated string starting at column 7).",
        ),
        (
            '[{"q": 1},\n {"q": }]\n',
            "expected JSON, JSON Lines or parquet, found broken JSON (Expecting value: line 2 column 8 (char 18)).",
        ),
        (b'{"q": "\xff"}', "expected UTF-8 text or parquet, found byte 0xff in its text."),
        (
            gzip.compress(LINES.encode(), mtime=0)[:-12],
            f"cannot be decompressed ({CUT_SHORT}). Download the file again.",
        ),
        (b"PK\x03\x04 and no more", "cannot be decompressed (File is not a zip file). Download the file again."),
    ],
)
def test_a_broken_file_says_what_and_where(tmp_path: Path, content: bytes | str, problem: str) -> None:
    with pytest.raises(DatasetError) as caught:
        columns(saved(tmp_path, content, "dev.json"))
    assert str(caught.value) == f"dev.json: {problem}"


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        ("[" * 100_000 + "]" * 100_000, "expected JSON, JSON Lines or parquet, found broken JSON ("),
        (
            '{"q": 1}\n{"q": ' + "[" * 100_000 + "]" * 100_000 + "}",
            "line 2: expected a JSON object, found one that nests",
        ),
    ],
    ids=["whole", "line"],
)
def test_a_file_that_nests_too_deep_is_broken(tmp_path: Path, content: str, problem: str) -> None:
    with pytest.raises(DatasetError) as caught:
        columns(saved(tmp_path, content, "dev.json"))
    assert str(caught.value).startswith(f"dev.json: {problem}")


def test_an_archive_of_several_files_is_refused_with_their_names(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "all.zip", "w") as archive:
        archive.writestr("train.json", b"[]")
        archive.writestr("dev.json", b"[]")
    with pytest.raises(DatasetError) as caught:
        columns(tmp_path / "all.zip")
    assert str(caught.value) == (
        "all.zip: expected one file in it, found train.json, dev.json. Unpack it, and name the file."
    )


def test_the_files_of_a_split_are_found_in_a_folder_and_in_the_subset_s_own(tmp_path: Path) -> None:
    for name in (
        "covidqa/test-00001.parquet",
        "covidqa/test-00000.parquet",
        "covidqa/train.jsonl",
        "test.md",
        "test.json",
    ):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        saved(tmp_path, "[]", name)
    found = files_at(tmp_path, subset="covidqa", split="test")
    assert [path.name for path in found] == ["test-00000.parquet", "test-00001.parquet"]
    assert [path.name for path in files_at(tmp_path / "covidqa", subset="covidqa", split="train")] == ["train.jsonl"]
    assert files_at(tmp_path / "test.json", subset=None, split="dev") == [tmp_path / "test.json"]
    with pytest.raises(DatasetError) as caught:
        files_at(tmp_path, subset="covidqa", split="dev")
    assert str(caught.value) == (
        f"{tmp_path / 'covidqa'}: expected a file whose name begins with the split 'dev', found test-00000.parquet, "
        f"test-00001.parquet, train.jsonl. Name the file itself, or another split with @SPLIT."
    )


def test_a_path_that_leads_nowhere_is_said(tmp_path: Path) -> None:
    with pytest.raises(DatasetError) as caught:
        files_at(tmp_path / "x.json", subset=None, split="dev")
    assert str(caught.value) == (
        f"{tmp_path / 'x.json'}: there is no such file or folder. Give the path of the dataset's file."
    )
    with pytest.raises(DatasetError, match=r"cannot be read \(.+\)\.$"):
        list(rows_of_file(tmp_path))
