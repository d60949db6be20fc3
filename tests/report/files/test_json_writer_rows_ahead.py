from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from pytest_ragcheck.redaction import REDACTED, Redactor
from pytest_ragcheck.report.files.json_writer import RowsAhead
from pytest_ragcheck.report.files.result_files import write_results
from pytest_ragcheck.summary.aggregate import aggregate
from tests.making import a_record, an_error, some_outcomes
from tests.report.folders import content, names

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

SECRET = "sk-0123456789abcdef"


@pytest.fixture
def rows(tmp_path: Path) -> Iterator[RowsAhead]:
    ahead = RowsAhead(tmp_path / "ahead", Redactor([SECRET]))
    yield ahead
    ahead.close()


def test_rows_that_were_encoded_ahead_make_the_same_file(rows: RowsAhead, tmp_path: Path) -> None:
    records = [
        a_record("a", answer=f"Köln 😀 {SECRET}", latency_seconds=1 / 3),
        an_error("b"),
        a_record("c", contexts=("line\nline", '"quoted"')),
    ]
    for record in reversed(records):
        rows.add(record)
    assert rows.row_of(records[1]) is None
    assert all(rows.row_of(source) for record in (records[0], records[2]) for source in (record, record.question))
    outcomes = some_outcomes(*records)
    ahead = write_results(outcomes, aggregate(outcomes), tmp_path / "ahead", Redactor([SECRET]), encoded=rows.row_of)
    now = write_results(outcomes, aggregate(outcomes), tmp_path / "now", Redactor([SECRET]))
    assert ahead.predictions.read_bytes() == now.predictions.read_bytes()
    assert [file.read_bytes() for file in ahead.questions] == [file.read_bytes() for file in now.questions]
    assert REDACTED in ahead.predictions.read_text(encoding="utf-8")
    assert names(tmp_path / "ahead") == names(tmp_path / "now")


def test_a_row_is_that_of_the_last_record_of_its_question(rows: RowsAhead, tmp_path: Path) -> None:
    first, again = a_record("a", answer="first"), a_record("a", answer="again")
    rows.add(first)
    rows.add(again)
    assert rows.row_of(first) is None
    assert rows.row_of(replace(again)) is None
    outcomes = some_outcomes(again)
    files = write_results(outcomes, aggregate(outcomes), tmp_path, Redactor(), encoded=rows.row_of)
    assert [row["prediction"] for row in content(files.predictions)["predictions"]] == ["again"]


def test_a_tolerated_failure_has_its_reason_in_the_row(rows: RowsAhead, tmp_path: Path) -> None:
    rows.add(record := a_record("a"))
    outcomes = some_outcomes(record, tolerated={record.question.key: "known"})
    files = write_results(outcomes, aggregate(outcomes), tmp_path, Redactor(), encoded=rows.row_of)
    assert content(files.predictions)["predictions"][0]["tolerated"] == "known"


def test_without_a_folder_there_are_no_rows_ahead(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    rows = RowsAhead(tmp_path / "file" / "results", Redactor())
    rows.add(record := a_record("a"))
    assert rows.row_of(record) is None
    rows.close()


FULL_DISK = """
import resource, signal, sys
from pathlib import Path
from pytest_ragcheck.redaction import Redactor
from pytest_ragcheck.report.files.json_writer import RowsAhead
from tests.making import a_record

signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (10_000, resource.RLIM_INFINITY))
rows = RowsAhead(Path(sys.argv[1]), Redactor())
records = [a_record(str(n), answer="x" * 5_000) for n in range(10)]
for record in records:
    rows.add(record)
print({rows.row_of(record) for record in records})
rows.close()
"""


@pytest.mark.skipif(sys.platform == "win32", reason="no limit of a file's size")
def test_on_a_full_disk_there_are_no_rows_ahead(tmp_path: Path) -> None:
    command = [sys.executable, "-W", "error", "-c", FULL_DISK, str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr) == ("{None}\n", "")
    assert names(tmp_path) == []
