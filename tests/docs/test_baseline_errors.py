"""The page of a baseline's errors shows the real text of every error."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pytest_ragcheck.errors import UsageError
from pytest_ragcheck.report.files.output_folder import check_outside
from pytest_ragcheck.summary.gate.baseline_reader import read_baseline
from tests.baselines import passed, predictions
from tests.docs.error_pages import shown_on

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "errors" / "baseline.md"

FOLDER = object()
"""Stands for a folder of the file's name."""

IN_OUTPUT = object()
"""Stands for a file in the output folder."""

CONTEXTS = object()
"""Stands for a file with a damaged contexts file beside it."""

ROW = passed("refund-window")
CASES: dict[str, object] = {
    "There is no such file": None,
    "The file is in the output folder": IN_OUTPUT,
    "The file cannot be read": FOLDER,
    "The file is not UTF-8": b"\xff\xfe{\x00}\x00",
    "The file has a merge conflict": b'{\n  "complete": true,\n<<<<<<< HEAD\n',
    "The file is not JSON": b'{\n  "complete": true,\n  runs\n',
    "The JSON cannot be read": b"[" * 200_000,
    "A summary": {"overall_metrics": {}, "datasets": {}},
    "A questions file": {"dataset_name": "billing", "questions": []},
    "Something else": {"results": []},
    "A partial run": predictions(ROW, complete=False),
    "Predictions without a version": {"predictions": []},
    "Predictions of another version": predictions(ROW, schema_version="2"),
    "There are no questions": predictions(),
    "A list is missing": {key: value for key, value in predictions(ROW).items() if key != "errors"},
    "A row is not an object": predictions(predictions=["refund-window"]),
    "A field has an unexpected value": predictions({**ROW, "verdict": "passed"}),
    "A question has two rows": predictions(ROW, ROW),
    "The texts of contexts cannot be read": CONTEXTS,
}


def produced(content: object, path: Path) -> str:
    """The error about a baseline with the content."""
    if content is FOLDER:
        path.mkdir()
    elif content is CONTEXTS:
        path.write_text(json.dumps(predictions(ROW)))
        path.with_name("baseline.contexts.json").write_text('{"contexts": {"ab": 7}}')
    elif content not in (None, IN_OUTPUT):
        path.write_bytes(content if isinstance(content, bytes) else json.dumps(content).encode())
    with pytest.raises(UsageError) as caught:  # noqa: PT012 - either check may refuse the file
        check_outside(path, path.parent if content is IN_OUTPUT else path.parent / "results", name=path.name)
        read_baseline(path, name=path.name)
    return str(caught.value)


def test_every_block_of_the_page_has_its_case_and_every_case_its_block() -> None:
    assert list(shown_on(PAGE)) == list(CASES)


@pytest.mark.parametrize("heading", CASES)
def test_the_page_shows_what_a_user_sees(heading: str, tmp_path: Path) -> None:
    assert shown_on(PAGE).get(heading) == produced(CASES[heading], tmp_path / "baseline.json")
