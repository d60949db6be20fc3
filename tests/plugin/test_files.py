"""The files that a run leaves behind, and when it leaves none."""

from __future__ import annotations

import json
import os
import re
from datetime import datetime, timedelta, timezone
from importlib.resources import files
from typing import TYPE_CHECKING

import jsonschema
import pytest

from pytest_ragcheck import __version__
from pytest_ragcheck.engine.store.run_folder import FOLDER
from tests.baselines import passed, write_baseline
from tests.canned import bad, broken, good
from tests.harness import exhaustive, three_ways, two_ways

if TYPE_CHECKING:
    from pathlib import Path

    from tests.harness import Project


@three_ways
def test_a_run_leaves_questions_predictions_and_a_summary(project: Project) -> None:
    project.ask(
        good("terms", expected_answer="30 days", metadata={"team": "billing"}, tags=["smoke"]).but(answer="30 days"),
        bad("prices").but(unsupported_claims=("5 euros",)),
        broken("hours"),
        good("later", skip="later"),
    )
    before = datetime.now(timezone.utc)
    run = project.run()
    assert run.files == ["billing_questions.json", "rag_predictions.json", "rag_summary.json"]
    questions = run.document("billing_questions.json")
    assert (questions["dataset_name"], questions["num_questions"]) == ("billing", 4)
    assert [row["id"] for row in questions["questions"]] == ["terms", "prices", "hours", "later"]
    predictions = run.predictions
    assert before <= datetime.fromisoformat(predictions["timestamp"]) <= datetime.now(timezone.utc)
    assert datetime.fromisoformat(predictions["timestamp"]).utcoffset() == timedelta(0)
    assert predictions["num_examples"] == 2
    judge = {"kind": "canned", "model": "model-1", "url": None, "prompt_version": "canned-1"}
    material = [row["judgement"]["material"] for row in predictions["predictions"]]
    assert len({digest for digest in material if re.fullmatch(r"[0-9a-f]{64}", digest)}) == 2
    labels = [row.pop("labels") for row in predictions["predictions"]]
    asked = [datetime.fromisoformat(row.pop("asked_at")) for row in predictions["predictions"]]
    assert all(before - timedelta(seconds=1) <= each <= datetime.now(timezone.utc) for each in asked)
    assert [set(digests) for digests in labels] == [{"expected", "gold", "mentions"}] * 2
    assert labels[0]["expected"] != labels[1]["expected"]
    assert predictions["predictions"] == [
        {
            "question_id": "terms",
            "dataset_name": "billing",
            "question": "What about terms?",
            "prediction": "30 days",
            "metrics": {
                "answer_correctness": 1.0,
                "groundedness": 1.0,
                "abstained": 0.0,
                "exact_match": 1.0,
                "f1": 1.0,
            },
            "metadata": {"team": "billing"},
            "verdict": "PASS",
            "reason": "",
            "blame": None,
            "contexts": ["Refunds are possible for 30 days."],
            "source_ids": None,
            "thresholds": {"answer_correctness": 0.7, "groundedness": 0.7},
            "unscored": {},
            "unsupported_claims": [],
            "latency_seconds": 0.25,
            "judgement": {
                "answer_correctness": 1.0,
                "groundedness": 1.0,
                "error_message": "",
                "abstained": False,
                "material": material[0],
            },
            "overall_score_lacks": [],
            "prompt_version": "canned-1",
            "judge": judge,
            "endpoint": "canned system",
            "tier": "end_to_end",
            "top_k": 5,
        },
        {
            "question_id": "prices",
            "dataset_name": "billing",
            "question": "What about prices?",
            "prediction": "The window is 30 days.",
            "metrics": {"answer_correctness": 1.0, "groundedness": 0.41, "abstained": 0.0},
            "metadata": {},
            "verdict": "FAIL",
            "reason": "No price is in the contexts.",
            "blame": None,
            "contexts": ["Refunds are possible for 30 days."],
            "source_ids": None,
            "thresholds": {"answer_correctness": 0.7, "groundedness": 0.7},
            "unscored": {},
            "unsupported_claims": ["5 euros"],
            "latency_seconds": 0.25,
            "judgement": {
                "answer_correctness": 1.0,
                "groundedness": 0.41,
                "error_message": "No price is in the contexts.",
                "abstained": False,
                "material": material[1],
            },
            "overall_score_lacks": [],
            "prompt_version": "canned-1",
            "judge": judge,
            "endpoint": "canned system",
            "tier": "end_to_end",
            "top_k": 5,
        },
    ]
    assert predictions["errors"] == [
        {
            "question_id": "hours",
            "dataset_name": "billing",
            "question": "What about hours?",
            "kind": "endpoint",
            "message": "canned: the endpoint is down.",
            "judge": judge,
            "endpoint": "canned system",
            "tier": "end_to_end",
            "top_k": 5,
        }
    ]
    summary = run.summary
    assert summary["counts"] == {"pass": 1, "fail": 1, "error": 1, "skipped": 1}
    assert summary["thresholds"] == {"answer_correctness": 0.7, "groundedness": 0.7}
    assert (summary["judge"]["kind"], summary["judge"]["prompt_version"]) == ("canned", "canned-1")
    assert summary["endpoint"] == "canned system"
    assert summary["tier"] == "end_to_end"
    assert (summary["complete"], summary["plugin_version"]) == (True, __version__)
    # groundedness: 1.0 and 0.41, so mean 0.705 and population deviation 0.295.
    assert summary["metric_statistics"]["groundedness"] == {
        "mean": 0.705,
        "min": 0.41,
        "max": 1.0,
        "std": 0.295,
        "n_scored": 2,
        "n_unscored": 0,
    }


@pytest.mark.parametrize("name", ["predictions", "summary"])
def test_the_files_keep_to_their_schemas(project: Project, name: str) -> None:
    project.ask(good("terms", expected_answer="30 days"), bad("prices"), broken("hours"), good("later", skip="later"))
    project.ask(good("news", answerable=False).but(answer=""), file="news.rag.yaml")
    run = project.run()
    schema = json.loads(files("pytest_ragcheck.summary").joinpath(f"schemas/{name}.schema.json").read_text())
    jsonschema.Draft202012Validator(schema).validate(run.document(f"rag_{name}.json"))
    assert {"type", "properties"} <= set(schema)


def test_several_datasets_are_called_session_and_have_a_questions_file_each(project: Project) -> None:
    project.ask(good("terms"), file="tests/billing.rag.yaml")
    project.ask(good("news"), file="tests/news.rag.yaml", dataset_name="News & more")
    run = project.run()
    assert run.files == [
        "News & more_questions.json",
        "rag_predictions.json",
        "rag_summary.json",
        "tests__billing_questions.json",
    ]
    assert run.summary["dataset_name"] == "session"
    assert list(run.summary["datasets"]) == ["tests__billing", "News & more"]


def test_a_name_longer_than_that_of_a_file_may_be_writes_all_files(project: Project) -> None:
    name = "billing " * 40 + "é"
    project.ask(good("terms"), dataset_name=name)
    run = project.run()
    assert list(run.summary["datasets"]) == [name]
    assert len(run.files) == 3


def test_the_agent_names_the_files_and_no_other_folder(project: Project) -> None:
    project.ask(good("terms"))
    run = project.run("--rag-agent=../v2 beta")
    assert len(run.files) == 3
    (summary,) = [name for name in run.files if name.endswith("_summary.json")]
    assert "v2 beta" in summary
    assert run.document(summary)["agent_name"] == "../v2 beta"
    assert not list(project.folder.glob("*_summary.json"))


def test_a_full_run_keeps_the_results_of_an_agent_whose_name_ends_like_partial_files(project: Project) -> None:
    project.ask(good("terms"))
    kept = {name for name in project.run("--rag-agent=foo.partial").files if name.startswith("foo.")}
    assert len(kept) == 2
    assert kept < set(project.run("--rag-agent=foo").files)
    assert {"foo_predictions.json", "foo_summary.json"} < set(project.run("--rag-agent=foo.partial").files)


def test_the_output_folder_is_relative_to_where_it_is_typed(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    project.write("pytest.ini", "[pytest]\n")
    project.ask(good("terms"))
    (project.folder / "inner").mkdir()
    monkeypatch.chdir(project.folder / "inner")
    run = project.run("..", "--rag-output=out/put")
    assert (project.folder / "inner" / "out" / "put" / "rag_summary.json").is_file()
    assert "results: out/put/rag_summary.json, rag_predictions.json" in run.lines


def test_the_output_folder_of_the_ini_file_is_relative_to_the_root(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    project.write("pytest.ini", "[pytest]\nrag_output = out\n")
    project.ask(good("terms"))
    (project.folder / "inner").mkdir()
    monkeypatch.chdir(project.folder / "inner")
    project.run("..")
    assert (project.folder / "out" / "rag_summary.json").is_file()


@pytest.mark.parametrize(
    ("way", "arguments"),
    [
        ("plain", ["-k", "terms"]),
        pytest.param("n2", ["-k", "terms"], marks=exhaustive),
        ("plain", ["billing.rag.yaml::terms"]),
    ],
    indirect=["way"],
)
def test_a_partial_run_leaves_the_last_full_result_untouched(project: Project, arguments: list[str]) -> None:
    project.ask(good("terms"), good("b"))
    full = project.run().document("rag_summary.json")
    run = project.run(*arguments)
    assert run.document("rag_summary.json") == full
    partial = run.document("rag.partial_summary.json")
    assert (partial["complete"], partial["n_not_run"], partial["num_examples"]) == (False, 1, 1)
    assert run.document("rag.partial_predictions.json")["complete"] is False
    assert len(run.document("billing_questions.json")["questions"]) == 2
    assert "1 PASS, 0 FAIL, 0 ERROR, 0 skipped, 1 not run" in run.lines
    assert "partial: 1 of the collected questions was not run" in run.lines


def test_a_stopped_run_is_partial(project: Project) -> None:
    project.ask(bad("prices"), good("terms"))
    run = project.run("-x")
    assert run.files == ["billing_questions.json", "rag.partial_predictions.json", "rag.partial_summary.json"]


def test_fewer_files_than_in_the_last_full_result_make_the_run_partial(project: Project) -> None:
    project.ask(good("terms"))
    project.ask(good("news"), file="news.rag.yaml")
    project.run()
    run = project.run("news.rag.yaml")
    assert set(run.document("rag_summary.json")["datasets"]) == {"billing", "news"}
    assert set(run.document("rag.partial_summary.json")["datasets"]) == {"news"}
    assert "partial: the last full result also has billing; delete rag_summary.json to start over" in run.lines


@pytest.mark.parametrize(
    ("way", "renamed"),
    [("plain", False), ("plain", True), ("n2", True), pytest.param("n2", False, marks=exhaustive)],
    indirect=["way"],
)
def test_a_run_without_arguments_is_full_after_a_question_file_is_gone(project: Project, renamed: bool) -> None:
    project.ask(good("terms"))
    project.ask(good("news"), file="news.rag.yaml")
    project.run()
    billing = project.folder / "billing.rag.yaml"
    if renamed:
        billing.rename(project.folder / "prices.rag.yaml")
    else:
        billing.unlink()
    run = project.run()
    assert set(run.document("rag_summary.json")["datasets"]) == {"news", *["prices"] * renamed}
    assert not [line for line in run.lines if line.startswith("partial:")]
    assert [name for name in run.files if "partial" in name] == []


@pytest.mark.parametrize("arguments", [["news.rag.yaml"], ["inner"], ["--ignore=billing.rag.yaml"]])
def test_a_run_that_was_not_sent_to_the_file_that_is_gone_is_partial(project: Project, arguments: list[str]) -> None:
    project.ask(good("terms"))
    project.ask(good("news"), file="news.rag.yaml")
    (project.folder / "inner").mkdir()
    project.ask(good("hours"), file="inner/hours.rag.yaml")
    project.run()
    (project.folder / "billing.rag.yaml").unlink()
    run = project.run(*arguments)
    assert "billing" in run.document("rag_summary.json")["datasets"]
    assert any(line.startswith("partial: the last full result also has billing") for line in run.lines)


def test_a_partial_result_of_a_file_that_is_gone_goes_with_the_next_full_run(project: Project) -> None:
    project.ask(good("terms"), good("prices"))
    project.ask(good("news"), file="news.rag.yaml")
    project.run("-k", "terms")
    (project.folder / "billing.rag.yaml").unlink()
    assert [name for name in project.run().files if "partial" in name] == []


def test_a_whole_file_as_argument_is_complete(project: Project) -> None:
    project.ask(good("terms"))
    project.ask(good("news"), file="news.rag.yaml")
    assert project.run("news.rag.yaml").summary["complete"] is True


def test_a_file_that_cannot_be_collected_makes_the_run_partial(project: Project) -> None:
    project.ask(good("terms"))
    project.write("bad.rag.yaml", "questions: 7\n")
    run = project.run("--continue-on-collection-errors")
    assert run.outcomes == {"passed": 1, "error": 1}
    assert "rag_summary.json" not in run.files
    assert "partial: bad.rag.yaml could not be collected" in run.lines


@two_ways
def test_an_output_folder_that_is_a_file_ends_the_run_before_the_first_question(project: Project) -> None:
    project.ask(good("terms"))
    occupied = project.write("occupied", "a file, no folder")
    run = project.run("--rag-output=occupied/results")
    assert run.exit_status == pytest.ExitCode.USAGE_ERROR
    assert run.stderr.splitlines()[0] == (
        f"ERROR: ragcheck: {occupied} is a file, and results go into a folder. Use another folder. "
        "Name it with --rag-output."
    )
    assert run.asked == []


@pytest.mark.parametrize("option", ["--rag-baseline=baseline.json", "--rag-replay=recorded.json"])
def test_an_output_folder_that_is_a_loop_of_links_ends_the_run_before_the_first_question(
    project: Project, option: str
) -> None:
    project.ask(good("terms"))
    for name in ("baseline.json", "recorded.json"):
        write_baseline(project, passed("terms"), name=name)
    loop = project.folder / "loop"
    loop.symlink_to(loop)
    run = project.run("--rag-output=loop", option)
    assert f"ERROR: ragcheck: {loop} is a file, and results go into a folder." in run.stderr
    assert run.exit_status == pytest.ExitCode.USAGE_ERROR


def test_tests_with_rag_check_do_not_start_if_the_results_cannot_be_written(project: Project) -> None:
    project.reply_to(good("terms"))
    project.write("test_own.py", "def test_own(rag_check): rag_check('What about terms?')\n")
    project.write("occupied", "a file, no folder")
    run = project.run("--rag-output=occupied")
    assert (run.exit_status, run.asked) == (pytest.ExitCode.USAGE_ERROR, [])
    assert project.run("--rag-output=occupied", "--co").exit_status == 0


@three_ways
def test_results_that_cannot_be_written_at_the_end_make_a_green_run_red(project: Project) -> None:
    project.ask(good("terms"))
    (project.folder / "ragcheck-results" / "rag_summary.json").mkdir(parents=True)
    run = project.run()
    assert (run.exit_status, run.outcomes) == (pytest.ExitCode.TESTS_FAILED, {"passed": 1})
    (line,) = [line for line in run.lines if line.startswith("results: NOT WRITTEN: ")]
    assert "rag_summary.json: cannot be written (Is a directory). " in line
    assert line.endswith("or use another folder. Name it with --rag-output.")
    assert "1 PASS, 0 FAIL, 0 ERROR, 0 skipped" in run.lines


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_folder_without_permission_ends_the_run_before_the_first_question(project: Project) -> None:
    project.ask(good("terms"))
    (project.folder / "locked").mkdir(mode=0o500)
    run = project.run("--rag-output=locked/results")
    assert (run.exit_status, run.asked) == (pytest.ExitCode.USAGE_ERROR, [])
    assert "Permission denied" in run.stderr


def test_questions_that_are_all_skipped_or_deselected_leave_no_file(project: Project) -> None:
    project.ask(good("terms", skip="later"), good("hours"))
    run = project.run("-k", "terms")
    assert run.files == []
    assert "PASS" not in run.text


def test_a_failed_write_leaves_what_stood_there(project: Project) -> None:
    project.ask(good("terms"))
    project.run()
    output = project.folder / "ragcheck-results"
    assert {path.name for path in output.iterdir() if path.name.startswith(".")} == {FOLDER, ".gitignore"}
    assert output.joinpath("rag_summary.json").stat().st_mode & 0o044 == 0o044


def test_secrets_do_not_reach_the_files_or_the_terminal(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAG_TOKEN", "verysecretvalue")
    project.write("pytest.ini", "[pytest]\nrag_headers = X-Rag-Token: Bearer {env:RAG_TOKEN}\n")
    project.ask(
        bad("prices", reason="It says verysecretvalue.").but(
            answer="Use verysecretvalue.", contexts=("The token is verysecretvalue.",)
        ),
        broken("hours", "canned: verysecretvalue was refused."),
    )
    run = project.run("-vv", "--rag-url=http://user:hunter2222@127.0.0.1:9/q?api_key=k3yk3yk3y")
    written = [path for path in (run.folder / "ragcheck-results").rglob("*") if path.is_file()]
    assert "store.sqlite" in {path.name for path in written}
    everything = run.text + "".join(path.read_bytes().decode("latin-1") for path in written)
    everything += (run.folder / "junit.xml").read_text()
    for secret in ("verysecretvalue", "hunter2222", "k3yk3yk3y"):
        assert secret not in everything
    assert "groundedness 0.41 < 0.70: It says [redacted]." in run.text


def test_the_default_output_folder_is_kept_out_of_git_and_another_is_left_alone(project: Project) -> None:
    project.ask(good("terms"))
    project.run()
    project.run("--rag-output=own")
    assert (project.folder / "ragcheck-results" / ".gitignore").read_text(encoding="utf-8") == "*\n"
    assert not (project.folder / "own" / ".gitignore").exists()


def test_an_output_folder_that_is_a_link_out_of_the_project_is_noted(project: Project, tmp_path: Path) -> None:
    project.ask(good("terms"))
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (project.folder / "ragcheck-results").symlink_to(elsewhere)
    assert f"results: ragcheck-results is a link out of this folder, to {elsewhere}" in project.run().lines
    (project.folder / "inner").mkdir()
    (project.folder / "near").symlink_to(project.folder / "inner")
    assert not [line for line in project.run("--rag-output=near").lines if "is a link" in line]
