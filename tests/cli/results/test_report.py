"""`ragcheck report`, from result files to a report."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from pytest_ragcheck.questions.question import GoldPassage, QuestionSet, in_conversation
from pytest_ragcheck.redaction import Redactor
from pytest_ragcheck.report.files.result_files import write_results
from pytest_ragcheck.summary.aggregate import aggregate
from pytest_ragcheck.summary.gate.gate_decision import decide, tolerated
from pytest_ragcheck.summary.gate.gate_replies import GateReplies
from pytest_ragcheck.summary.gate.procedure.compared_question import KnownRun, Look
from pytest_ragcheck.summary.run_outcomes import GateRules
from pytest_ragcheck.verdict.verdict import Verdict
from tests.making import a_question, a_record, some_outcomes
from tests.report.results import ERRORED, FAILED, PASSED

if TYPE_CHECKING:
    from collections.abc import Callable

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


def test_without_results_it_shows_those_of_a_run(
    results: Path, ragcheck: Ragcheck, monkeypatch: pytest.MonkeyPatch
) -> None:
    (results.parent / "pytest.ini").write_text("[pytest]\nrag_output = results\n")
    (results.parent / "tests").mkdir()
    monkeypatch.chdir(results.parent / "tests")
    assert ragcheck("report", "-o", "r.md") == (0, "written: r.md\n", "")
    assert Path("r.md").read_text(encoding="utf-8").startswith("## ❌ rag: billing: 1 FAIL, 1 ERROR")


def test_expected_answers_and_changes_are_in_it(results: Path, ragcheck: Ragcheck) -> None:
    output = results.parent / "r.html"
    assert ragcheck("report", str(results / "rag"), "--baseline", str(results), "-o", str(output))[0] == 0
    text = output.read_text(encoding="utf-8")
    assert '"expected":["30 days"]' in text
    assert '"change":"still failing"' in text


def test_a_passage_may_have_an_identity(tmp_path: Path, ragcheck: Ragcheck) -> None:
    passage = GoldPassage(text="Bob's plan has 5 seats.", identity="bob")
    outcomes = some_outcomes(a_record(question=a_question("seats", gold_passages=(passage,), identity="bob")))
    write_results(outcomes, aggregate(outcomes), tmp_path, Redactor())
    assert ragcheck("report", str(tmp_path), "-o", str(tmp_path / "r.md"), "--gate=each")[0] == 0


def test_it_shows_what_the_runs_own_gate_decided(tmp_path: Path, ragcheck: Ragcheck) -> None:
    outcomes = some_outcomes(PASSED, FAILED, rules=GateRules(gate="rate:0.5"))
    outcomes = replace(outcomes, tolerated=tolerated(outcomes, outcomes.rules, None, clean=str))
    summary = aggregate(outcomes, decision=decide(outcomes, None, outcomes.rules))
    write_results(outcomes, summary, tmp_path, Redactor())
    output = tmp_path / "r.md"
    assert ragcheck("report", str(tmp_path), "-o", str(output))[0] == 0
    assert output.read_text(encoding="utf-8").startswith("## ✅ rag: billing: 1 of 2 passed, 1 FAIL tolerated\n")
    assert ragcheck("report", str(tmp_path), "--gate=rate:0.6", "-o", str(output))[0] == 0
    assert output.read_text(encoding="utf-8").startswith(
        "## ❌ rag: billing: pass rate 0.500 (1 of 2; 95 % interval 0.095 to 0.905) is below 0.6\n"
    )
    assert ragcheck("report", str(tmp_path), "--gate=each", "-o", str(output))[0] == 0
    assert output.read_text(encoding="utf-8").startswith("## ❌ rag: billing: 1 FAIL\n")


def test_a_gate_knows_the_turns_of_a_conversation(tmp_path: Path, ragcheck: Ragcheck) -> None:
    turns = in_conversation("talk", [a_question(), a_question(quarantine="flaky since May")])
    low: dict[str, Any] = {"verdict": Verdict.FAIL, "scores": {"f1": 0.3}, "thresholds": {"f1": 0.7}}
    sets = (QuestionSet(dataset_name="billing", path=Path("b.yaml"), questions=turns),)
    outcomes = some_outcomes(a_record(question=turns[0]), a_record(question=turns[1], **low), sets=sets)
    write_results(outcomes, aggregate(outcomes), tmp_path, Redactor())
    output = tmp_path / "r.md"
    assert ragcheck("report", str(tmp_path), "--gate=each", "-o", str(output))[0] == 0
    text = output.read_text(encoding="utf-8")
    assert text.startswith("## ✅ rag: billing: 1 of 2 passed, 1 FAIL tolerated\n")
    assert "tolerated: in quarantine: flaky since May" in text


def test_with_a_baseline_it_shows_what_the_gate_regression_decides(tmp_path: Path, ragcheck: Ragcheck) -> None:
    names = [f"q{number}" for number in range(12)]
    scores, limit = {"groundedness": 0.9}, {"groundedness": 0.7}
    before = some_outcomes(*(a_record(name, scores=scores, thresholds=limit) for name in names))
    low: dict[str, Any] = {"verdict": Verdict.FAIL, "scores": {"groundedness": 0.3}, "thresholds": limit}
    now = some_outcomes(*(a_record(name, asked_again=("FAIL", "FAIL"), **low) for name in names))
    for folder, outcomes in (("before", before), ("now", now)):
        write_results(outcomes, aggregate(outcomes), tmp_path / folder, Redactor())
    baseline, output = tmp_path / "before" / "rag_predictions.json", tmp_path / "r.html"
    gate = ("--baseline", str(baseline), "--gate=regression")
    assert ragcheck("report", str(tmp_path / "now"), *gate, "-o", str(output))[0] == 0
    text = output.read_text(encoding="utf-8")
    assert f"12 confirmed as failing against {baseline}" in text
    assert f"PASS in {baseline}: the gate decides (asked again: FAIL, FAIL)" in text
    assert "<strong>Red</strong>" in text
    assert ragcheck("report", str(tmp_path / "now"), "--gate=regression", "-o", str(output)) == (
        2,
        "",
        (
            "ragcheck report: --gate=regression has nothing to compare with. Give --baseline=PREDICTIONS, or "
            "--gate=each.\n"
        ),
    )


def test_what_the_gate_found_out_against_another_baseline_does_not_count(tmp_path: Path, ragcheck: Ragcheck) -> None:
    passes = Look(answer="0" * 16, scores={"groundedness": 0.9}, passed=True)
    examined = GateReplies(
        gate="confirmed", thresholds={"groundedness": 0.7}, now=passes, known=(KnownRun(looks=(passes,)),),
        saved_runs=("another run",),
    )  # fmt: skip
    said: dict[str, Any] = {"scores": {"groundedness": 0.3}, "thresholds": {"groundedness": 0.7}}
    now = a_record("a", verdict=Verdict.FAIL, evidence=examined.to_document(), asked_again=("FAIL",), **said)
    for folder, record in (("before", a_record("a", thresholds={"groundedness": 0.7})), ("now", now)):
        outcomes = some_outcomes(record)
        write_results(outcomes, aggregate(outcomes), tmp_path / folder, Redactor())
    baseline, output = tmp_path / "before" / "rag_predictions.json", tmp_path / "r.md"
    gate = (f"--baseline={baseline}", "--gate=confirmed")
    assert ragcheck("report", str(tmp_path / "now"), *gate, "-o", str(output))[0] == 0
    assert output.read_text(encoding="utf-8").startswith("## ❌ rag: billing: 1 confirmed as failing against ")


def test_a_comparing_gate_without_a_baseline_is_shown_as_each(
    tmp_path: Path, ragcheck: Ragcheck, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    outcomes = some_outcomes(PASSED, FAILED, rules=GateRules(gate="confirmed"))
    write_results(
        outcomes, aggregate(outcomes, decision=decide(outcomes, None, outcomes.rules)), tmp_path / "results", Redactor()
    )
    assert ragcheck("report", "results", "--set", "rag_false_alarms=0.02", "-o", "r.html")[0] == 0
    assert "gate each: the run&#x27;s gate confirmed has nothing to compare with here" in (
        (tmp_path / "r.html").read_text(encoding="utf-8")
    )


@pytest.mark.parametrize(("hours", "shown"), [(1, "partial: "), (-1, "billing: 1 FAIL, 1 ERROR")])
def test_the_report_of_a_folder_is_that_of_its_last_run(
    results: Path, ragcheck: Ragcheck, hours: int, shown: str
) -> None:
    outcomes = some_outcomes(PASSED, complete=False, cut_short="the run was stopped before its end")
    outcomes = replace(outcomes, timestamp=outcomes.timestamp + timedelta(hours=hours))
    write_results(outcomes, aggregate(outcomes), results, Redactor())
    assert ragcheck("report", str(results), "-o", str(results / "r.md"))[0] == 0
    assert shown in (results / "r.md").read_text(encoding="utf-8")


def test_partial_results_have_a_report(results: Path, ragcheck: Ragcheck) -> None:
    outcomes = some_outcomes(PASSED, complete=False, cut_short="the run was given single tests")
    write_results(outcomes, aggregate(outcomes), results / "partial", Redactor())
    assert ragcheck("report", str(results / "partial"), "-o", str(results / "r.html"))[0] == 0
    assert "partial: not every question was run" in (results / "r.html").read_text(encoding="utf-8")


def test_a_file_without_an_ending_is_continued_in_markdown(results: Path, ragcheck: Ragcheck) -> None:
    summary = results / "step_summary_3f2c"
    summary.write_text("# Before\n", encoding="utf-8")
    assert ragcheck("report", str(results), "-o", str(summary))[0] == 0
    ragcheck("report", str(results), "-o", str(results / "alone.md"))
    alone = (results / "alone.md").read_text(encoding="utf-8")
    assert summary.read_text(encoding="utf-8") == f"# Before\n{alone}"


def test_wrong_usage_is_reported(results: Path, ragcheck: Ragcheck) -> None:
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
        "RESULTS/odd.json: a row has no question or no id. Give the {agent}_predictions.json of a run.\n"
    )
    (results / "ragcheck-baseline.json").write_text(json.dumps(document), encoding="utf-8")
    assert complaint(str(results / "ragcheck-baseline.json"), *html) == (
        "RESULTS/ragcheck-baseline.json: its name does not end in _predictions.json, so no summary belongs to it. "
        "Give the folder of a run, or git:REV:PATH for the history of a baseline.\n"
    )
    (results / "rag_summary.json").write_text("{}", encoding="utf-8")
    assert complaint(str(results), *html) == (
        "RESULTS/rag_summary.json: it is not the summary of a run. Keep the files of a run together.\n"
    )
    (results / "rag_summary.json").write_text("{", encoding="utf-8")
    assert complaint(str(results), *html) == (
        "RESULTS/rag_summary.json: line 1 is not JSON: Expecting property name enclosed in double quotes. "
        "Restore the file as the run wrote it.\n"
    )
    (results / "rag_summary.json").unlink()
    assert complaint(str(results), *html) == (
        "RESULTS/rag_summary.json: there is no such file. Keep the files of a run together.\n"
    )


def test_a_broken_ini_file_is_named(tmp_path: Path, ragcheck: Ragcheck, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "pytest.ini").write_text("[pytest]\nmine\n", encoding="utf-8")
    text = "ragcheck report: pytest.ini cannot be read: line 2: unexpected line: 'mine'\n"
    assert ragcheck("report") == (2, "", text)
