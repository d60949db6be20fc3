"""`ragcheck baseline save`: what is kept of a run, and what comes of several."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from pytest_ragcheck.report.flaky import QUARANTINE
from pytest_ragcheck.summary.baseline import read_baseline
from tests.baselines import errored, failed, passed, predictions

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


@pytest.fixture
def save(
    tmp_path: Path, ragcheck: Callable[..., tuple[int, str, str]], monkeypatch: pytest.MonkeyPatch
) -> Callable[..., tuple[int, str, str]]:
    """Saves a run with these rows into baseline.json."""
    monkeypatch.chdir(tmp_path)

    def saved(*rows: dict[str, Any], **top: Any) -> tuple[int, str, str]:
        (tmp_path / "run.json").write_text(json.dumps(predictions(*rows, **top)), encoding="utf-8")
        return ragcheck("baseline", "save", "run.json")

    return saved


def test_what_a_gate_needs_is_kept_and_no_answer(save: Callable[..., tuple[int, str, str]], tmp_path: Path) -> None:
    status, printed, _ = save(passed("terms"), failed("prices"), errored("hours"))
    assert (status, printed) == (0, "baseline.json: 3 questions of 2126-11-05T12:30:00+00:00\n")
    text = (tmp_path / "baseline.json").read_text(encoding="utf-8")
    assert "The window is 30 days." not in text
    rows = read_baseline(tmp_path / "baseline.json", name="b").rows
    assert [(row.id, row.verdict.value, row.passes, row.fails) for row in rows.values()] == [
        ("terms", "PASS", 1, 0),
        ("prices", "FAIL", 0, 1),
        ("hours", "ERROR", 0, 0),
    ]
    assert rows["billing", "terms"].metrics == {"answer_correctness": 0.95, "groundedness": 0.91}


def test_a_question_that_passed_and_failed_is_named_as_flaky(
    save: Callable[..., tuple[int, str, str]], tmp_path: Path
) -> None:
    save(passed("terms"), passed("prices"), passed("hours"))
    save(passed("terms"), failed("prices"), failed("hours", question="Another?"), timestamp="2126-11-06T00:00:00+00:00")
    status, printed, _ = save(
        passed("terms"), passed("prices"), failed("hours", question="Another?"), timestamp="2126-11-07T00:00:00+00:00"
    )
    assert (status, printed.splitlines()[1:]) == (0, ["flaky: billing::prices passed 2 of 3 times", QUARANTINE])
    rows = read_baseline(tmp_path / "baseline.json", name="b").rows
    assert [(row.passes, row.fails) for row in rows.values()] == [(3, 0), (2, 1), (0, 2)]


def test_a_partial_run_is_refused(save: Callable[..., tuple[int, str, str]], tmp_path: Path) -> None:
    assert save(passed("terms"), complete=False) == (
        2,
        "",
        (
            'ragcheck baseline save: run.json: "complete" is false: it is of a partial run, which cannot tell what is '
            "missing. Give the {agent}_predictions.json of a full run.\n"
        ),
    )
    assert not (tmp_path / "baseline.json").exists()


def test_a_file_that_is_none_is_not_written_over(save: Callable[..., tuple[int, str, str]], tmp_path: Path) -> None:
    (tmp_path / "baseline.json").write_text('{"mine": 1}', encoding="utf-8")
    status, _, error = save(passed("terms"))
    assert (status, error) == (
        2,
        (
            "ragcheck baseline save: baseline.json: it is not a predictions file. Give -o another file, or move that "
            "one away.\n"
        ),
    )
    assert (tmp_path / "baseline.json").read_text(encoding="utf-8") == '{"mine": 1}'


def test_a_secret_of_the_environment_is_not_written(
    save: Callable[..., tuple[int, str, str]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RAGCHECK_URL", "http://reader:pa55-w0rd-of-url@localhost/query")
    save(passed("terms", question="Is it pa55-w0rd-of-url?"))
    assert "pa55-w0rd-of-url" not in (tmp_path / "baseline.json").read_text(encoding="utf-8")


def test_a_run_is_saved_once(save: Callable[..., tuple[int, str, str]]) -> None:
    save(passed("terms"))
    assert save(passed("terms")) == (
        2,
        "",
        "ragcheck baseline save: run.json: this run was saved into baseline.json before. Save each run once.\n",
    )
