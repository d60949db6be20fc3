"""`ragcheck convert`: results of the five-file layout, as their program wrote them."""

from __future__ import annotations

import csv
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from jsonschema import Draft202012Validator

from pytest_ragcheck.cli.project.docs import read_schema
from pytest_ragcheck.questions.reader import read_question_file
from pytest_ragcheck.scores import ASSERTABLE

if TYPE_CHECKING:
    from collections.abc import Callable

    Command = Callable[..., tuple[int, str, str]]

SCRIPT = Path(__file__).parents[3] / "examples" / "convert_old_format.py"

RESULTS: dict[str, Any] = {
    "results": {
        "exact_match": 0.5, "f1": 0.75, "llm_judge": 0.8,
        "num_examples": 2, "agent_name": "baseline", "dataset_name": "trivia",
    },
    "predictions": [
        {
            "id": "0", "question": "Who?", "prediction": "Ann", "expected_answer": "Ann",
            "all_acceptable_answers": ["Ann", "Anna"], "references": ["Ann", "Anna"], "metadata": {"tokens": 7},
        },
        {
            "id": "1", "question": "When?", "prediction": "in 1972", "expected_answer": "1972",
            "all_acceptable_answers": ["1972"], "references": ["1972"], "metadata": {},
        },
    ],
}  # fmt: skip
ABOUT = {
    "timestamp": "2024-10-30T15:30:45.123456", "agent_name": "baseline", "dataset_name": "trivia", "num_examples": 2,
    "metrics": {"exact_match": 0.5, "f1": 0.75, "llm_judge": 0.8},
}  # fmt: skip
PER_QUESTION: list[dict[str, Any]] = [
    {"question_index": 0, "question": "Who?", "exact_match": 1.0, "f1": 1.0, "bleurt": None},
    {"question_index": 1, "question": "When?", "exact_match": 0.0, "f1": 0.5, "bleurt": 0.25},
]
ALWAYS = [
    "  not carried over: no verdicts: nothing was asserted, so every question counts as measured, and PASS",
    "  not carried over: no contexts, latencies, judge or endpoint: the old layout has none",
]
NO_ZONE = "  not carried over: no time zone: 2024-10-30T15:30:45.123456 is taken as UTC"
ONLY_MEAN = (
    "  not carried over: llm_judge: only its mean 0.8000 is there, and a mean is not carried over without its values"
)

NO_RUNS = "the folder has no *_results.json file. Name another folder, or the file itself."
FIRST_OF_ALL = "per_question.json, 'per_question_metrics' number 1"


@pytest.fixture
def old(tmp_path: Path) -> Path:
    """The five files of a run."""
    save(tmp_path, "_metrics.json", ABOUT)
    save(tmp_path, "_per_question.json", {**ABOUT, "per_question_metrics": PER_QUESTION})
    (tmp_path / "b_results_metrics.txt").write_text("EVALUATION METRICS SUMMARY\n", encoding="utf-8")
    with (tmp_path / "b_results_per_question.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, fieldnames=sorted(PER_QUESTION[0]))
        writer.writeheader()
        writer.writerows(PER_QUESTION)
    return save(tmp_path, ".json", RESULTS)


def save(folder: Path, ending: str, value: Any) -> Path:
    path = folder / f"b_results{ending}"
    path.write_text(json.dumps(value), encoding="utf-8")
    return path


def converted(ragcheck: Command, path: Path) -> tuple[dict[str, Any], dict[str, Any], list[str]]:
    """Predictions, summary and the lines after the written files."""
    folder = path.parent / "new"
    status, printed, errors = ragcheck("convert", str(path), "-o", str(folder))
    assert (status, errors) == (0, "")
    predictions, summary = (
        json.loads((folder / f"baseline_{name}.json").read_bytes()) for name in ("predictions", "summary")
    )
    Draft202012Validator(json.loads(read_schema("predictions"))).validate(predictions)
    Draft202012Validator(json.loads(read_schema("summary"))).validate(summary)
    lines = printed.splitlines()
    assert lines[:4] == [
        f"{path}: 2 questions",
        *(f"  wrote {folder / name}.json" for name in ("trivia_questions", "baseline_predictions", "baseline_summary")),
    ]  # fmt: skip
    return predictions, summary, lines[4:]


def test_five_files_become_three_and_what_is_not_carried_over_is_said(old: Path, ragcheck: Command) -> None:
    predictions, summary, said = converted(ragcheck, old)
    assert predictions["timestamp"] == "2024-10-30T15:30:45.123456+00:00"
    rows = {row["question_id"]: row for row in predictions["predictions"]}
    assert (rows["0"]["prediction"], rows["0"]["metadata"], rows["0"]["verdict"]) == ("Ann", {"tokens": 7}, "PASS")
    assert rows["0"]["metrics"] == {"exact_match": 1.0, "f1": 1.0}
    assert rows["0"]["unscored"] == {"bleurt": "not measured in the old results"}
    assert rows["1"]["metrics"] == {"exact_match": 0.0, "f1": 0.5, "bleurt": 0.25}
    assert summary["overall_metrics"] == {"exact_match": 0.5, "f1": 0.75, "bleurt": 0.25}
    assert summary["metric_statistics"]["bleurt"] == {
        "mean": 0.25, "min": 0.25, "max": 0.25, "std": 0.0, "n_scored": 1, "n_unscored": 1,
    }  # fmt: skip
    assert said == [*ALWAYS, NO_ZONE, ONLY_MEAN]
    path = old.parent / "new" / "trivia_questions.json"
    questions = read_question_file(path, root=path.parent, known_metrics=ASSERTABLE).questions
    assert [(question.id, question.acceptable_answers) for question in questions] == [
        ("0", ("Ann", "Anna")), ("1", ("1972",)),
    ]  # fmt: skip


def test_the_table_serves_where_the_json_is_gone(old: Path, ragcheck: Command) -> None:
    before = converted(ragcheck, old)
    (old.parent / "b_results_per_question.json").unlink()
    assert converted(ragcheck, old)[0] == before[0]


def test_without_the_other_files_answers_and_questions_are_carried_over(old: Path, ragcheck: Command) -> None:
    for other in old.parent.glob("b_results_*"):
        other.unlink()
    os.utime(old, (0, 0))
    predictions, _, said = converted(ragcheck, old)
    assert predictions["timestamp"] == "1970-01-01T00:00:00+00:00"
    assert [row["metrics"] for row in predictions["predictions"]] == [{}, {}]
    of_each = "b_results_per_question"
    means = ", and a mean is not carried over without its values"
    assert said == [
        *ALWAYS,
        "  not carried over: no time of the run: the time of the last change of b_results.json is used",
        f"  not carried over: no metrics of single questions: neither {of_each}.json nor {of_each}.csv is there",
        f"  not carried over: exact_match: only its mean 0.5000 is there{means}",
        f"  not carried over: f1: only its mean 0.7500 is there{means}",
        ONLY_MEAN,
    ]


def test_what_the_old_program_never_wrote_is_carried_over_or_said(old: Path, ragcheck: Command) -> None:
    first, second = RESULTS["predictions"]
    of_ours = [{**first, "contexts": ["Ann did."], "latency": 0.5}, second]
    save(old.parent, ".json", {**RESULTS, "predictions": of_ours, "config": {"temperature": 0}})
    save(old.parent, "_metrics.json", {**ABOUT, "seed": 3, "host": "a"})
    predictions, _, said = converted(ragcheck, old)
    assert predictions["predictions"][0]["metadata"] == {"contexts": ["Ann did."], "latency": 0.5, "tokens": 7}
    assert said[-2:] == [
        "  not carried over: b_results.json: the three files have no place for 'config'",
        "  not carried over: b_results_metrics.json: the three files have no place for 'seed', 'host'",
    ]


def test_questions_without_an_expected_answer_are_said(old: Path, ragcheck: Command) -> None:
    first, second = RESULTS["predictions"]
    without = {**second, "expected_answer": None, "all_acceptable_answers": [], "references": []}
    save(old.parent, ".json", {**RESULTS, "predictions": [first, without]})
    _, _, said = converted(ragcheck, old)
    assert "  not carried over: no expected answer of 1 of 2 questions: counted as answerable, as every other" in said


def test_rows_without_ids_and_flat_lists_are_read(old: Path, ragcheck: Command) -> None:
    before, _, _ = converted(ragcheck, old)
    without = [{name: value for name, value in row.items() if name != "id"} for row in RESULTS["predictions"]]
    save(old.parent, ".json", {**RESULTS, "predictions": without})
    save(old.parent, "_per_question.json", PER_QUESTION)
    predictions, _, said = converted(ragcheck, old)
    assert predictions["predictions"] == before["predictions"]
    assert "  not carried over: no ids: the number of each question, from 0, is its id" in said
    (old.parent / "new" / "baseline_predictions.json").unlink()
    save(old.parent, ".json", without)
    status, printed, errors = ragcheck("convert", str(old), "-o", str(old.parent / "flat"))
    assert (status, errors, printed.splitlines()[0]) == (0, "", f"{old}: 2 questions")
    flat = json.loads((old.parent / "flat" / "b_predictions.json").read_bytes())["predictions"]
    assert [row["metrics"] for row in flat] == [row["metrics"] for row in before["predictions"]]


@pytest.mark.parametrize(
    ("table", "problem"),
    [
        (b"question_index,question,f1\n0,Who?,1,2\n1,When?,1\n", "row 1: expected a number or null under '', found a"),
        (b"question_index,question,f1\n0,Who?,\xff\n1,When?,1\n", "expected UTF-8, found another encoding (byte 34)."),
        (b"question_index,question,f1\n0,Wh\x00o?,1\n1,When?,1\n", "expected "),
    ],
)
def test_a_damaged_table_ends_with_status_2(old: Path, ragcheck: Command, table: bytes, problem: str) -> None:
    (old.parent / "b_results_per_question.json").unlink()
    (old.parent / "b_results_per_question.csv").write_bytes(table)
    status, _, errors = ragcheck("convert", str(old), "-o", str(old.parent / "new"))
    assert status == 2
    assert errors.startswith("ragcheck convert: b_results")
    assert problem in errors


def test_a_text_in_the_table_is_no_metric(old: Path, ragcheck: Command) -> None:
    (old.parent / "b_results_per_question.json").unlink()
    table = old.parent / "b_results_per_question.csv"
    table.write_text("question_index,question,f1\n0,Who?,high\n1,When?,0.5\n", encoding="utf-8")
    _, _, errors = ragcheck("convert", str(old), "-o", str(old.parent / "new"))
    assert errors == (
        "ragcheck convert: b_results_per_question.csv: row 1: expected a number or null under 'f1', "
        "found the text 'high'.\n"
    )


def test_a_mean_that_the_questions_do_not_have_is_said(old: Path, ragcheck: Command) -> None:
    save(old.parent, "_metrics.json", {**ABOUT, "metrics": {"f1": 0.7}, "timestamp": "2024-10-30T15:30:45+02:00"})
    predictions, _, said = converted(ragcheck, old)
    assert said == [*ALWAYS, "  not carried over: f1: the old mean is 0.7000, that of the questions 0.7500"]
    assert predictions["timestamp"] == "2024-10-30T13:30:45+00:00"


def test_a_number_that_is_none_is_not_measured(old: Path, ragcheck: Command) -> None:
    rows = [{**row, "f1": float("nan")} for row in PER_QUESTION]
    save(old.parent, "_per_question.json", {"per_question_metrics": rows})
    predictions, _, _ = converted(ragcheck, old)
    assert predictions["predictions"][0]["unscored"]["f1"] == "not measured in the old results: nan"


def test_a_folder_stands_for_all_runs_in_it_and_the_example_is_the_command(old: Path) -> None:
    command = [sys.executable, str(SCRIPT), str(old.parent), "-o", str(old.parent / "new")]
    ended = subprocess.run(command, capture_output=True, text=True, check=True)
    assert ended.stdout.startswith(f"{old}: 2 questions\n")


def test_a_second_run_of_an_agent_does_not_replace_the_first(old: Path, ragcheck: Command) -> None:
    second = old.with_name("c_results.json")
    second.write_text(json.dumps(RESULTS).replace("trivia", "history"), encoding="utf-8")
    status, printed, errors = ragcheck("convert", str(old.parent), "-o", str(old.parent / "new"))
    assert (status, printed.splitlines()[0]) == (2, f"{old}: 2 questions")
    assert errors == (
        f"ragcheck convert: {second}: {old} has results of the agent 'baseline' too. "
        "Convert each into a folder of its own.\n"
    )
    assert not list((old.parent / "new").glob("*.partial_*"))


@pytest.mark.parametrize(
    ("ending", "value", "problem"),
    [
        (".json", 3, "b_results.json: expected an object or a list of predictions, found the number 3."),
        (".json", [], "b_results.json: expected questions under 'predictions', found an empty list."),
        (".json", [3], "b_results.json: expected a list of objects under 'predictions', found the number 3."),
        (".json", {"a": 1}, "b_results.json: expected 'results', found 'a'."),
        (
            ".json",
            {**RESULTS, "predictions": [*RESULTS["predictions"][:1] * 2]},
            "b_results.json, 'predictions' number 2: expected its metrics as question_index 1, found other ones.",
        ),
        (
            "_per_question.json",
            {"per_question_metrics": PER_QUESTION[:1]},
            "b_results_per_question.json: expected 2 questions as in b_results.json, found 1.",
        ),
        (
            "_per_question.json",
            {"per_question_metrics": [{**row, "f1": "high"} for row in PER_QUESTION]},
            f"b_results_{FIRST_OF_ALL}: expected a number or null under 'f1', found the text 'high'.",
        ),
        (
            "_metrics.json",
            {**ABOUT, "timestamp": "yesterday"},
            "b_results_metrics.json: expected a time under 'timestamp', found the text 'yesterday'.",
        ),
    ],
)  # fmt: skip
def test_a_damaged_file_ends_with_status_2(old: Path, ending: str, value: Any, problem: str, ragcheck: Command) -> None:
    save(old.parent, ending, value)
    assert ragcheck("convert", str(old), "-o", str(old.parent / "new")) == (2, "", f"ragcheck convert: {problem}\n")
    assert not (old.parent / "new").exists()


def test_two_questions_of_one_id_are_refused(old: Path, ragcheck: Command) -> None:
    first, second = RESULTS["predictions"]
    save(old.parent, ".json", {**RESULTS, "predictions": [first, {**second, "id": "0"}]})
    _, _, errors = ragcheck("convert", str(old), "-o", str(old.parent / "new"))
    assert errors == (
        "ragcheck convert: b_results.json, 'predictions' number 2: expected an id of its own, found that of "
        "b_results.json, 'predictions' number 1: '0'.\n"
    )


def test_what_is_no_json_or_not_there_is_said(tmp_path: Path, ragcheck: Command) -> None:
    broken = tmp_path / "x_results.json"
    assert ragcheck("convert", str(broken)) == (
        2, "", (f"ragcheck convert: {broken}: there is no such file or folder. "
        "Name a *_results.json file, or an export of another tool.\n"),
    )  # fmt: skip
    assert ragcheck("convert", str(tmp_path)) == (
        2, "", f"ragcheck convert: {tmp_path}: {NO_RUNS}\n",
    )  # fmt: skip
    broken.write_text("{", encoding="utf-8")
    status, _, errors = ragcheck("convert", str(broken))
    assert status == 2
    assert errors.startswith("ragcheck convert: x_results.json: expected JSON, found something else (")
