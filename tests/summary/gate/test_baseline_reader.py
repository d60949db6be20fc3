"""Which files are read as a baseline, and the errors about other files."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

import pytest_ragcheck
from pytest_ragcheck.errors import UsageError
from pytest_ragcheck.judging.judgement import JudgeIdentity
from pytest_ragcheck.redaction import Redactor
from pytest_ragcheck.report.files.result_files import write_results
from pytest_ragcheck.summary.aggregate import aggregate
from pytest_ragcheck.summary.gate.baseline_reader import Baseline, BaselineRow, read_baseline
from pytest_ragcheck.verdict.verdict import Verdict
from tests.baselines import errored, failed, passed, predictions
from tests.making import a_question, a_record, an_error, some_outcomes

SCHEMA = Path(pytest_ragcheck.__file__).parent / "summary" / "schemas" / "predictions.schema.json"


LOOK = {"answer": "0123456789abcdef", "scores": {"groundedness": 0.9}, "passed": True}


def read(folder: Path, content: Any) -> Baseline:
    path = folder / "baseline.json"
    path.write_bytes(content if isinstance(content, bytes) else json.dumps(content).encode())
    return read_baseline(path, name="main.json")


def refusal(folder: Path, content: Any) -> str:
    with pytest.raises(UsageError) as caught:
        read(folder, content)
    return str(caught.value)


def test_the_baselines_of_these_tests_keep_the_published_schema() -> None:
    validator = Draft202012Validator(json.loads(SCHEMA.read_text(encoding="utf-8")))
    assert list(validator.iter_errors(predictions(passed(), failed(), errored()))) == []


def test_every_row_is_known_by_dataset_and_id(tmp_path: Path) -> None:
    baseline = read(tmp_path, predictions(passed("a"), errored("b"), failed("a", dataset_name="other")))
    assert list(baseline.rows) == [("billing", "a"), ("other", "a"), ("billing", "b")]
    assert baseline.rows["other", "a"].verdict is Verdict.FAIL
    assert baseline.rows["billing", "b"] == BaselineRow(
        dataset_name="billing",
        id="b",
        question="What about b?",
        verdict=Verdict.ERROR,
        reason="endpoint_timeout: no reply within 60 s",
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
        judge=JudgeIdentity(kind="offline", prompt_version="offline-1"),
        tier="end_to_end",
        fails=1,
    )
    assert rows["été", "ü"].prompt_version is None


def test_the_looks_of_a_run_are_its_requests_or_else_its_answers_if_their_verdicts_differ(tmp_path: Path) -> None:
    def looks(*answers: float, requests: list[Any]) -> list[bool]:
        evidence = {"gate": "regression", "thresholds": {}, "now": LOOK, "known": [], "saved_runs": []}
        repeated = {"groundedness": [[each] for each in answers]}
        gate = {"gate": {**evidence, "replies": requests}} if requests else {}
        ((first, *further),) = (
            read(tmp_path, predictions(failed("a", repeated=repeated, **gate))).rows["billing", "a"].saved
        )
        assert (first.text, first.passed) == ("The window is 30 days.", False)
        return [look.passed for look in further]

    assert looks(0.3, 0.9, 0.5, requests=[]) == [False, True, False]
    assert looks(0.3, 0.4, requests=[]) == []
    # A request without a reply, and judgements without an answer, are no looks.
    assert looks(0.3, 0.9, 0.5, requests=[LOOK, None, [{"groundedness": 0.9}], LOOK]) == [True, True]


def test_a_byte_order_mark_and_keys_of_later_versions_are_no_mistake(tmp_path: Path) -> None:
    document = predictions({**passed(), "tokens": 3}, judge={"kind": "canned"})
    assert len(read(tmp_path, b"\xef\xbb\xbf" + json.dumps(document).encode()).rows) == 1


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"question_id": None}, "question_id: found null, expected string"),
        ({"question_id": 7}, "question_id: found 7, expected string"),
        ({"dataset_name": ["billing"]}, 'dataset_name: found ["billing"], expected string'),
        ({"question": False}, "question: found false, expected string"),
        ({"verdict": "pass"}, 'verdict: found "pass", expected one of "PASS", "FAIL"'),
        ({"verdict": "ERROR"}, 'verdict: found "ERROR", expected one of "PASS", "FAIL"'),
        ({"metrics": {"f1": "0.5"}}, 'metrics.f1: found "0.5", expected number'),
        ({"metrics": {"f1": True}}, "metrics.f1: found true, expected number"),
        ({"metrics": {"f1": float("nan")}}, "metrics.f1: the number is beyond 1e+100"),
        ({"metrics": {"f1": 7}}, "metrics.f1: found 7, expected at most 1"),
        ({"metrics": {"embedding_similarity": -1.5}}, "metrics.embedding_similarity: found -1.5, expected at least -1"),
        ({"thresholds": [0.7]}, "thresholds: found [0.7], expected object"),
        ({"thresholds": {"f1": 7}}, "thresholds.f1: found 7, expected at most 1"),
        ({"prompt_version": 1}, "prompt_version: found 1, expected string or null"),
        ({"question": ["é" * 40]}, 'question: found ["' + r"\u00e9" * 9 + r"\u00 ..., expected string"),
        ({"labels": ["a"]}, 'labels: found ["a"], expected object'),
        ({"labels": {"gold": 7}}, "labels.gold: found 7, expected string"),
        ({"latency_seconds": -1}, "latency_seconds: found -1, expected at least 0"),
        ({"top_k": 0}, "top_k: found 0, expected at least 1"),
        ({"repeated": {"f1": [1]}}, "repeated.f1[0]: found 1, expected array"),
        ({"judgement": {"votes": [1]}}, "judgement.votes: found [1], expected object"),
        ({"judgement": {"votes": {"groundedness": 3}}}, "judgement.votes.groundedness: found 3, expected array"),
        ({"judgement": {"groundedness": 7}}, "judgement.groundedness: found 7, expected at most 1"),
        ({"gate": {"replies": 3}}, "gate: no 'gate', 'thresholds', 'now', 'known', 'saved_runs'"),
    ],
)
def test_a_row_that_cannot_be_right_is_named(tmp_path: Path, change: dict[str, Any], text: str) -> None:
    assert refusal(tmp_path, predictions(passed("a"), passed("b", **change))) == (
        f"main.json: predictions[1].{text}. Restore the file as the run wrote it."
    )


def test_a_score_of_a_metric_of_ones_own_has_no_range(tmp_path: Path) -> None:
    rows = read(tmp_path, predictions(passed(metrics={"answer_correctness": 1.0, "words": 7}))).rows
    assert rows["billing", "terms"].metrics["words"] == 7


ANSWERS: dict[str, Any] = {"answers": [{"verdict": "PASS", "metrics": {"f1": 1.0}}], "runs": [[0]]}


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"answers": 3}, ".answers: found 3, expected array"),
        (
            {"answers": [{"verdict": "PASS", "metrics": {"f1": 7}}]},
            ".answers[0].metrics.f1: found 7, expected at most 1",
        ),
        ({"runs": [[-1]]}, ".runs[0][0]: found -1, expected at least 0"),
        ({"runs": [[True]]}, ".runs[0][0]: found true, expected integer"),
        ({"runs": "a"}, '.runs: found "a", expected array'),
        ({"runs": [[]]}, ".runs[0]: found [], which breaks 'minItems': 1"),
        ({"runs": [[1]]}, ' has [[1]] under "runs"'),
        ({"runs": [[0, 1], [0]]}, ' has [[0, 1], [0]] under "runs"'),
        ({"history": {"passes": -1, "fails": 0}}, ".history.passes: found -1, expected at least 0"),
    ],
)
def test_a_compact_row_that_cannot_be_right_is_named(tmp_path: Path, change: dict[str, Any], text: str) -> None:
    assert refusal(tmp_path, predictions(passed("a", **{**ANSWERS, **change}), runs=["then"])) == (
        f"main.json: predictions[0]{text}. Restore the file as the run wrote it."
    )


@pytest.mark.parametrize(
    ("answer", "n_without_contexts"),
    [
        ({}, 0),
        ({"prediction": "30 days", "contexts": []}, 0),
        ({"prediction": "30 days"}, 1),
        ({"prediction": "30 days", "contexts": ["0123456789abcdef"]}, 1),
    ],
)
def test_answers_without_the_texts_of_their_contexts_are_counted_by_question(
    tmp_path: Path, answer: dict[str, Any], n_without_contexts: int
) -> None:
    answers = [{**ANSWERS["answers"][0], **answer}] * 2
    baseline = read(tmp_path, predictions(passed("a", **{**ANSWERS, "answers": answers}), passed(), runs=["then"]))
    assert baseline.n_without_contexts == n_without_contexts


def test_a_negative_count_of_a_row_without_answers_is_named(tmp_path: Path) -> None:
    assert refusal(tmp_path, predictions(passed("a", history={"passes": 1, "fails": -3}))) == (
        "main.json: predictions[0].history.fails: found -3, expected at least 0. Restore the file as the run wrote it."
    )


@pytest.mark.parametrize(
    ("top", "text"),
    [
        ({"runs": "a text"}, 'runs: found "a text", expected array'),
        ({"runs": [3]}, "runs[0]: found 3, expected string"),
        ({"timestamp": 7}, "timestamp: found 7, expected string"),
        ({"agent_name": ["rag"]}, 'agent_name: found ["rag"], expected string'),
        ({"num_examples": -1}, "num_examples: found -1, expected at least 0"),
    ],
)
def test_a_key_of_the_file_that_cannot_be_right_is_named(tmp_path: Path, top: dict[str, Any], text: str) -> None:
    assert refusal(tmp_path, predictions(passed("a", **ANSWERS), **top)) == (
        f"main.json: {text}. Restore the file as the run wrote it."
    )


@pytest.mark.parametrize(
    ("content", "text"),
    [
        ("{", "is not readable JSON"),
        ("[]", 'has no object under "contexts"'),
        ('{"contexts": {"ab": 7}}', 'has 7 under "ab", expected a text'),
    ],
)
def test_a_damaged_contexts_file_is_named(tmp_path: Path, content: str, text: str) -> None:
    (tmp_path / "baseline.contexts.json").write_text(content, encoding="utf-8")
    assert refusal(tmp_path, predictions(passed("a", **ANSWERS))) == (
        f"main.json: baseline.contexts.json beside it {text}. Restore it from version control, or move it away to "
        "compare without the texts of contexts."
    )


@pytest.mark.parametrize("key", ["question_id", "dataset_name", "question", "kind"])
def test_a_row_of_an_error_that_lacks_something_is_named(tmp_path: Path, key: str) -> None:
    row = {name: value for name, value in errored().items() if name != key}
    assert refusal(tmp_path, predictions(passed(), row)) == (
        f'main.json: errors[0] has nothing under "{key}". Restore the file as the run wrote it.'
    )


@pytest.mark.parametrize("content", [b"\xff\xfe{\x00}\x00", b"[" * 200_000, b"9" * 5_000, b'{"predictions": [1, }'])
def test_what_cannot_be_read_is_refused_without_a_traceback(tmp_path: Path, content: bytes) -> None:
    assert refusal(tmp_path, content).startswith("main.json: ")


@pytest.mark.parametrize("content", [None, 1, "text", [], {}, {"predictions": {}}])
def test_json_of_another_kind_is_refused(tmp_path: Path, content: Any) -> None:
    assert refusal(tmp_path, content) == (
        "main.json: it is not a predictions file. "
        "Make a baseline with pytest -p no:ragcheck-gate, then ragcheck baseline save."
    )


def test_a_row_that_repeats_its_latest_answer_reads_as_one_that_does_not(tmp_path: Path) -> None:
    judge = {"kind": "openai", "model": "m", "url": None, "prompt_version": "en-2"}
    answer = {"verdict": "PASS", "prediction": "30 days.", "metrics": {"f1": 1.0}, "judge": judge, "contexts": []}
    first = {**answer, "verdict": "FAIL", "prediction": "14 days.", "metrics": {"f1": 0.0}}
    full = passed("a", answers=[first, answer], runs=[[0], [1]], history={"passes": 1, "fails": 1})
    short = {name: full[name] for name in ("question_id", "dataset_name", "question", "thresholds", "tier", "top_k")}
    short |= {name: full[name] for name in ("answers", "runs", "history")}
    earlier = {**short, **{name: answer[name] for name in ("verdict", "metrics", "judge")}, "prompt_version": "en-2"}
    documents = (predictions(predictions=[row], runs=["a", "b"]) for row in (short, earlier))
    (one,), (other,) = (read(tmp_path, document).rows.values() for document in documents)
    assert one == other
    assert (one.verdict, one.answer, one.metrics, one.prompt_version) == (Verdict.PASS, "30 days.", {"f1": 1.0}, "en-2")
