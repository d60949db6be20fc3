"""`ragcheck report`, from result files to a report."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from pytest_ragcheck.redaction import Redactor
from pytest_ragcheck.report.files import write_results
from pytest_ragcheck.summary.aggregate import aggregate
from tests.making import some_outcomes
from tests.report.results import ERRORED, FAILED, PASSED

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    Ragcheck = Callable[..., tuple[int, str, str]]


@pytest.fixture
def results(tmp_path: Path) -> Path:
    outcomes = some_outcomes(PASSED, FAILED, ERRORED)
    write_results(outcomes, aggregate(outcomes), tmp_path / "results", Redactor())
    return tmp_path / "results"


@pytest.mark.parametrize(
    ("name", "beginning"),
    [
        ("r.html", "<!doctype html>"),
        ("deep/r.HTM", "<!doctype html>"),
        ("r.md", "## ❌ rag: billing: 1 FAIL, 1 ERROR"),
        ("r.csv", "dataset_name,question_id,"),
        ("r.jsonl", '{"dataset_name": "billing", "question_id": "terms"'),
    ],
)
def test_the_ending_says_what_is_made(results: Path, ragcheck: Ragcheck, name: str, beginning: str) -> None:
    output = results.parent / name
    assert ragcheck("report", str(results), "-o", str(output)) == (0, f"written: {output}\n", "")
    assert output.read_text(encoding="utf-8").startswith(beginning)


def test_expected_answers_and_changes_are_in_it(results: Path, ragcheck: Ragcheck) -> None:
    output = results.parent / "r.html"
    assert ragcheck("report", str(results / "rag"), "--baseline", str(results), "-o", str(output))[0] == 0
    text = output.read_text(encoding="utf-8")
    assert '"expected":["30 days"]' in text
    assert '"change":"still failing"' in text


def test_partial_results_have_a_report(results: Path, ragcheck: Ragcheck) -> None:
    outcomes = some_outcomes(PASSED, complete=False, cut_short="the run was given single tests")
    write_results(outcomes, aggregate(outcomes), results / "partial", Redactor())
    assert ragcheck("report", str(results / "partial"), "-o", str(results / "r.html"))[0] == 0
    assert "partial: not every question was run" in (results / "r.html").read_text(encoding="utf-8")


def test_wrong_usage_is_told(results: Path, ragcheck: Ragcheck) -> None:
    def complaint(*arguments: str) -> str:
        status, _, told = ragcheck("report", *arguments)
        assert status == 2
        return told.removeprefix("ragcheck report: ").replace(str(results), "RESULTS")

    html = ("-o", str(results / "r.html"))
    assert complaint(str(results), "-o", "r.pdf") == (
        "-o: r.pdf ends in none of .html, .htm, .md, .csv, .jsonl. Choose one of them.\n"
    )
    assert complaint(str(results / "none"), *html).startswith("RESULTS/none: there is no such file. Give the ")
    assert complaint(str(results / "rag_summary.json"), *html) == (
        "RESULTS/rag_summary.json: it is a summary. Give the {agent}_predictions.json of a run.\n"
    )
    assert complaint(str(results), "-o", str(results / "rag_summary.json" / "r.md")).startswith(
        "RESULTS/rag_summary.json/r.md: cannot be written ("
    )
    document = json.loads((results / "rag_predictions.json").read_text(encoding="utf-8"))
    (results / "odd.json").write_text(json.dumps({**document, "predictions": [{}]}), encoding="utf-8")
    assert complaint(str(results / "odd.json"), *html) == (
        "RESULTS/odd.json: it has rows that no run wrote. Give the {agent}_predictions.json of a run.\n"
    )
    (results / "rag_summary.json").write_text("{}", encoding="utf-8")
    assert complaint(str(results), *html) == (
        "RESULTS/rag_summary.json: it is no summary of a run. Keep the files of a run together.\n"
    )
    (results / "rag_summary.json").write_text("{", encoding="utf-8")
    assert complaint(str(results), *html) == (
        "RESULTS/rag_summary.json: it is not JSON. Take the files as the run wrote them.\n"
    )
    (results / "rag_summary.json").unlink()
    assert complaint(str(results), *html) == (
        "RESULTS/rag_summary.json: it cannot be read (No such file or directory). Keep the files of a run together.\n"
    )
