"""The rows of a compact baseline as a trend reads them, and the text about a damaged one."""

from __future__ import annotations

import copy
import json
from typing import TYPE_CHECKING, Any

import pytest

from pytest_ragcheck.errors import UsageError
from pytest_ragcheck.summary.trend import circumstances, read_run

if TYPE_CHECKING:
    from pathlib import Path

JUDGE = {"kind": "openai", "model": "gpt-5", "url": None, "prompt_version": "en-2", "parameters": '{"seed": 1}'}
ANSWERS = [
    {"verdict": "FAIL", "prediction": "45 days", "metrics": {"f1": 0.1}, "judge": JUDGE},
    {
        "verdict": "PASS", "prediction": "30 days", "metrics": {"f1": 0.9}, "judge": JUDGE,
        "judgement": {"served_by": "gpt-5-2026 fp_1"},
    },
]  # fmt: skip
ROW = {
    "question_id": "terms", "dataset_name": "billing", "question": "How long?", "thresholds": {"f1": 0.5},
    "tier": "end-to-end", "top_k": 5, "answers": ANSWERS, "runs": [[0], [1]],
}  # fmt: skip


def written(path: Path, **row: Any) -> Path:
    document = {
        "schema_version": "1", "agent_name": "rag", "complete": True, "timestamp": "2026-11-02T01:00:00+02:00",
        "predictions": [{**copy.deepcopy(ROW), **row}], "errors": [],
    }  # fmt: skip
    path.write_text(json.dumps(document), encoding="utf-8")
    return path


def test_a_compact_row_has_its_latest_answer(tmp_path: Path) -> None:
    run = read_run(written(tmp_path / "b.json"))
    (row,) = run.rows.values()
    assert run.ended.isoformat() == "2026-11-01T23:00:00+00:00"
    assert (row.verdict.value, row.answer, row.metrics) == ("PASS", "30 days", {"f1": 0.9})
    assert row.served_by == "gpt-5-2026 fp_1"
    assert circumstances(row, run.agent_name) == {
        "agent": "rag",
        "judge": "openai gpt-5",
        "prompt": "en-2",
        "judge's parameters": '{"seed": 1}',
        "tier": "end-to-end",
        "top_k": "5",
        "minimum": "f1 0.5",
    }


@pytest.mark.parametrize(
    ("row", "found"),
    [
        ({"verdict": "MAYBE"}, '"MAYBE" under "verdict"'),
        ({"runs": [[2]]}, '[[2]] under "runs"'),
        ({"runs": None}, 'null under "runs"'),
        ({"runs": [[]]}, '[[]] under "runs"'),
        ({"answers": 3}, '[[0], [1]] under "runs"'),
        ({"answers": ["a", "b"]}, '[[0], [1]] under "runs"'),
        ({"answers": [{**ANSWERS[1], "judge": 3}] * 2}, '3 under "judge"'),
        ({"answers": [{**ANSWERS[1], "metrics": {"f1": "high"}}] * 2}, '{"f1": "high"} under "metrics"'),
        ({"verdict": "PASS", "thresholds": []}, '[] under "thresholds"'),
    ],
)
def test_a_damaged_row_is_named(tmp_path: Path, row: dict[str, Any], found: str) -> None:
    path = written(tmp_path / "b.json", **row)
    with pytest.raises(UsageError) as caught:
        read_run(path)
    assert str(caught.value).startswith(f"{path}: predictions[0]")
    assert f" has {found}. Restore the file as the run wrote it." in str(caught.value)


def test_a_damaged_judge_is_named_where_it_is(tmp_path: Path) -> None:
    judge = {**JUDGE, "prompt_version": 2}
    path = written(tmp_path / "b.json", answers=[{**ANSWERS[1], "judge": judge}] * 2)
    with pytest.raises(UsageError) as caught:
        read_run(path)
    assert 'predictions[0], under "judge", has 2 under "prompt_version".' in str(caught.value)


def test_a_time_that_ends_in_z_is_in_utc(tmp_path: Path) -> None:
    path = written(tmp_path / "b.json")
    path.write_text(path.read_text("utf-8").replace("2026-11-02T01:00:00+02:00", "2026-11-02T01:00:00Z"), "utf-8")
    assert read_run(path).ended.isoformat() == "2026-11-02T01:00:00+00:00"


@pytest.mark.parametrize("timestamp", ["0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-12:00"])
def test_a_time_outside_the_calendar_of_utc_is_reported(tmp_path: Path, timestamp: str) -> None:
    path = written(tmp_path / "b.json")
    path.write_text(path.read_text("utf-8").replace("2026-11-02T01:00:00+02:00", timestamp), encoding="utf-8")
    with pytest.raises(UsageError, match=f'"{timestamp[:10]}.* under "timestamp"'):
        read_run(path)
