"""The gate on regressions: the reasons for red, in terminal, exit status and JUnit alike."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET

import pytest

from pytest_ragcheck.cli import main
from tests.baselines import errored, failed, passed, write_baseline
from tests.canned import bad, broken, good
from tests.harness import exhaustive, three_ways, two_ways

if TYPE_CHECKING:
    from tests.harness import Project, Run

GATED = "--rag-gate=each", "--rag-baseline=baseline.json"


def compared(run: Run) -> list[str]:
    """The lines of the comparison in the section of the terminal that is ours."""
    match = re.search(r"(?ms)^=+ ragcheck =+$.*?^(baseline .*?)^(?:results:|=)", run.text + "\n=")
    return match[1].splitlines() if match else []


OTHER = "ragcheck-results/other_predictions.json"


@three_ways
def test_a_question_that_newly_fails_makes_the_gate_fail(project: Project) -> None:
    project.ask(good("terms"), bad("prices"))
    write_baseline(project, passed("terms"), passed("prices"))
    run = project.run(*GATED)
    assert run.exit_status == pytest.ExitCode.TESTS_FAILED
    assert run.outcomes == {"passed": 1, "failed": 2}
    assert run.junit["gate"] == ("failure", "1 newly failing against baseline.json")
    (suite,) = ET.parse(project.folder / "junit.xml").iter("testsuite")
    assert (suite.get("tests"), suite.get("failures"), suite.get("errors")) == ("3", "2", "0")
    assert "FAILED ragcheck::gate - 1 newly failing against baseline.json" in run.short_summary
    assert run.section("ragcheck::gate") == [
        "1 newly failing against baseline.json",
        "",
        "newly failing:",
        "  prices: groundedness 0.91 -> 0.41 < 0.70: No price is in the contexts.",
        "",
        "If the new answers are right, accept them: ragcheck baseline accept -o baseline.json",
    ]
    assert compared(run) == ["baseline baseline.json: 1 newly failing, 1 as before"]


def test_the_command_that_accepts_names_the_file_if_the_folder_has_other_agents(project: Project) -> None:
    project.ask(good("terms"), bad("prices"))
    write_baseline(project, passed("terms"), passed("prices"))
    project.run(*GATED, "-k", "terms")
    command = "ragcheck baseline accept -o baseline.json"
    assert project.run(*GATED).section("ragcheck::gate")[-1].endswith(f"accept them: {command}")
    other = project.run(*GATED, "--rag-agent=other").section("ragcheck::gate")[-1]
    assert other.endswith(f"accept them: ragcheck baseline accept --results {OTHER} -o baseline.json")
    assert main(["baseline", "accept", "--results", OTHER, "-o", "baseline.json"]) == 0


def test_the_command_that_accepts_names_results_outside_the_folder_of_the_ini_file(project: Project) -> None:
    project.ask(good("terms"), bad("prices"))
    write_baseline(project, passed("terms"), passed("prices"))
    project.write("pytest.ini", "[pytest]\nrag_output = out\n")
    for folder in ("out", "ragcheck-results"):
        advice = project.run(*GATED, f"--rag-output={folder}").section("ragcheck::gate")[-1]
        assert advice.endswith(f"ragcheck baseline accept --results {folder} -o baseline.json")


def test_the_answers_of_a_partial_run_are_accepted_after_a_full_one(project: Project) -> None:
    project.ask(good("terms"), bad("prices"), good("hours", skip="not yet"))
    write_baseline(project, passed("terms"), passed("prices"), passed("hours"))
    assert "accept them: ragcheck" in project.run(*GATED, "--rag-output=out").section("ragcheck::gate")[-1]
    run = project.run(*GATED, "--rag-output=out", "-k", "prices")
    assert run.section("ragcheck::gate")[-1] == (
        "If the new answers are right, accept them after a full run: "
        "ragcheck baseline accept --results out -o baseline.json"
    )
    shards = [project.run(*GATED, "--rag-output=out", f"--rag-shard={part}") for part in ("1/2", "2/2")]
    assert "accept them after a full run: ragcheck baseline accept -o baseline.json" in shards[0].text + shards[1].text


@pytest.mark.parametrize("traceback", ["no", "line"])
def test_what_the_failure_of_the_gate_does_not_show_is_in_the_summary(project: Project, traceback: str) -> None:
    project.ask(good("terms"), bad("prices"))
    write_baseline(project, passed("terms"), passed("prices"))
    assert compared(project.run(*GATED, f"--tb={traceback}")) == [
        "baseline baseline.json: 1 newly failing, 1 as before",
        "newly failing:",
        "  prices: groundedness 0.91 -> 0.41 < 0.70: No price is in the contexts.",
    ]


def test_each_group_of_questions_says_how_many_more_it_has(project: Project) -> None:
    worse, still = [f"worse-{n}" for n in range(12)], [f"still-{n}" for n in range(12)]
    project.ask(*map(bad, (*worse, *still)))
    write_baseline(project, *map(passed, worse), *map(failed, still))
    run = project.run(*GATED)
    assert run.section("ragcheck::gate").count("  ... and 2 more") == 1
    assert compared(run)[1] == "still failing:"
    assert compared(run)[-1] == "  ... and 2 more"


@three_ways
def test_a_missing_question_makes_a_run_red_in_which_all_others_pass(project: Project) -> None:
    project.ask(good("terms"))
    write_baseline(project, passed("terms"), failed("prices"))
    run = project.run(*GATED, "--tb=no")
    assert (run.exit_status, run.outcomes) == (pytest.ExitCode.TESTS_FAILED, {"passed": 1, "failed": 1})
    assert run.short_summary == ["FAILED ragcheck::gate - 1 missing against baseline.json"]
    assert run.junit == {"terms": ("passed", ""), "gate": ("failure", "1 missing against baseline.json")}
    assert compared(run) == [
        "baseline baseline.json: 1 missing, 1 as before",
        "missing:",
        "  prices: FAIL before: What about prices?",
    ]
    assert run.summary["complete"] is True


@three_ways
def test_a_run_that_is_not_worse_has_a_line_and_no_further_item(project: Project) -> None:
    project.ask(good("terms"), good("prices"), good("hours"), good("returns"))
    write_baseline(project, passed("terms"), failed("prices"), errored("hours"))
    run = project.run(*GATED)
    assert (run.exit_status, run.outcomes) == (0, {"passed": 4})
    assert "gate" not in run.junit
    assert compared(run) == [
        "baseline baseline.json: 2 newly passing, 1 new, 1 as before",
        "newly passing:",
        "  prices: groundedness 0.30 -> 1.00 >= 0.70",
        "  hours: ERROR before (endpoint_timeout)",
        "new:",
        "  returns: PASS",
    ]


def test_a_question_that_fails_as_before_or_for_the_first_time_is_red_by_itself_alone(project: Project) -> None:
    project.ask(bad("prices"), bad("hours"), bad("returns"))
    write_baseline(project, failed("prices"), errored("hours"))
    run = project.run(*GATED)
    assert run.outcomes == {"failed": 3}
    assert compared(run) == [
        "baseline baseline.json: 2 still failing, 1 new",
        "still failing:",
        "  prices: groundedness 0.30 -> 0.41 < 0.70: No price is in the contexts.",
        "  hours: ERROR before (endpoint_timeout), now groundedness 0.41 < 0.70: No price is in the contexts.",
        "new:",
        "  returns: FAIL",
    ]


def test_a_question_that_could_not_be_measured_is_neither_worse_nor_missing(project: Project) -> None:
    project.ask(good("terms"), broken("prices"))
    write_baseline(project, passed("terms"), passed("prices"))
    run = project.run(*GATED)
    assert run.outcomes == {"passed": 1, "error": 1}
    assert compared(run) == [
        "baseline baseline.json: 1 not measured, 1 as before",
        "not measured:",
        "  prices: canned: the endpoint is down.",
    ]


@pytest.mark.parametrize("way", ["n2"], indirect=True)
def test_the_question_of_a_worker_that_died_could_not_be_measured(project: Project) -> None:
    project.ask(good("terms"), good("kill"))
    project.extend_conftest(
        "import os, signal\n\n\n@pytest.fixture\ndef rag_question(rag_question):\n"
        "    if rag_question.id == 'kill':\n        os.kill(os.getpid(), signal.SIGKILL)\n    return rag_question\n"
    )
    write_baseline(project, passed("terms"), passed("kill"))
    run = project.run(*GATED)
    assert run.verdicts["kill"] == "ERROR"
    assert compared(run)[0] == "baseline baseline.json: 1 not measured, 1 as before"
    assert "gate" not in run.junit


@two_ways
def test_a_fail_that_is_expected_is_not_held_against_the_run(project: Project) -> None:
    project.ask(bad("prices", xfail="known since May"))
    write_baseline(project, passed("prices"))
    run = project.run(*GATED)
    assert (run.exit_status, run.outcomes) == (0, {"xfailed": 1})
    assert compared(run) == [
        "baseline baseline.json: 1 failing as expected",
        "failing as expected:",
        "  prices: groundedness 0.91 -> 0.41 < 0.70: No price is in the contexts.",
    ]


@pytest.mark.parametrize("gate", ["each", "confirmed"])
def test_a_fail_that_is_expected_is_not_newly_failing_in_any_report(project: Project, gate: str) -> None:
    project.ask(good("terms"), bad("prices", xfail="known since May"), bad("dates", quarantine="it depends"))
    write_baseline(project, passed("terms"), passed("prices"), passed("dates"))
    given = f"--rag-gate={gate}", "--rag-baseline=baseline.json", "--rag-report=run.md"
    assert project.run(*given).outcomes == {"passed": 1, "xfailed": 2}
    assert main(["report", "ragcheck-results", "--baseline=baseline.json", "-o", "file.md"]) == 0
    for name in ("run.md", "file.md"):
        text = (project.folder / name).read_text()
        assert text.startswith("## ✅ rag: billing: 1 of 3 passed, 2 FAIL tolerated\n")
        assert "### Failing, tolerated: 2" in text
        assert re.findall("  tolerated: (.*)", text) == [
            "expected to fail: known since May",
            "in quarantine: it depends",
        ]


def test_the_short_summary_says_one_line_in_ci_too(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CI", "true")
    project.ask(good("terms"))
    write_baseline(project, passed("terms"), passed("prices"))
    run = project.run(*GATED)
    assert run.short_summary == ["FAILED ragcheck::gate - 1 missing against baseline.json"]
    assert "If this is" not in run.text.partition("short test summary")[2]


@pytest.mark.parametrize(
    ("option", "line"),
    [
        ("-q", ".F                                                                       [100%]"),
        ("-v", "ragcheck::gate FAILED                                                    [100%]"),
        ("-vconsole_output_style=count", "ragcheck F                                   [2/2]"),
    ],
)
def test_the_gate_is_counted_in_the_progress(project: Project, option: str, line: str) -> None:
    project.ask(good("terms"))
    write_baseline(project, passed("terms"), passed("prices"))
    run = project.run(*GATED, option if len(option) == 2 else f"-o{option[2:]}")
    assert line.split() in [found.split() for found in run.lines]


def test_one_line_says_it_where_one_line_is_asked_for(project: Project) -> None:
    project.ask(good("terms"))
    path = write_baseline(project, passed("terms"), passed("prices"))
    run = project.run(*GATED, "--tb=line")
    assert f"{path}:1: 1 missing against baseline.json" in run.lines


@two_ways
def test_the_gate_needs_no_terminal(project: Project) -> None:
    project.ask(good("terms"))
    write_baseline(project, passed("terms"), passed("prices"))
    run = project.run(*GATED, "-p", "no:terminal")
    assert run.exit_status == pytest.ExitCode.TESTS_FAILED
    assert run.junit["gate"] == ("failure", "1 missing against baseline.json")


def test_the_gate_can_be_turned_off_for_a_run(project: Project) -> None:
    project.write("pytest.ini", "[pytest]\nrag_baseline = baseline.json\n")
    project.ask(good("terms"))
    write_baseline(project, passed("terms"), passed("prices"))
    run = project.run("-p", "no:ragcheck-gate")
    assert (run.exit_status, run.outcomes, compared(run)) == (0, {"passed": 1}, [])


# Valid baselines, and the time of the check


@three_ways
def test_a_baseline_that_is_none_ends_the_run_before_a_question_is_asked(project: Project) -> None:
    project.ask(good("terms"))
    run = project.run(*GATED)
    assert run.exit_status == pytest.ExitCode.USAGE_ERROR
    assert (
        "ERROR: ragcheck: --rag-baseline: baseline.json: there is no such file. "
        "Make a baseline with pytest -p no:ragcheck-gate, then ragcheck baseline save."
    ) in run.stderr.splitlines()
    assert (run.asked, run.files) == ([], [])


@pytest.mark.parametrize("way", ["plain", pytest.param("no-xdist", marks=exhaustive)], indirect=True)
def test_it_ends_a_run_of_users_own_tests_before_a_question_is_asked(project: Project) -> None:
    project.reply_to(good("terms"))
    project.write("test_own.py", "def test_own(rag_check):\n    rag_check('What about terms?')\n")
    run = project.run(*GATED)
    assert (run.exit_status, run.asked, run.files) == (pytest.ExitCode.USAGE_ERROR, [], [])


@pytest.mark.parametrize("way", ["n2"], indirect=True)
@pytest.mark.parametrize(
    "test",
    [
        "rag_check):\n    rag_check('What about terms?')",
        pytest.param("rag_result): pass", marks=exhaustive),
    ],
)
@pytest.mark.parametrize("gate", ["confirmed", pytest.param("each", marks=exhaustive)])
def test_it_ends_such_a_run_of_workers_as_soon_as_their_first_report_is_there(
    project: Project, test: str, gate: str
) -> None:
    project.ask(good("terms"), file="billing.yaml")
    project.write("test_own.py", f"import pytest\n\n\n{MARK if 'result' in test else ''}def test_own({test}\n")
    run = project.run("--rag-baseline=baseline.json", f"--rag-gate={gate}")
    assert run.exit_status == pytest.ExitCode.USAGE_ERROR
    assert "UsageError" not in run.text
    assert "ERROR: ragcheck: --rag-baseline: baseline.json: there is no such file." in run.stderr
    assert "rag_summary.json" not in run.files


MARK = "@pytest.mark.rag_questions('billing.yaml')\n"


@two_ways
def test_a_run_without_questions_never_looks_at_the_baseline(project: Project) -> None:
    project.write("pytest.ini", "[pytest]\nrag_baseline = nowhere.json\n")
    project.write("test_own.py", "def test_own(): pass\n")
    run = project.run()
    assert (run.exit_status, run.outcomes, run.stderr) == (0, {"passed": 1}, "")
    assert "nowhere.json" not in run.text


def test_a_run_that_only_collects_never_looks_at_the_baseline(project: Project) -> None:
    project.ask(good("terms"))
    run = project.run("--collect-only", *GATED)
    assert (run.exit_status, compared(run)) == (0, [])


def test_a_run_in_which_every_question_is_skipped_is_compared_with_nothing(project: Project) -> None:
    project.ask(good("terms", skip="not today"))
    write_baseline(project, passed("terms"), passed("prices"))
    run = project.run(*GATED)
    assert (run.exit_status, run.outcomes, compared(run)) == (0, {"skipped": 1}, [])


def test_the_baseline_is_relative_to_where_it_is_typed(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    project.write("pytest.ini", "[pytest]\nrag_baseline = nowhere.json\n")
    project.ask(good("terms"))
    write_baseline(project, passed("terms"), name="inner/before/baseline.json")
    monkeypatch.chdir(project.folder / "inner")
    run = project.run("..", "--rag-gate=each", "--rag-baseline=before/baseline.json")
    assert compared(run) == ["baseline inner/before/baseline.json: 1 as before"]


def test_the_baseline_of_the_ini_file_is_relative_to_the_root(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    project.write("pytest.ini", "[pytest]\nrag_gate = each\nrag_baseline = before/baseline.json\n")
    project.ask(good("terms"))
    write_baseline(project, passed("terms"), name="before/baseline.json")
    (project.folder / "inner").mkdir()
    monkeypatch.chdir(project.folder / "inner")
    as_before = "baseline before/baseline.json: 1 as before"
    assert compared(project.run("..")) == [as_before]
    project.ask(good("prices"))
    accept = f"save the run: ragcheck baseline save --results {project.folder}/ragcheck-results -o {project.folder}/"
    assert f"{accept}before/baseline.json" in project.run("..").text
    project.ask(good("terms"))
    assert compared(project.run("..", "--rag-baseline=../before/baseline.json")) == [as_before]
    assert main(["report", "../ragcheck-results", "-o", "r.md"]) == 0
    assert as_before in Path("r.md").read_text(encoding="utf-8").splitlines()


def test_a_baseline_in_the_output_folder_is_refused_before_a_question_is_asked(project: Project) -> None:
    project.ask(good("terms"))
    project.run()
    run = project.run("--rag-baseline=ragcheck-results/rag_predictions.json")
    assert (run.exit_status, run.asked) == (pytest.ExitCode.USAGE_ERROR, [])
    assert (
        "ERROR: ragcheck: --rag-baseline: ragcheck-results/rag_predictions.json: it is in the output folder, whose "
        "files the next run replaces. Save the run with ragcheck baseline save, which writes ragcheck-baseline.json."
    ) in run.stderr.splitlines()
    elsewhere = project.run("--rag-baseline=ragcheck-results/rag_predictions.json", "--rag-output=now")
    assert elsewhere.exit_status == 0


# Runs that are not the whole


def test_a_run_that_stopped_at_its_first_failure_is_not_compared(project: Project) -> None:
    project.ask(bad("prices"), good("terms"))
    write_baseline(project, passed("prices"), passed("terms"))
    run = project.run(*GATED, "-x")
    assert run.outcomes == {"failed": 1}
    assert compared(run) == ["baseline baseline.json: not compared: the run was stopped before its end"]


@pytest.mark.parametrize("way", ["n2"], indirect=True)
def test_a_run_of_workers_that_stopped_at_its_first_failure_is_not_compared(project: Project) -> None:
    project.ask(bad("prices"), *map(good, "abcdefgh"))
    write_baseline(project, passed("prices"))
    run = project.run(*GATED, "-x")
    assert "gate" not in run.junit
    assert compared(run) == ["baseline baseline.json: not compared: the run was stopped before its end"]


def test_an_interrupted_run_is_not_compared(project: Project) -> None:
    project.ask(good("terms"))
    project.write("test_stop.py", "def test_stop(): raise KeyboardInterrupt\n")
    write_baseline(project, passed("terms"), passed("prices"))
    run = project.run(*GATED, subprocess=True)
    assert run.exit_status == pytest.ExitCode.INTERRUPTED
    assert compared(run) == ["baseline baseline.json: not compared: the run was stopped before its end"]


@two_ways
def test_a_run_that_could_not_collect_all_is_not_compared(project: Project) -> None:
    project.ask(good("terms"))
    project.write("other.rag.yaml", "questions: 1\n")
    write_baseline(project, passed("terms"), passed("prices"))
    run = project.run(*GATED, "--continue-on-collection-errors")
    assert run.exit_status == pytest.ExitCode.TESTS_FAILED
    assert compared(run) == ["baseline baseline.json: not compared: other.rag.yaml could not be collected"]


@two_ways
def test_under_maxfail_a_red_gate_makes_no_partial_run_of_a_whole_one(project: Project) -> None:
    project.ask(good("terms"))
    write_baseline(project, passed("terms"), passed("prices"))
    run = project.run(*GATED, "-x")
    assert run.outcomes == {"passed": 1, "failed": 1}
    assert run.summary["complete"] is True


@pytest.mark.parametrize(
    "selection", [["-k", "terms"], ["billing.rag.yaml::terms"], ["--deselect=billing.rag.yaml::prices"], []]
)
def test_what_was_deselected_or_skipped_is_not_missing(project: Project, selection: list[str]) -> None:
    skip = {} if selection else {"skip": "not today"}
    project.ask(good("terms"), good("prices", **skip))
    write_baseline(project, passed("terms"), passed("prices"))
    run = project.run(*GATED, *selection)
    assert run.exit_status == 0
    assert compared(run) == [
        "baseline baseline.json: 1 as before",
        "not compared, because not run: 1 question of billing",
    ]


def test_a_question_that_left_a_collected_file_is_missing_whatever_was_selected(project: Project) -> None:
    project.ask(good("terms"), good("hours"))
    write_baseline(project, passed("terms"), passed("prices"))
    assert project.run(*GATED, "-k", "terms").junit["gate"] == ("failure", "1 missing against baseline.json")


@two_ways
def test_a_deleted_file_is_missing_in_a_full_run(project: Project) -> None:
    project.ask(good("terms"))
    write_baseline(project, passed("terms"), passed("a", dataset_name="old"), passed("b", dataset_name="old"))
    run = project.run(*GATED)
    assert run.junit["gate"] == ("failure", "2 missing against baseline.json")
    assert "  old::a: PASS before: What about a?" in run.section("ragcheck::gate")


def test_a_deleted_file_is_missing_where_the_run_would_have_come_by(project: Project) -> None:
    project.ask(good("terms"), file="evals/billing.rag.yaml")
    write_baseline(project, passed("q", dataset_name="evals__refunds"), passed("q", dataset_name="named"))
    run = project.run(*GATED, "evals", "--tb=no")
    assert compared(run) == [
        "baseline baseline.json: 1 missing, 1 new",
        "missing:",
        "  evals__refunds::q: PASS before: What about q?",
        "new:",
        "  evals__billing::terms: PASS",
        "not compared, because not run: 1 question of named",
    ]


# Questions of users' own tests

TWO_CALLS = """\
def test_two(rag_check):
    rag_check("What about terms?").assert_passed()
    rag_check("What about prices?").assert_passed()
"""


def calls(*names: str) -> list[dict[str, object]]:
    texts = {"1": "What about terms?", "2": "What about prices?"}
    return [passed(name, dataset_name="test_own", question=texts.get(name[-1], "What else?")) for name in names]


def test_a_call_that_a_failing_test_did_not_come_to_is_not_missing(project: Project) -> None:
    project.reply_to(bad("terms"), good("prices"))
    project.write("test_own.py", TWO_CALLS)
    write_baseline(project, *calls("test_two-1", "test_two-2"))
    run = project.run(*GATED)
    assert run.junit["gate"] == ("failure", "1 newly failing against baseline.json")
    assert compared(run)[-1] == "not compared, because not run: 1 question of test_own"


SKIPPED_FILE = "import pytest\npytest.skip('no', allow_module_level=True)\n" + TWO_CALLS


@pytest.mark.parametrize(
    ("way", "code"),
    [
        ("plain", "import pytest\n@pytest.mark.skip\n" + TWO_CALLS),
        ("plain", "import pytest\n@pytest.mark.xfail\n" + TWO_CALLS.replace("\n", "\n    assert 0\n", 1)),
        ("plain", SKIPPED_FILE),
        pytest.param("n2", SKIPPED_FILE, marks=exhaustive),
    ],
    indirect=["way"],
)
def test_the_calls_of_a_test_that_was_skipped_are_not_missing(project: Project, code: str) -> None:
    project.ask(good("hours"))
    project.reply_to(good("terms"), good("prices"))
    project.write("test_own.py", code)
    write_baseline(project, *calls("test_two-1", "test_two-2"), passed("hours"))
    run = project.run(*GATED)
    assert run.exit_status == 0
    assert compared(run)[-1] == "not compared, because not run: 2 questions of test_own"


def test_a_call_that_a_passing_test_does_not_make_any_more_is_missing(project: Project) -> None:
    project.reply_to(good("terms"), good("prices"))
    project.write("test_own.py", TWO_CALLS)
    write_baseline(project, *calls("test_two-1", "test_two-2", "test_two-3"))
    assert project.run(*GATED).junit["gate"] == ("failure", "1 missing against baseline.json")


@pytest.mark.parametrize("selection", [["-k", "hours"], ["test_own.py::test_two"], ["billing.rag.yaml"]])
def test_calls_of_tests_that_the_run_left_out_are_not_missing(project: Project, selection: list[str]) -> None:
    project.ask(good("hours"))
    project.reply_to(good("terms"), good("prices"))
    project.write("test_own.py", TWO_CALLS + "\ndef test_three(rag_check): rag_check('What about terms?')\n")
    write_baseline(project, *calls("test_three-1"), passed("hours"))
    assert project.run(*GATED, *selection).exit_status == 0


def test_a_file_of_tests_that_is_an_argument_is_missing_its_calls(project: Project) -> None:
    project.reply_to(good("terms"), good("prices"))
    project.write("test_own.py", TWO_CALLS)
    write_baseline(project, *calls("test_gone-1"), passed("hours"))
    run = project.run(*GATED, "test_own.py")
    assert run.junit["gate"] == ("failure", "1 missing against baseline.json")
    assert compared(run)[-1] == "not compared, because not run: 1 question of billing"


def test_a_call_that_passes_when_it_is_run_again_is_compared_with_that(project: Project) -> None:
    project.reply_to(good("terms"), good("prices"))
    once = "    again = Path('again').exists()\n    Path('again').touch()\n    assert again\n"
    project.write("test_own.py", "from pathlib import Path\n\n\n" + TWO_CALLS + once)
    write_baseline(project, *calls("test_two-1", "test_two-2", "test_two-3"))
    run = project.run(*GATED, "--reruns=1")
    assert run.outcomes == {"passed": 1, "failed": 1, "rerun": 1}
    assert run.junit["gate"] == ("failure", "1 missing against baseline.json")


def test_the_variant_of_a_marked_test_that_is_gone_is_missing(project: Project) -> None:
    project.ask(good("terms"), file="billing.yaml")
    project.write("test_own.py", f"import pytest\n\n\n{MARK}def test_own(rag_result): pass\n")
    names = [f"billing[{test}]" for test in ("test_own", "test_other")]
    write_baseline(project, *[passed("terms", dataset_name=name) for name in names])
    run = project.run(*GATED)
    assert "  billing[test_other]::terms: PASS before: What about terms?" in run.section("ragcheck::gate")


# Other explanations of a difference


def test_another_text_another_judge_and_other_thresholds_are_named(project: Project) -> None:
    project.ask(bad("terms", groundedness=0.75), good("prices"))
    write_baseline(project, passed("terms", question="Which terms?", prompt_version="en-1"), passed("prices"))
    run = project.run(*GATED, "--rag-min=groundedness=0.8", "-orag_baseline_allow=other-settings", "--tb=no")
    assert compared(run) == [
        "baseline baseline.json: 1 newly failing, 1 as before",
        "newly failing:",
        "  terms: groundedness 0.91 -> 0.75 < 0.80: No price is in the contexts.",
        "compared although the question's text or labels changed: terms",
        "the baseline was judged by en-1, this run by canned model-1 canned-1: verdicts may differ for that alone",
        "2 questions had other thresholds in the baseline: verdicts may differ for that alone",
    ]


def test_what_the_files_do_not_show_makes_no_difference(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "abcdef-secret-of-ours")
    project.ask(good("abcdef-secret-of-ours"))
    project.run("--rag-output=before")
    text = (project.folder / "before" / "rag_predictions.json").read_text(encoding="utf-8")
    assert "secret-of-ours" not in text
    run = project.run("--rag-gate=each", "--rag-baseline=before/rag_predictions.json")
    assert compared(run) == ["baseline before/rag_predictions.json: 1 as before"]


# Other plugins


def known_failures(project: Project) -> list[str]:
    """The items that --last-failed would run again."""
    return list(json.loads((project.folder / ".pytest_cache" / "v" / "cache" / "lastfailed").read_text()))


def test_last_failed_runs_the_questions_again_and_never_the_gate(project: Project) -> None:
    project.ask(good("terms"), bad("prices"))
    write_baseline(project, passed("terms"), passed("prices"))
    project.run(*GATED)
    assert known_failures(project) == ["billing.rag.yaml::prices"]
    again = project.run(*GATED, "--lf")
    assert again.asked == ["What about prices?"]
    assert again.junit["gate"] == ("failure", "1 newly failing against baseline.json")
    project.ask(good("terms"), good("prices"))
    assert project.run(*GATED, "--lf").exit_status == 0
    assert known_failures(project) == []


def test_last_failed_runs_the_questions_again_that_a_rate_counts_as_failed(project: Project) -> None:
    project.ask(good("terms"), bad("prices"), bad("hours", quarantine="slow"))
    project.run("--rag-gate=rate:0.9")
    assert known_failures(project) == ["billing.rag.yaml::prices"]
    assert project.run("--rag-gate=rate:0.9", "--lf").asked == ["What about prices?"]
    assert project.run("--rag-gate=rate:0.5").exit_status == 0
    assert known_failures(project) == []


def test_the_gate_needs_no_cache(project: Project) -> None:
    project.ask(good("terms"))
    write_baseline(project, passed("terms"), passed("prices"))
    run = project.run(*GATED, "-p", "no:cacheprovider")
    assert run.outcomes == {"passed": 1, "failed": 1}


def test_the_gate_is_not_run_again_by_rerunfailures(project: Project) -> None:
    project.ask(good("terms"), bad("prices"))
    write_baseline(project, passed("terms"), passed("prices"))
    run = project.run(*GATED, "--reruns=1")
    assert run.outcomes == {"passed": 1, "failed": 2, "rerun": 1}
    assert run.junit["gate"] == ("failure", "1 newly failing against baseline.json")


def test_stepwise_goes_on_after_a_red_gate(project: Project) -> None:
    project.ask(good("terms"), good("prices"))
    write_baseline(project, passed("hours"))
    project.run(*GATED, "--sw")
    run = project.run(*GATED, "--sw")
    assert len(run.asked) == 2
    assert run.outcomes == {"passed": 2, "failed": 1}
