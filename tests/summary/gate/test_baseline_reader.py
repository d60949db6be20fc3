"""What a baseline may be, and what is said of what it may not be."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

import pytest_ragcheck
from pytest_ragcheck.errors import UsageError
from pytest_ragcheck.redaction import Redactor
from pytest_ragcheck.report.files.result_files import write_results
from pytest_ragcheck.summary.aggregate import aggregate
from pytest_ragcheck.summary.gate.baseline_reader import Baseline, BaselineRow, read_baseline
from pytest_ragcheck.verdict.verdict import Verdict
from tests.baselines import errored, failed, passed, predictions
from tests.making import a_question, a_record, an_error, some_outcomes

SCHEMA = Path(pytest_ragcheck.__file__).parent / "summary" / "schemas" / "predictions.schema.json"


def read(folder: Path, content: Any) -> Baseline:
    path = folder / "baseline.json"
    path.write_bytes(content if isinstance(content, bytes) else json.dumps(content).encode())
    return read_baseline(path, name="main.json")


def refusal(folder: Path, content: Any) -> str:
    with pytest.raises(UsageError) as caught:
        read(folder, content)
    return str(caught.value)


def test_the_baselines_of_these_tests_keep_the_published_schema() -> None:
    schema = json.loads(SCHEMA.read_text(encoding="utf-8"))
    Draft202012Validator(schema).validate(predictions(passed(), failed(), errored()))


def test_every_row_is_known_by_dataset_and_id(tmp_path: Path) -> None:
    baseline = read(tmp_path, predictions(passed("a"), errored("b"), failed("a", dataset_name="other")))
    assert list(baseline.rows) == [("billing", "a"), ("other", "a"), ("billing", "b")]
    assert baseline.rows["other", "a"].verdict is Verdict.FAIL
    assert baseline.rows["billing", "b"] == BaselineRow(
        dataset_name="billing",
        id="b",
        question="What about b?",
        verdict=Verdict.ERROR,
        error_kind="endpoint_timeout",
    )


def test_what_a_run_writes_is_read_back(tmp_path: Path) -> None:
    judged: dict[str, Any] = {"scores": {"groundedness": 0.41, "f1": 1 / 3}, "thresholds": {"groundedness": 0.7}}
    records = (
        a_record("a", verdict=Verdict.FAIL, **judged),
        an_error("b"),
        a_record("ü", judge=None, question=a_question("ü", dataset_name="été")),
    )
    outcomes = some_outcomes(*records)
    written = write_results(outcomes, aggregate(outcomes), tmp_path, Redactor())
    rows = read_baseline(written.predictions, name="main.json").rows
    assert set(rows) == {(record.question.dataset_name, record.question.id) for record in records}
    (saved,) = rows["billing", "a"].saved
    assert [(look.text, look.scores, look.passed) for look in saved] == [
        ("30 days", {"groundedness": 0.41, "f1": 0.333333}, False)
    ]
    assert replace(rows["billing", "a"], saved=()) == BaselineRow(
        dataset_name="billing",
        id="a",
        question="What about a?",
        verdict=Verdict.FAIL,
        answer="30 days",
        metrics={"groundedness": 0.41, "f1": 0.333333},
        thresholds={"groundedness": 0.7},
        prompt_version="offline-1",
        judge=("offline", None),
        tier="end_to_end",
        fails=1,
    )
    assert rows["été", "ü"].prompt_version is None


def test_a_byte_order_mark_and_keys_of_later_versions_are_no_mistake(tmp_path: Path) -> None:
    document = predictions({**passed(), "tokens": 3}, judge={"kind": "canned"})
    assert len(read(tmp_path, b"\xef\xbb\xbf" + json.dumps(document).encode()).rows) == 1


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"question_id": None}, 'null under "question_id"'),
        ({"question_id": 7}, '7 under "question_id"'),
        ({"dataset_name": ["billing"]}, '["billing"] under "dataset_name"'),
        ({"question": False}, 'false under "question"'),
        ({"verdict": "pass"}, '"pass" under "verdict"'),
        ({"verdict": "ERROR"}, '"ERROR" under "verdict"'),
        ({"metrics": {"f1": "0.5"}}, '{"f1": "0.5"} under "metrics"'),
        ({"metrics": {"f1": True}}, '{"f1": true} under "metrics"'),
        ({"metrics": {"f1": float("nan")}}, '{"f1": NaN} under "metrics"'),
        ({"thresholds": [0.7]}, '[0.7] under "thresholds"'),
        ({"prompt_version": 1}, '1 under "prompt_version"'),
        ({"question": ["é" * 40]}, '["' + r"\u00e9" * 9 + r'\u00 ... under "question"'),
    ],
)
def test_a_row_that_cannot_be_right_is_named(tmp_path: Path, change: dict[str, Any], text: str) -> None:
    assert refusal(tmp_path, predictions(passed("a"), passed("b", **change))) == (
        f"main.json: predictions[1] has {text}. Take the file as the run wrote it."
    )


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"answers": [{"verdict": "PASS", "metrics": {}}], "runs": [[-1]]}, ' has [[-1]] under "runs"'),
        ({"judgement": {"votes": [1]}}, ', under "judgement", has [1] under "votes"'),
        (
            {"judgement": {"votes": {"groundedness": 3}}},
            ', under "judgement", under "votes", has 3 under "groundedness"',
        ),
    ],
)
def test_an_answer_that_cannot_be_right_is_named(tmp_path: Path, change: dict[str, Any], text: str) -> None:
    assert refusal(tmp_path, predictions(passed("a", **change))) == (
        f"main.json: predictions[0]{text}. Take the file as the run wrote it."
    )


@pytest.mark.parametrize("key", ["question_id", "dataset_name", "question", "kind"])
def test_a_row_of_an_error_that_lacks_something_is_named(tmp_path: Path, key: str) -> None:
    row = {name: value for name, value in errored().items() if name != key}
    assert refusal(tmp_path, predictions(passed(), row)) == (
        f'main.json: errors[0] has nothing under "{key}". Take the file as the run wrote it.'
    )


@pytest.mark.parametrize("content", [b"\xff\xfe{\x00}\x00", b"[" * 200_000, b"9" * 5_000, b'{"predictions": [1, }'])
def test_what_cannot_be_read_is_refused_without_a_traceback(tmp_path: Path, content: bytes) -> None:
    assert refusal(tmp_path, content).startswith("main.json: ")


@pytest.mark.parametrize("content", [None, 1, "text", [], {}, {"predictions": {}}])
def test_json_of_another_kind_is_refused(tmp_path: Path, content: Any) -> None:
    assert refusal(tmp_path, content) == (
        "main.json: it is not a predictions file. Make a baseline with ragcheck baseline save."
    )
