"""The gates that tolerate noise: which failures they show as expected, and which turn them red."""

from __future__ import annotations

import json
import os
import subprocess
from typing import TYPE_CHECKING, Any

import pytest

from pytest_ragcheck.cli import main
from pytest_ragcheck.report.terminal.gate_lines import QUARANTINE
from tests.baselines import errored, failed, passed, write_baseline
from tests.canned import bad, broken, good
from tests.harness import three_ways, two_ways

if TYPE_CHECKING:
    from tests.harness import Project

REGRESSION = ("--rag-gate=regression", "--rag-baseline=baseline.json")


def without_answer(row: dict[str, Any]) -> dict[str, Any]:
    """The row as the first version of compact baselines kept it."""
    return {key: value for key, value in row.items() if key not in {"prediction", "contexts", "judgement"}}


@three_ways
def test_under_a_rate_a_fail_is_expected_and_the_rate_decides(project: Project) -> None:
    project.ask(good("terms"), bad("prices"))
    run = project.run("--rag-gate=rate:0.5", "-rx")
    assert (run.exit_status, run.outcomes) == (0, {"passed": 1, "xfailed": 1})
    assert "gate rate:0.5: pass rate 0.500 (1 of 2; 95 % interval 0.095 to 0.905)" in run.lines
    assert run.short_summary == ["XFAIL billing.rag.yaml::prices - the gate is rate:0.5"]
    assert run.counts == {"pass": 1, "fail": 1, "error": 0, "skipped": 0}


@three_ways
def test_a_rate_that_is_too_low_is_red_as_the_gate(project: Project) -> None:
    project.ask(good("terms"), bad("prices"))
    run = project.run("--rag-gate=rate:0.9")
    assert (run.exit_status, run.outcomes) == (pytest.ExitCode.TESTS_FAILED, {"failed": 1, "passed": 1, "xfailed": 1})
    text = "pass rate 0.500 (1 of 2; 95 % interval 0.095 to 0.905) is below 0.9"
    assert run.junit["gate"] == ("failure", text)
    assert run.junit["prices"][0] == "skipped"


@two_ways
def test_an_error_is_red_under_a_rate_and_not_in_it(project: Project) -> None:
    project.ask(good("terms"), broken("prices"))
    run = project.run("--rag-gate=rate:1")
    assert (run.exit_status, run.outcomes) == (pytest.ExitCode.TESTS_FAILED, {"passed": 1, "error": 1})
    assert any(line.startswith("gate rate:1: pass rate 1.000 (1 of 1;") for line in run.lines)


def test_without_any_verdict_there_is_no_rate(project: Project) -> None:
    project.ask(broken("prices"))
    assert "gate rate:1: no question has a PASS or a FAIL" in project.run("--rag-gate=rate:1").lines


@three_ways
def test_known_failures_may_fail_and_a_stricter_judge_is_no_regression(project: Project) -> None:
    project.ask(good("terms"), bad("prices"), bad("hours"), bad("returns"))
    write_baseline(project, passed("terms"), passed("prices"), failed("hours"), errored("returns"))
    run = project.run(*REGRESSION, "-rx")
    assert (run.exit_status, run.outcomes) == (0, {"passed": 1, "xfailed": 3})
    assert sorted(run.short_summary) == [
        "XFAIL billing.rag.yaml::hours - FAIL in baseline.json too",
        (
            "XFAIL billing.rag.yaml::prices - PASS in baseline.json: the gate decides "
            "(asked again: FAIL, FAIL, FAIL, FAIL)"
        ),
        "XFAIL billing.rag.yaml::returns - ERROR in baseline.json too",
    ]
    assert run.asked.count("What about prices?") == 5
    assert run.asked.count("What about hours?") == 1
    lines = run.lines
    at = lines.index("judged stricter today:")
    assert lines[at + 2] == (
        "failed 5 of 5 times; judged side by side, the recorded answers are 0.70 below the threshold of groundedness, "
        "the new ones 0.29 below it (p = 1)"
    )
    (row,) = [row for row in run.predictions["predictions"] if row["question_id"] == "prices"]
    assert row["asked_again"] == ["FAIL"] * 4


def test_the_words_about_both_sides_name_the_worst_metric_of_each(project: Project) -> None:
    project.write(
        "conftest.py",
        "import pathlib, pytest\nfrom pytest_ragcheck import RagClient\n\n@pytest.fixture(scope='session')\n"
        "def rag_client():\n    text = pathlib.Path('answer.txt').read_text()\n"
        "    reply = {'answer': text, 'contexts': ['Members borrow up to 12 books.']}\n"
        "    return RagClient.from_callable(lambda query: reply)\n",
    )
    project.write("a.rag.yaml", "- {id: books, question: How many books may members borrow?, expected_answer: 12}\n")
    project.write("answer.txt", "Members borrow up to 12 books.")
    project.run("--rag-judge=offline", "--rag-output=first")
    project.write("answer.txt", "Members borrow up to 12 books, and 40 films for 3 euros.")
    run = project.run("--rag-judge=offline", "--rag-baseline=first/rag_predictions.json")
    (words,) = (line for line in run.lines if "judged side by side" in line)
    assert words.endswith(" above the threshold of answer_correctness, the new ones 0.70 below that of groundedness")


@two_ways
def test_what_a_test_asks_by_rag_check_is_asked_again_and_tolerated_too(project: Project) -> None:
    project.reply_to(bad("prices"), bad("hours"))
    project.write(
        "test_calls.py",
        "def test_prices(rag_check): rag_check('What about prices?').assert_passed()\n"
        "def test_hours(rag_check): rag_check('What about hours?').assert_passed()\n",
    )
    said = {"dataset_name": "test_calls"}
    write_baseline(
        project,
        passed("test_prices-1", question="What about prices?", **said),
        failed("test_hours-1", question="What about hours?", **said),
    )
    run = project.run(*REGRESSION, "-rx")
    assert (run.exit_status, run.outcomes) == (0, {"xfailed": 2})
    assert (run.asked.count("What about prices?"), run.asked.count("What about hours?")) == (5, 1)
    # pytest adds where a test of a user's own failed.
    assert [line.partition(" (")[0] for line in sorted(run.short_summary)] == [
        "XFAIL test_calls.py::test_hours - FAIL in baseline.json too",
        "XFAIL test_calls.py::test_prices - PASS in baseline.json: the gate decides",
    ]


@two_ways
def test_a_baseline_without_answers_confirms_by_asking_again_and_names_the_flaky_ones(project: Project) -> None:
    names = [f"q{i}" for i in range(12)]
    project.ask(*map(bad, names[:3]), *map(good, names[3:]))
    history = {"passes": 6, "fails": 0}
    rows = [without_answer(passed(name, history=history)) for name in names[:-1]]
    write_baseline(project, *rows, without_answer(passed(names[-1], history={"passes": 4, "fails": 2})))
    run = project.run("--rag-baseline=baseline.json")
    assert run.exit_status == pytest.ExitCode.TESTS_FAILED
    assert run.junit["gate"] == ("failure", "3 confirmed as failing against baseline.json")
    assert "confirmed as failing:" in run.section("ragcheck::gate")
    assert run.summary["gate"]["red"] is True
    assert run.summary["flaky"] == [{"dataset_name": "billing", "question_id": "q11", "passes": 5, "fails": 2}]
    assert {"flaky: billing::q11 passed 5 of 7 times", QUARANTINE} <= set(run.lines)


def test_a_baseline_without_its_contexts_is_named(project: Project) -> None:
    project.ask(good("terms"), good("prices"))
    project.run("--rag-output=out")
    assert main(["baseline", "save", "out"]) == 0
    (project.folder / "ragcheck-baseline.contexts.json").unlink()
    assert (
        "2 recorded answers cannot be scored or judged again: the file of contexts beside ragcheck-baseline.json lacks "
        "their texts. Commit both files of a baseline."
    ) in project.run("--rag-output=out").lines


def test_a_replay_under_a_raised_threshold_is_compared_under_that_threshold(project: Project) -> None:
    project.ask(bad("terms", groundedness=0.9), good("prices"))
    project.run("--rag-output=out")
    assert main(["baseline", "save", "out"]) == 0
    run = project.run("--rag-replay=out/rag_predictions.json", "--rag-threshold=0.95")
    assert (run.exit_status, run.outcomes) == (0, {"passed": 1, "xfailed": 1})
    assert "baseline ragcheck-baseline.json: 1 still failing, 1 as before" in run.lines
    assert main(["report", "ragcheck-results", "-o", "r.md"]) == 0
    assert "newly failing" not in (project.folder / "r.md").read_text(encoding="utf-8")


def test_a_run_without_answers_has_none_to_accept(project: Project) -> None:
    write_baseline(project, passed("terms"))
    project.ask(broken("terms"))
    said = "no question can be compared, so the gate cannot turn red."
    errors = "1 ERROR in place of recorded answers turned the run red."
    assert f"{said} {errors}" in project.run("--rag-baseline=baseline.json").lines
    project.ask(good("hours"))
    advice = (
        "If the questions only have other names, restore their dataset_name (billing) and ids. "
        "Otherwise move baseline.json away, and save the run: ragcheck baseline save -o baseline.json"
    )
    allowed = project.run("--rag-baseline=baseline.json", "-orag_baseline_allow=missing-questions")
    assert f"{said} {advice}" in allowed.lines


@two_ways
def test_last_failed_runs_the_questions_that_turn_the_gate_red(project: Project) -> None:
    project.ask(good("terms"), bad("prices"), bad("hours"))
    write_baseline(project, *map(without_answer, (passed("terms"), passed("prices"), failed("hours"))))
    cache = project.folder / ".pytest_cache" / "v" / "cache" / "lastfailed"
    assert project.run("--rag-baseline=baseline.json").outcomes == {"passed": 1, "xfailed": 2, "failed": 1}
    assert json.loads(cache.read_text(encoding="utf-8")) == {"billing.rag.yaml::prices": True}
    assert project.run("--rag-baseline=baseline.json", "--lf").outcomes == {"xfailed": 1, "failed": 1}
    project.ask(good("terms"), good("prices"), bad("hours"))
    assert project.run("--rag-baseline=baseline.json", "--lf").exit_status == 0
    assert json.loads(cache.read_text(encoding="utf-8")) == {}


@two_ways
def test_a_run_that_collects_no_question_of_its_baseline_is_named(project: Project) -> None:
    write_baseline(project, passed("terms"))
    project.write("test_unit.py", "def test_unit(): pass\n")
    line = "gate: not compared: no question was collected"
    assert line in project.run("--rag-baseline=baseline.json").lines
    for option in ("test_unit.py", "--cache-show"):
        assert "not compared" not in project.run("--rag-baseline=baseline.json", option).text


@pytest.mark.parametrize("options", [(), (".",), (".", "-o", "python_files=")])
def test_a_run_whose_question_files_are_all_deleted_says_so(project: Project, options: tuple[str, ...]) -> None:
    write_baseline(project, passed("terms"))
    run = project.run("--rag-baseline=baseline.json", "--rag-require-endpoint", *options)
    assert run.exit_status == pytest.ExitCode.NO_TESTS_COLLECTED
    red = "--rag-require-endpoint turns such a run red"
    assert run.section("ragcheck") == [
        "gate: not compared: no question was collected",
        f"no question was collected; {red}. Check testpaths and the names of the files.",
    ]


@two_ways
def test_a_run_that_requires_its_endpoint_is_red_without_a_question_of_its_baseline(project: Project) -> None:
    write_baseline(project, passed("terms"))
    project.write("test_unit.py", "def test_unit(): pass\n")
    options = ("--rag-baseline=baseline.json", "--rag-require-endpoint")
    run = project.run(*options)
    assert (run.exit_status, run.outcomes) == (pytest.ExitCode.TESTS_FAILED, {"passed": 1})
    assert "gate: not compared: no question was collected" in run.lines
    assert project.run(*options, "test_unit.py").exit_status == 0


@pytest.mark.parametrize("allowed", ["none", "other-settings"])
def test_a_baseline_of_other_datasets_is_compared_again_under_the_former_name(project: Project, allowed: str) -> None:
    project.ask(good("terms"))
    write_baseline(project, passed("terms", dataset_name="sales"))
    options = ("--rag-baseline=baseline.json", f"-orag_baseline_allow={allowed.replace('none', '')}")
    run = project.run(*options)
    assert run.section("ragcheck::gate")[-1] == (
        "If the questions only have other names, restore their dataset_name (sales) and ids. "
        "Otherwise move baseline.json away, and save the run: ragcheck baseline save -o baseline.json"
    )
    project.ask(good("terms"), dataset_name="sales")
    assert project.run(*options).exit_status == 0


def test_a_question_that_was_an_error_in_the_baseline_is_not_called_edited(project: Project) -> None:
    project.ask(good("terms"), good("hours"), bad("prices"))
    write_baseline(project, passed(), errored("hours"), errored("prices"))
    run = project.run(*REGRESSION)
    assert run.outcomes == {"passed": 2, "xfailed": 1}
    assert "baseline baseline.json: 1 still failing, 1 newly passing, 1 as before" in run.lines, run.text


def test_a_new_file_beside_rewritten_questions_is_no_other_dataset(project: Project) -> None:
    project.ask(good("terms"))
    project.ask(good("pay"), file="hr.rag.yaml")
    write_baseline(project, passed(question="Which terms?"))
    run = project.run(*REGRESSION)
    assert run.exit_status == 0, run.text
    assert "edited, and not compared:" in run.lines


@three_ways
def test_many_flips_turn_the_gate_red_and_are_named(project: Project) -> None:
    names = [f"q{i}" for i in range(12)]
    project.ask(*map(bad, names))
    write_baseline(project, *(without_answer(passed(name)) for name in names))
    run = project.run(*REGRESSION)
    assert (run.exit_status, run.outcomes) == (pytest.ExitCode.TESTS_FAILED, {"failed": 1, "xfailed": 12})
    assert run.junit["gate"] == ("failure", "12 confirmed as failing against baseline.json")
    text = run.section("ragcheck::gate")
    assert "12 of 12 questions broke, 0 improved (p < 0.001); the gate turns red at 6 with 1 saved run" in text
    assert text[text.index("confirmed as failing:") + 2] == "    failed 3 of 3 times"


def test_a_new_question_that_fails_is_red_by_itself(project: Project) -> None:
    project.ask(good("terms"), bad("returns"))
    write_baseline(project, passed("terms"))
    assert project.run(*REGRESSION).outcomes == {"passed": 1, "failed": 1}


def test_a_missing_question_is_red_unless_it_is_allowed(project: Project) -> None:
    project.ask(good("terms"))
    write_baseline(project, passed("terms"), passed("prices"))
    run = project.run(*REGRESSION)
    assert run.junit["gate"] == ("failure", "1 missing against baseline.json")
    allowed = project.run(*REGRESSION, "-orag_baseline_allow=missing-questions")
    assert (allowed.exit_status, allowed.lines.count("missing:")) == (0, 1)
    assert project.run("--rag-baseline=baseline.json", "-orag_baseline_allow=missing-questions").exit_status == 0


@two_ways
def test_a_question_in_quarantine_is_reported_and_does_not_gate(project: Project) -> None:
    project.ask(good("terms"), bad("prices", quarantine="passes in half of the runs"))
    write_baseline(project, passed("terms"), passed("prices"))
    run = project.run("--rag-baseline=baseline.json", "-rx")
    assert (run.exit_status, run.outcomes) == (0, {"passed": 1, "xfailed": 1})
    assert run.short_summary == ["XFAIL billing.rag.yaml::prices - in quarantine: passes in half of the runs"]


def test_a_question_with_xfail_that_passes_is_not_examined_and_not_called_unexamined(project: Project) -> None:
    project.ask(good("terms"), good("prices", xfail="known"))
    write_baseline(project, passed("terms"), passed("prices"))
    run = project.run(*REGRESSION)
    assert run.exit_status == 0
    assert "baseline baseline.json: 2 as before" in run.text
    assert "without this gate" not in run.text


@two_ways
def test_a_regression_gate_without_a_baseline_ends_the_run_before_it_begins(project: Project) -> None:
    project.ask(good("terms"))
    run = project.run("--rag-gate=regression")
    assert (run.exit_status, run.asked) == (pytest.ExitCode.USAGE_ERROR, [])
    assert (
        "ERROR: ragcheck: --rag-gate=regression has nothing to compare with. Save a run with ragcheck baseline "
        "save, or give --rag-gate=each."
    ) in run.stderr.splitlines()


def test_without_the_gate_no_fail_is_let_pass(project: Project) -> None:
    project.ask(bad("prices"))
    assert project.run("--rag-gate=rate:0.1", "-p", "no:ragcheck-gate").outcomes == {"failed": 1}


def test_a_baseline_that_was_made_otherwise_is_refused_at_no_cost(project: Project) -> None:
    project.ask(good("terms"), bad("prices"))
    write_baseline(project, *(passed(name, prompt_version="en-1", top_k=3) for name in ("terms", "prices")))
    run = project.run("--rag-baseline=baseline.json")
    assert sorted(run.asked) == ["What about prices?", "What about terms?"]
    assert run.section("ragcheck::gate") == [
        "baseline.json cannot be compared: prompt: en-1 then, canned-1 now; top_k: 3 then, 5 now",
        "",
        (
            "If the run is right, accept it: ragcheck baseline accept -o baseline.json. "
            "To compare anyway, set rag_baseline_allow = other-settings."
        ),
    ]
    allowed = project.run("--rag-baseline=baseline.json", "-orag_baseline_allow=other-settings")
    assert allowed.exit_status == 0
    assert "none of 2 answers is in the baseline" in allowed.lines
    assert allowed.asked.count("What about prices?") == 5


def test_a_refused_baseline_is_for_information_under_a_rate(project: Project) -> None:
    project.ask(good("terms"), good("prices"))
    write_baseline(project, *(passed(name, top_k=3) for name in ("terms", "prices")))
    run = project.run("--rag-baseline=baseline.json", "--rag-gate=rate:0.9")
    assert (run.exit_status, run.outcomes) == (0, {"passed": 2})
    assert "baseline baseline.json: refused: top_k: 3 then, 5 now" in run.lines


def test_a_baseline_is_read_from_git(project: Project) -> None:
    project.ask(good("terms"))
    path = write_baseline(project, passed("terms"), passed("prices"))
    author = ["-c", "user.name=A", "-c", "user.email=a@example.invalid"]
    for arguments in (["init", "-q"], ["add", path.name], ["commit", "-q", "-m", "one"]):
        subprocess.run(["git", *author, *arguments], cwd=project.folder, check=True, capture_output=True)
    path.unlink()
    run = project.run("--rag-baseline=git:HEAD:baseline.json")
    assert run.junit["gate"] == ("failure", "1 missing against git:HEAD:baseline.json")


def test_edited_labels_are_named_under_each_and_an_unchanged_file_is_not(project: Project) -> None:
    project.ask(good("terms"), good("prices"))
    project.run("--rag-output=out")
    assert main(["baseline", "save", "out"]) == 0
    project.ask(good("terms", must_mention=["the"]), good("prices"))
    each = project.run("--rag-gate=each").text
    assert "compared although the question's text or labels changed: terms\n" in each
    project.ask(good("terms"), good("prices"))
    os.utime(project.folder / "billing.rag.yaml", (4_000_000_000, 4_000_000_000))
    assert "although" not in project.run("--rag-gate=each").text
