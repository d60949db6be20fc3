"""`ragcheck report` over several runs, and over the history of a baseline in git."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from datetime import datetime, timezone
from typing import TYPE_CHECKING, Any

import pytest

from pytest_ragcheck.redaction import Redactor
from pytest_ragcheck.report.files.result_files import write_results
from pytest_ragcheck.summary.aggregate import aggregate
from pytest_ragcheck.verdict.verdict import Verdict
from tests.making import some_outcomes
from tests.report.results import ERRORED, FAILED, PASSED
from tests.summary.test_predictions_reader_git import git

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from pytest_ragcheck.verdict.record import Record

    Ragcheck = Callable[..., tuple[int, str, str]]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def a_run(path: Path, day: int, *records: Record, **said: Any) -> None:
    outcomes = some_outcomes(*records, timestamp=datetime(2026, 11, day, tzinfo=timezone.utc), **said)
    write_results(outcomes, aggregate(outcomes), path, Redactor())


def data(path: Path) -> Any:
    """The JSON value that the page's script reads."""
    (found,) = re.findall(r'<script type="application/json" id="report">(.*?)</script>', path.read_text("utf-8"))
    return json.loads(found)


def outcomes_of(path: Path) -> dict[str, str]:
    return {row["id"]: row["outcomes"] for row in data(path)["rows"]}


def passes(record: Record) -> Record:
    return replace(record, verdict=Verdict.PASS, reason="")


def test_several_runs_become_a_trend_in_the_order_of_their_time(folder: Path, ragcheck: Ragcheck) -> None:
    a_run(folder / "tuesday", 3, PASSED, FAILED, ERRORED)
    a_run(folder / "monday", 2, PASSED, passes(FAILED))
    output = folder / "deep" / "trend.html"
    assert ragcheck("report", "tuesday", "monday/rag", "-o", "deep/trend.html") == (0, "written: deep/trend.html\n", "")
    assert outcomes_of(output) == {"prices": "PF", "hours": " E", "terms": "PP"}
    assert [run["title"] for run in data(output)["runs"]] == [
        "1: 2026-11-02 00:00 UTC, monday/rag_predictions.json",
        "2: 2026-11-03 00:00 UTC, tuesday/rag_predictions.json",
    ]
    bad = data(output)["rows"][0]
    assert (bad["bad"], bad["good"], bad["badReason"]) == (1, 0, "giraffes are nowhere in the contexts")


def test_runs_without_any_answer_have_a_trend_too(folder: Path, ragcheck: Ragcheck) -> None:
    a_run(folder / "monday", 2, ERRORED)
    a_run(folder / "tuesday", 3, ERRORED)
    assert ragcheck("report", "monday", "tuesday", "-o", "trend.html") == (0, "written: trend.html\n", "")
    assert outcomes_of(folder / "trend.html") == {"hours": "EE"}
    assert "not measured" in (folder / "trend.html").read_text("utf-8")


def test_a_partial_run_is_labelled(folder: Path, ragcheck: Ragcheck) -> None:
    a_run(folder / "monday", 2, PASSED)
    a_run(folder / "tuesday", 3, PASSED, complete=False, cut_short="the run was given single tests")
    assert ragcheck("report", "monday", "tuesday", "-o", "trend.html")[0] == 0
    assert [run["title"].endswith(", partial") for run in data(folder / "trend.html")["runs"]] == [False, True]


@pytest.fixture
def history(folder: Path, ragcheck: Ragcheck) -> Path:
    """A repository with three versions of a baseline, and the run of today."""
    git(folder, "init", "-q")
    baseline = folder / "tests" / "baseline.json"
    for day, record in ((2, passes(FAILED)), (3, FAILED), (4, FAILED)):
        a_run(folder / f"day-{day}", day, PASSED, record)
        assert ragcheck("baseline", "save", f"day-{day}", "-o", str(baseline))[0] == 0
        git(folder, "add", "tests")
        git(folder, "commit", "-q", "-m", f"day {day}")
        git(folder, "tag", f"day-{day}")
    a_run(folder / "today", 5, PASSED, FAILED, ERRORED)
    return baseline


def test_the_history_of_a_baseline_comes_from_git(folder: Path, history: Path, ragcheck: Ragcheck) -> None:
    git(folder, "rm", "-q", "tests/baseline.json")
    git(folder, "commit", "-q", "-m", "gone")
    assert ragcheck("report", "git:HEAD:tests/baseline.json", "today", "-o", "trend.html") == (
        0,
        "written: trend.html\n",
        "",
    )
    assert outcomes_of(folder / "trend.html") == {"prices": "PFFF", "hours": "   E", "terms": "PPPP"}
    titles = [run["title"] for run in data(folder / "trend.html")["runs"]]
    assert re.fullmatch(r"1: 2026-11-02 00:00 UTC, baseline\.json in commit [0-9a-f]{7,}", titles[0])
    assert ragcheck("report", "git:day-2..day-4:tests/baseline.json", "-o", "trend.html")[0] == 0
    assert outcomes_of(folder / "trend.html") == {"prices": "FF", "terms": "PP"}


def test_a_run_that_is_in_the_history_too_counts_once(folder: Path, history: Path, ragcheck: Ragcheck) -> None:
    assert ragcheck("report", "git:HEAD:tests/baseline.json", "day-4", "-o", "trend.html")[0] == 0
    titles = [run["title"] for run in data(folder / "trend.html")["runs"]]
    assert len(titles) == 3
    assert titles[2].endswith(", day-4/rag_predictions.json")


def test_the_baseline_of_the_folder_is_one_run(folder: Path, history: Path, ragcheck: Ragcheck) -> None:
    assert ragcheck("report", str(history), "today", "-o", "trend.html")[0] == 0
    assert outcomes_of(folder / "trend.html") == {"prices": "FF", "hours": " E", "terms": "PP"}


def test_wrong_usage_is_reported(folder: Path, history: Path, ragcheck: Ragcheck) -> None:
    def complaint(*arguments: str) -> str:
        status, _, told = ragcheck("report", *arguments)
        assert status == 2
        return told.removeprefix("ragcheck report: ")

    assert complaint("today", "day-2", "-o", "t.csv") == (
        "-o: a trend is a page, and t.csv does not end in .html. Give one run, or -o FILE.html.\n"
    )
    assert complaint("today", "day-2", "--gate=each") == (
        "a trend shows what the runs recorded. Give one run, or leave --baseline, --gate and --set out.\n"
    )
    assert complaint("today", "nowhere").startswith("nowhere: there is no such file. Give the {agent}_predictions.json")
    assert complaint("git:HEAD", "-o", "t.html").startswith(
        "RESULTS: 'git:HEAD' is not git:REV:PATH; write, for example, "
    )
    assert complaint("git:HEAD:other.json") == (
        "other.json: no commit of HEAD has it. Give git:REV:PATH of a file that is committed there.\n"
    )
    assert complaint("git:nowhere:tests/baseline.json").startswith("baseline.json: git does not have it (fatal: ")
    history.write_text('{"schema_version": "1", "predictions": []}', encoding="utf-8")
    git(folder, "commit", "-q", "-a", "-m", "damaged")
    told = complaint("git:HEAD~1..HEAD:tests/baseline.json")
    assert re.match(r'baseline\.json in commit [0-9a-f]+: the file has nothing under "agent_name"\. Restore the', told)


def test_a_damaged_version_is_named_and_left_out_of_the_history(
    folder: Path, history: Path, ragcheck: Ragcheck
) -> None:
    sound = history.read_bytes()
    history.write_text("<<<<<<< HEAD", encoding="utf-8")
    git(folder, "commit", "-q", "-a", "-m", "damaged")
    history.write_bytes(sound.replace(b"2026-11-04", b"2026-11-05"))
    git(folder, "commit", "-q", "-a", "-m", "repaired")
    status, said, told = ragcheck("report", "git:HEAD:tests/baseline.json", "-o", "trend.html")
    assert (status, said) == (0, "written: trend.html\n")
    assert re.fullmatch(r"ragcheck report: left out baseline\.json in commit [0-9a-f]+: line 1 is a merge .*\n", told)
    assert len(data(folder / "trend.html")["runs"]) == 4
