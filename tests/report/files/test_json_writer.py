from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_ragcheck.errors import ResultsError
from pytest_ragcheck.redaction import Redactor
from pytest_ragcheck.report.files.json_writer import JsonWriter, rounded
from tests.report.folders import content, names

if TYPE_CHECKING:
    from pathlib import Path


def test_rounding_reaches_every_number_but_the_users() -> None:
    document = {"a": [1 / 3, {"b": 2 / 3, "metadata": {"c": 1 / 3}}], "n": 1, "t": True, "x": None}
    assert rounded(document) == {
        "a": [0.333333, {"b": 0.666667, "metadata": {"c": 1 / 3}}], "n": 1, "t": True, "x": None,
    }  # fmt: skip


def test_a_folder_that_cannot_be_made_is_named_with_what_to_do(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    path = tmp_path / "file" / "x.json"
    with pytest.raises(ResultsError) as caught:
        JsonWriter(path.parent, Redactor()).write("x.json", {})
    assert str(caught.value) == (
        f"{path}: cannot be written (File exists). Free some space, allow writing there, or use another folder."
    )
    assert caught.value.path == path


def test_a_file_that_cannot_be_replaced_leaves_no_temporary_one(tmp_path: Path) -> None:
    (tmp_path / "x.json" / "inside").mkdir(parents=True)
    with pytest.raises(ResultsError, match=r"x\.json: cannot be written \(Is a directory\)"):
        JsonWriter(tmp_path, Redactor()).write("x.json", {})
    assert names(tmp_path) == ["x.json"]


FULL_DISK = """
import json, resource, signal, sys
from pathlib import Path
from pytest_ragcheck.errors import ResultsError
from pytest_ragcheck.redaction import Redactor
from pytest_ragcheck.report.files.json_writer import JsonWriter

signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
before = resource.getrlimit(resource.RLIMIT_FSIZE)
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[2]), before[1]))
try:
    JsonWriter(Path(sys.argv[1]), Redactor()).write("x.json", {"new": "x" * 100_000})
except ResultsError as error:
    print(error)
finally:
    resource.setrlimit(resource.RLIMIT_FSIZE, before)
"""


@pytest.mark.parametrize("room", [0, 1, 50_000])
def test_without_room_the_old_file_stays_whole_and_no_temporary_one_is_left(tmp_path: Path, room: int) -> None:
    path = JsonWriter(tmp_path, Redactor()).write("x.json", {"old": 1})
    command = [sys.executable, "-c", FULL_DISK, str(tmp_path), str(room)]
    said = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert said == (
        f"{path}: cannot be written (File too large). Free some space, allow writing there, or use another folder.\n"
    )
    assert names(tmp_path) == ["x.json"]
    assert content(path) == {"old": 1}


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)


@given(rows=st.lists(VALUES, max_size=3), head=st.dictionaries(st.text(), VALUES, max_size=2))
def test_a_document_that_is_written_row_by_row_is_the_same_text(
    rows: list[Any], head: dict[str, Any], tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.getbasetemp()
    whole = JsonWriter(folder, Redactor()).write("x.json", {**head, "rows": rows, "empty": []}).read_bytes()
    by_row = (
        JsonWriter(folder, Redactor()).write("x.json", {**head, "rows": iter(rows), "empty": iter(())}).read_bytes()
    )
    assert by_row == whole
    document = Redactor().document({**head, "rows": rows, "empty": []})
    assert whole.decode() == json.dumps(document, ensure_ascii=False, indent=2) + "\n"


def test_a_row_that_cannot_be_made_leaves_the_old_file_whole(tmp_path: Path) -> None:
    path = JsonWriter(tmp_path, Redactor()).write("x.json", {"old": 1})
    with pytest.raises(ZeroDivisionError):
        JsonWriter(tmp_path, Redactor()).write("x.json", {"rows": (1 / n for n in (2, 1, 0))})
    assert content(path) == {"old": 1}
    assert names(tmp_path) == ["x.json"]
