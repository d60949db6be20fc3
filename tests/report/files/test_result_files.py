from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from pytest_ragcheck.questions.question import GoldPassage
from pytest_ragcheck.questions.reader import read_question_file
from pytest_ragcheck.redaction import REDACTED, Redactor
from pytest_ragcheck.report.files.result_files import Written, write_results
from pytest_ragcheck.scores import ASSERTABLE
from pytest_ragcheck.summary.aggregate import aggregate
from pytest_ragcheck.summary.run_outcomes import Reach
from tests.making import a_question, a_record, a_set, an_error, some_outcomes
from tests.report.folders import content, names

if TYPE_CHECKING:
    from pytest_ragcheck.summary.run_outcomes import Outcomes


def written(outcomes: Outcomes, folder: Path, redactor: Redactor | None = None) -> Written:
    return write_results(outcomes, aggregate(outcomes), folder, redactor or Redactor())


def test_a_run_writes_its_questions_predictions_and_summary(tmp_path: Path) -> None:
    folder = tmp_path / "new" / "results"
    files = written(some_outcomes(a_record("a"), an_error("b")), folder)
    assert names(folder) == ["billing_questions.json", "rag_predictions.json", "rag_summary.json"]
    assert (files.predictions, files.summary) == (folder / "rag_predictions.json", folder / "rag_summary.json")
    assert (files.questions, files.partial) == ((folder / "billing_questions.json",), "")
    assert content(files.summary)["counts"] == {"pass": 1, "fail": 0, "error": 1, "skipped": 0}
    assert [row["question_id"] for row in content(files.predictions)["predictions"]] == ["a"]
    assert content(files.questions[0])["num_questions"] == 2


def test_files_end_in_a_line_break_and_can_be_read_by_others(tmp_path: Path) -> None:
    umask = os.umask(0o022)
    os.umask(umask)
    path = written(some_outcomes(a_record(answer="Köln 😀")), tmp_path).predictions
    assert path.read_bytes().endswith(b"}\n")
    assert "Köln 😀" in path.read_text(encoding="utf-8")
    assert path.stat().st_mode & 0o777 == 0o666 & ~umask


def test_numbers_of_the_run_have_six_decimals_and_those_of_the_user_stay(tmp_path: Path) -> None:
    question = a_question(thresholds={"f1": 0.123456789}, metadata={"weight": 0.123456789})
    files = written(some_outcomes(a_record(question=question, scores={"f1": 2 / 3}, latency_seconds=1 / 3)), tmp_path)
    (row,) = content(files.predictions)["predictions"]
    assert (row["metrics"]["f1"], row["latency_seconds"]) == (0.666667, 0.333333)
    assert row["metadata"] == {"weight": 0.123456789}
    assert content(files.summary)["overall_metrics"] == {"f1": 0.666667}
    (asked,) = content(files.questions[0])["questions"]
    assert (asked["thresholds"], asked["metadata"]) == ({"f1": 0.123456789}, {"weight": 0.123456789})


def test_written_questions_read_back_are_the_same_questions(tmp_path: Path) -> None:
    full = a_question(
        "full",
        expected_answer="1972",
        all_acceptable_answers=("1972", "no"),
        must_mention=("/\\d{4}/",),
        must_not_mention=("forever",),
        must_cite=("terms.md",),
        gold_passages=(GoldPassage(text="Then.", doc_id="d:1"),),
        distractors=(GoldPassage(text="Not then."),),
        thresholds={"f1": 0.123456789},
        top_k=3,
        tags=("moon",),
        metadata={"n": [1.23456789, None, {"x": "y"}]},
    )
    asked = (full, a_question("bare"), a_question("unanswerable", answerable=False, skip="later", xfail="known"))
    files = written(some_outcomes(sets=(a_set("billing", *asked),), complete=False), tmp_path)
    read = read_question_file(files.questions[0], root=tmp_path, known_metrics=ASSERTABLE)
    assert read.questions == asked
    assert read.dataset_name == "billing"


def test_secrets_are_in_no_file(tmp_path: Path) -> None:
    secret = "correct-horse"
    question = a_question(question=f"Is it {secret}?", metadata={secret: [secret]})
    record = a_record(question=question, answer=secret, reason=secret, endpoint=f"http://bob:{secret}@h")
    written(some_outcomes(record), tmp_path, Redactor([secret]))
    for path in tmp_path.iterdir():
        assert secret not in path.read_text(encoding="utf-8")
        assert REDACTED in path.read_text(encoding="utf-8")


def test_what_json_cannot_hold_is_written_as_text(tmp_path: Path) -> None:
    metadata = {"nan": float("nan"), "inf": float("inf"), "path": Path("a/b"), "half": "\ud800"}
    files = written(some_outcomes(a_record(question=a_question(metadata=metadata))), tmp_path)
    assert content(files.predictions)["predictions"][0]["metadata"] == {
        "nan": "nan", "inf": "inf", "path": "a/b", "half": "\N{REPLACEMENT CHARACTER}",
    }  # fmt: skip


def test_an_incomplete_run_leaves_the_last_full_result_alone(tmp_path: Path) -> None:
    full = some_outcomes(a_record("a"), a_record("b"))
    written(full, tmp_path)
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    files = written(replace(full, records=full.records[:1], complete=False), tmp_path)
    assert files.partial == "1 of the collected questions was not run"
    assert files.summary == tmp_path / "rag.partial_summary.json"
    assert content(files.summary)["complete"] is False
    assert {name: (tmp_path / name).read_bytes() for name in before} == before


def test_a_full_run_takes_away_the_partial_result_whose_datasets_it_has(tmp_path: Path) -> None:
    full = some_outcomes(a_record("a"), a_record("b"))
    stopped = replace(full, records=full.records[:1], complete=False)
    written(stopped, tmp_path)
    written(replace(stopped, agent_name="other"), tmp_path)
    written(full, tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "billing_questions.json",
        "other.partial_predictions.json", "other.partial_summary.json",
        "rag_predictions.json", "rag_summary.json",
    ]  # fmt: skip
    written(stopped, tmp_path)
    assert (tmp_path / "rag.partial_summary.json").exists()  # newer than the full one


def test_a_partial_result_of_a_dataset_that_the_full_run_lacks_stays(tmp_path: Path) -> None:
    written(some_outcomes(a_record("a")), tmp_path)
    written(some_outcomes(a_record(question=a_question("x", dataset_name="prices"))), tmp_path)
    written(some_outcomes(a_record("a")), tmp_path)
    assert list(content(tmp_path / "rag.partial_summary.json")["datasets"]) == ["prices"]


def test_a_full_run_takes_away_the_question_files_of_datasets_that_are_gone(tmp_path: Path) -> None:
    prices, terms = (a_record(question=a_question("x", dataset_name=name)) for name in ("prices", "terms"))
    written(some_outcomes(prices, terms), tmp_path)
    written(some_outcomes(terms, agent_name="other"), tmp_path)
    (tmp_path / "own_questions.json").write_text("{}")
    files = written(some_outcomes(a_record("a"), reach=Reach(searched=("*",))), tmp_path)
    assert files.partial == ""
    # Those of the other agent's summary stay, and a file that no run has written.
    assert {path.name for path in tmp_path.glob("*_questions.json")} == {
        "billing_questions.json",
        "own_questions.json",
        "terms_questions.json",
    }


def test_the_question_file_of_a_dataset_whose_name_changed_in_case_only_stays(tmp_path: Path) -> None:
    before, now = (a_record(question=a_question(dataset_name=name)) for name in ("Billing", "billing"))
    written(some_outcomes(before), tmp_path)
    # A link gives the file both names, as do the disks of macOS and Windows.
    (tmp_path / "Billing_questions.json").unlink()
    (tmp_path / "Billing_questions.json").symlink_to("billing_questions.json")
    written(some_outcomes(now, reach=Reach(searched=("*",))), tmp_path)
    assert content(tmp_path / "Billing_questions.json")["dataset_name"] == "billing"


def test_a_run_that_was_cut_short_is_partial_for_its_reason(tmp_path: Path) -> None:
    outcomes = some_outcomes(a_record("a"), complete=False, cut_short="the run ended early")
    assert written(outcomes, tmp_path).partial == "the run ended early"


def test_a_run_with_fewer_datasets_than_the_last_full_one_is_partial(tmp_path: Path) -> None:
    other = a_record(question=a_question("x", dataset_name="prices"))
    for _ in range(2):
        assert written(some_outcomes(a_record("a"), other), tmp_path).partial == ""
    assert written(some_outcomes(a_record("a"), agent_name="other"), tmp_path).partial == ""
    files = written(some_outcomes(a_record("a")), tmp_path)
    assert files.partial == "the last full result also has prices; delete rag_summary.json to start over"
    assert content(tmp_path / "rag_summary.json")["counts"]["pass"] == 2


@pytest.mark.parametrize(
    "text", ["", "{", "[]", '{"datasets": 1}', "\x00", "null", pytest.param("[" * 200_000, id="nested")]
)
def test_a_last_result_that_cannot_be_read_is_overwritten(tmp_path: Path, text: str) -> None:
    (tmp_path / "rag_summary.json").write_text(text, encoding="utf-8")
    assert written(some_outcomes(a_record("a")), tmp_path).partial == ""
    assert content(tmp_path / "rag_summary.json")["num_examples"] == 1


HOSTILE = [
    "../../x", "..", "/etc/passwd", "a/b\\c", "C:\\x", ".hidden", "", " ", "x\x00y", "x\ny", "con", "NUL.txt",
    "a" * 999, "щ" * 300, "😀" * 99, "\udcff",
]  # fmt: skip


@pytest.mark.parametrize("name", HOSTILE)
def test_no_name_leads_out_of_the_folder(tmp_path: Path, name: str) -> None:
    folder = tmp_path / "results"
    outcomes = some_outcomes(
        a_record(question=a_question(dataset_name=name)), agent_name=name, complete=False, cut_short="tried"
    )
    files = written(outcomes, folder)
    assert names(tmp_path) == ["results"]
    assert {path.parent for path in (*files.questions, files.predictions, files.summary)} == {folder}
    assert len(names(folder)) == 3
    assert not any(name.startswith(".") for name in names(folder))


def test_two_datasets_that_differ_in_case_only_have_a_file_each(tmp_path: Path) -> None:
    records = [a_record(question=a_question(dataset_name=name)) for name in ("Billing", "billing", "other")]
    files = written(some_outcomes(*records), tmp_path)
    assert [content(path)["dataset_name"] for path in files.questions] == ["Billing", "billing", "other"]
    assert files.questions[2].name == "other_questions.json"
    assert len({path.name.casefold() for path in files.questions}) == 3
