"""`--rag-replay` runs from a recording: nothing is asked, and the files are those of the recorded run."""

from __future__ import annotations

import json
import shutil
from typing import TYPE_CHECKING, Any

import pytest

from pytest_ragcheck.cli import main
from tests.canned import bad, broken, good
from tests.harness import three_ways

if TYPE_CHECKING:
    from pathlib import Path

    from tests.harness import Project, Run

CASES = (
    good("terms", expected_answer="30 days"),
    bad("prices", expected_answer="5 euros"),
    broken("hours"),
    good("news").but(judge_error="canned: the judge is down."),
    good("founder", answerable=False).but(answer="I do not know.", abstained=True),
)


def record(project: Project, *cases: Any) -> Run:
    """Records a run of these questions; after it neither system nor judge is there."""
    project.ask(*(cases or CASES))
    run = project.run()
    shutil.copy(project.folder / "ragcheck-results" / "rag_predictions.json", project.folder / "recorded.json")
    project.write("conftest.py", "")
    return run


def documents(run: Run) -> list[Any]:
    """Predictions and summary without times and without the marks of a replay."""
    found = [run.predictions, run.summary]
    for document in found:
        document.pop("timestamp")
        document.pop("replay_of", None)
    return found


@three_ways
def test_the_files_are_those_of_the_recorded_run(project: Project) -> None:
    recorded = record(project)
    before = documents(recorded)
    run = project.run("--rag-replay=recorded.json")
    assert documents(run) == before
    assert run.outcomes == recorded.outcomes == {"passed": 2, "failed": 1, "error": 2}
    assert run.asked == []
    assert (run.predictions["replay_of"], run.summary["replay_of"]) == ("recorded.json", "recorded.json")
    assert "answers: recorded in recorded.json" in run.lines
    header = "ragcheck: replay of recorded.json; judge as recorded; "
    assert sum(line.startswith(header) for line in run.lines) == 1


def test_the_recorded_top_k_holds_whatever_rag_top_k_is_now(project: Project) -> None:
    project.ask(good("terms", gold_passages=["30 days"]), good("prices", top_k=2))
    recorded = project.run("-orag_top_k=3")
    shutil.copy(project.folder / "ragcheck-results" / "rag_predictions.json", project.folder / "recorded.json")
    before = documents(recorded)
    assert documents(project.run("--rag-replay=recorded.json")) == before
    assert [(row["top_k"], "recall_at_5" in row["metrics"]) for row in before[0]["predictions"]] == [
        (3, False),
        (2, False),
    ]


def test_the_files_of_a_client_that_raised_are_those_of_the_recorded_run(project: Project) -> None:
    project.ask(good("terms"), good("prices"))
    project.write("pytest.ini", "[pytest]\nrag_max = latency_seconds=9\n")
    project.extend_conftest("class Buggy(CannedRag):\n    async def ask(self, question):\n        return 1 / 0\n")
    project.extend_conftest("@pytest.fixture(scope='session')\ndef rag_client():\n    return Buggy()\n")
    recorded = project.run()
    shutil.copy(project.folder / "ragcheck-results" / "rag_predictions.json", project.folder / "recorded.json")
    assert recorded.predictions["errors"][0]["maximums"] == {"latency_seconds": 9.0}
    project.write("conftest.py", "")
    before = documents(recorded)
    assert documents(project.run("--rag-replay=recorded.json")) == before


def test_the_files_of_repeats_are_those_of_the_recorded_run(project: Project) -> None:
    project.ask(
        good("terms", expected_answer="30 days", must_not_mention=["SECRET"]),
        good("founder", answerable=False).but(answer="I do not know.", abstained=True),
    )
    project.extend_conftest(
        """
@pytest.fixture(scope="session")
def rag_client():
    answers = iter(["It is SECRET.", "30 days", "30 days or SECRET"])

    def ask(query):
        text = next(answers) if "terms" in query else "I do not know."
        return RagAnswer(text=text, contexts=("30 days",), latency_seconds=0.5)

    return ask

@pytest.fixture(scope="session")
def rag_judge():
    scores = {"It is SECRET.": 0.3, "30 days": 1.0}
    return lambda question, answer: Judgement(answer_correctness=scores.get(answer.text, 0.6), groundedness=1 / 3)
"""
    )
    recorded = project.run("-orag_repeats=3")
    row = recorded.predictions["predictions"][0]
    assert row["reason"].startswith("must_not_mention is broken in 2 of 3 attempts; ")
    assert row["repeated"]["answer_correctness"] == [[0.3], [1.0], [0.6]]
    before = documents(recorded)
    shutil.copy(project.folder / "ragcheck-results" / "rag_predictions.json", project.folder / "recorded.json")
    (store,) = (project.folder / "ragcheck-results" / ".ragcheck").rglob("store.sqlite")
    shutil.copytree(store.parent, project.folder / "saved")
    project.write("conftest.py", "")
    for recording in ("recorded.json", "saved/store.sqlite"):
        assert documents(project.run(f"--rag-replay={recording}")) == before
    other = project.run("--rag-replay=recorded.json", "--rag-judge=offline").predictions["predictions"][0]
    assert "repeated" not in other
    assert "attempts" not in other["reason"]


@pytest.mark.parametrize("options", [("-orag_repeats=2",), ("-orag_repeats=2", "-orag_judge_repeats=2")])
def test_repeats_with_a_failed_judge_or_with_votes_are_those_of_the_recorded_run(
    project: Project, options: tuple[str, ...]
) -> None:
    leak = good("fees", must_not_mention=["free"]).but(answer="It is free.", judge_error="canned: the judge is down.")
    project.ask(good("terms", expected_answer="30 days"), leak)
    before = documents(project.run(*options))
    assert [row["verdict"] for row in before[0]["predictions"]] == ["PASS", "FAIL"]
    (project.folder / "ragcheck-results").rename(project.folder / "recorded")
    project.write("conftest.py", "")
    assert documents(project.run("--rag-replay=recorded")) == before


def test_the_files_of_a_failed_fixture_are_those_of_the_recorded_run(project: Project) -> None:
    project.ask(good("terms"))
    project.extend_conftest(
        """
@pytest.fixture(scope="session")
def rag_client():
    raise ConnectionError("no server")
"""
    )
    before = documents(project.run())
    assert before[0]["errors"][0]["kind"] == "not_evaluated"
    (project.folder / "ragcheck-results").rename(project.folder / "recorded")
    project.write("conftest.py", "")
    assert documents(project.run("--rag-replay=recorded")) == before


def test_a_combined_score_at_its_minimum_passes_in_a_replay_too(project: Project) -> None:
    project.ask(good("terms"))
    project.extend_conftest(
        """
@pytest.fixture(scope="session")
def rag_judge():
    scores = iter([0.6, 0.7])
    return lambda question, answer: Judgement(answer_correctness=next(scores), groundedness=1.0)
"""
    )
    # The mean of 0.6 and 0.7 is 0.6499999999999999.
    run = project.run("-orag_repeats=2", "--rag-threshold=0.65")
    assert run.scores["terms"]["answer_correctness"] == 0.65
    shutil.copy(project.folder / "ragcheck-results" / "rag_predictions.json", project.folder / "recorded.json")
    again = project.run("--rag-replay=recorded.json", "--rag-threshold=0.65")
    assert run.verdicts == again.verdicts == {"terms": "PASS"}


def test_an_error_of_the_limits_keeps_the_scores_of_all_answers(project: Project) -> None:
    project.ask(good("terms"))
    project.extend_conftest(
        """
@pytest.fixture(scope="session")
def rag_judge():
    scores = iter([0.6, 0.9])
    return lambda question, answer: Judgement(answer_correctness=next(scores), groundedness=1.0)
"""
    )
    run = project.run("-orag_repeats=2", "--rag-max=cost_usd=1", "--rag-output=recorded")
    assert run.outcomes == {"error": 1}
    again = project.run("--rag-replay=recorded")
    assert (again.verdicts, again.scores["terms"]["answer_correctness"]) == ({"terms": "PASS"}, 0.75)


def test_the_folder_of_a_run_is_a_recording(project: Project) -> None:
    project.ask(good("terms"))
    project.run("--rag-output=recorded")
    project.write("conftest.py", "")
    run = project.run("--rag-replay=recorded")
    assert run.outcomes == {"passed": 1}
    assert run.predictions["replay_of"] == "recorded"
    (project.folder / "recorded" / "rag_predictions.json").rename(project.folder / "recorded" / "a_predictions.json")
    (project.folder / "recorded" / "b_predictions.json").touch()
    text = "expected one file *_predictions.json in the folder, found a_predictions.json, b_predictions.json. Name the"
    assert text in project.run("--rag-replay=recorded").stderr
    own = project.run("--rag-replay=ragcheck-results")
    assert "--rag-replay: ragcheck-results/rag_predictions.json is where this run writes its own results." in own.stderr


@pytest.mark.parametrize("value", ["billing", "terms", "What about terms?"])
def test_a_header_whose_value_is_in_a_question_hides_no_recorded_answer(
    project: Project, monkeypatch: pytest.MonkeyPatch, value: str
) -> None:
    monkeypatch.setenv("TENANT", value)
    project.write("pytest.ini", "[pytest]\nrag_headers = X-Tenant: {env:TENANT}\n")
    record(project, good("terms"), good("prices"))
    assert value not in project.folder.joinpath("recorded.json").read_text(encoding="utf-8")
    assert project.run("--rag-replay=recorded.json").outcomes == {"passed": 2}


def test_a_replay_needs_no_variable_of_a_header_for_the_system(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TOKEN", "token-of-alice-1")
    headers = "rag_headers = X-Key: {env:TOKEN}\nrag_identities = alice: Authorization: Bearer {env:TOKEN}\n"
    project.write("pytest.ini", f"[pytest]\n{headers}")
    record(project, good("terms", **{"as": "alice"}))
    monkeypatch.delenv("TOKEN")
    assert project.run("--rag-replay=recorded.json").verdicts == {"terms": "PASS"}
    assert "needs the environment variable 'TOKEN'" in project.run().stderr


def test_todays_thresholds_decide(project: Project) -> None:
    record(project, bad("prices"))
    assert project.run("--rag-replay=recorded.json", "--rag-threshold=0.4").verdicts == {"prices": "PASS"}


def test_another_judge_judges_the_recorded_answers(project: Project) -> None:
    record(project, good("terms", expected_answer="30 days"), broken("hours"))
    run = project.run("--rag-replay=recorded.json", "--rag-judge=offline")
    assert run.verdicts == {"terms": "PASS", "hours": "ERROR"}
    assert run.predictions["predictions"][0]["judge"]["kind"] == "offline"


KEY = "sk_test_4eC39HqLyjWDarjtT1zdp7dc"
SECRETIVE = (
    good("key", expected_answer=f"The key is {KEY}.", must_mention=[KEY]).but(
        answer=f"The key is {KEY}.", contexts=[f"The key is {KEY}."]
    ),
    good("leak", must_not_mention=["lumio2024"]).but(answer="Their password: lumio2024.", contexts=["wiki"]),
)


def test_texts_whose_secrets_are_redacted_keep_their_recorded_measures(project: Project) -> None:
    recorded = record(project, *SECRETIVE)
    assert recorded.verdicts == {"key": "PASS", "leak": "FAIL"}
    before = documents(recorded)
    assert documents(project.run("--rag-replay=recorded.json", "--rag-output=ragcheck-results")) == before
    # The labels in the results are redacted too.
    assert main(["rejudge", "ragcheck-results", "--rag-output=rejudged"]) == 1
    rows = json.loads((project.folder / "rejudged" / "rag_predictions.json").read_bytes())["predictions"]
    assert [(row["verdict"], row["metrics"]) for row in rows] == [
        (row["verdict"], row["metrics"]) for row in before[0]["predictions"]
    ]


def test_redacted_texts_are_neither_judged_nor_measured_anew(project: Project) -> None:
    record(project, *SECRETIVE, good("terms", expected_answer="30 days"))
    run = project.run("--rag-replay=recorded.json", "--rag-judge=offline")
    # The recorded leak is a FAIL all the same.
    assert run.verdicts == {"key": "ERROR", "leak": "FAIL", "terms": "PASS"}
    reason = (
        "the recorded texts are redacted, so only the recorded scores under the recorded labels count. "
        "Run without --rag-replay for others."
    )
    assert [(row["kind"], row["message"]) for row in run.predictions["errors"]] == [("judge", reason)]


@pytest.mark.parametrize("given", ["ini", "environment"])
def test_only_a_judge_on_the_command_line_rejudges_recorded_verdicts(
    project: Project, given: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The offline judge would find no support in the contexts.
    record(project, good("terms", expected_answer="a quarter of a year"))
    project.write("conftest.py", "")
    if given == "ini":
        project.write("pytest.ini", "[pytest]\nrag_judge = offline\n")
    else:
        monkeypatch.setenv("RAGCHECK_JUDGE", "offline")
    run = project.run("--rag-replay=recorded.json")
    assert run.verdicts == {"terms": "PASS"}
    assert run.predictions["predictions"][0]["judge"]["kind"] == "canned"
    assert project.run("--rag-replay=recorded.json", "--rag-judge=offline").verdicts == {"terms": "FAIL"}


def test_a_key_in_the_environment_is_no_choice_of_a_judge(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    record(project, good("terms"))
    monkeypatch.setenv("OPENAI_API_KEY", "sk-of-somebody-1234567890")
    assert project.run("--rag-replay=recorded.json").verdicts == {"terms": "PASS"}


def test_the_openai_judge_without_a_model_is_no_other_judge(
    project: Project, capsys: pytest.CaptureFixture[str]
) -> None:
    record(project, good("terms"))
    problem = "the openai judge needs a model: set rag_judge_model or RAGCHECK_JUDGE_MODEL"
    run = project.run("--rag-replay=recorded.json", "--rag-judge=openai")
    assert (run.exit_status, run.stderr.strip()) == (4, f"ERROR: ragcheck: {problem}")
    capsys.readouterr()
    assert main(["rejudge", "recorded.json", "--rag-judge=openai", "--rag-output=rejudged"]) == 2
    assert capsys.readouterr().err == f"ragcheck rejudge: {problem}\n"


def test_the_openai_judges_verdicts_need_no_key(project: Project) -> None:
    record(project, good("terms", expected_answer="30 days"), good("news", expected_answer="today"))
    recording = json.loads((project.folder / "recorded.json").read_text(encoding="utf-8"))
    for row in recording["predictions"]:
        row["judge"] = {"kind": "openai", "model": "m", "url": None, "prompt_version": "en-2"}
    project.write("recorded.json", json.dumps(recording))
    project.ask(good("terms", expected_answer="30 days"), good("news", expected_answer="tomorrow"))
    project.write("conftest.py", "")
    run = project.run("--rag-replay=recorded.json", "--rag-judge-model=m")
    assert run.verdicts == {"terms": "PASS", "news": "ERROR"}
    problem = (
        "the openai judge needs a key: set OPENAI_API_KEY or Settings.of(judge_api_key=...), or "
        "rag_judge_url to a server of your own "
        "(its key, if it needs one, is read from RAGCHECK_JUDGE_API_KEY)."
    )
    text = f"there is no recorded verdict of this judge on this answer: {problem}"
    assert run.errors_by_id["news"] == ("judge", text)
    run = project.run("--rag-replay=recorded.json", "--rag-judge-model=n")
    assert run.exit_status == 4
    assert f"ERROR: ragcheck: recorded.json was judged by another judge, and {problem}" in run.stderr


def test_a_client_and_a_judge_of_the_users_own_are_not_asked(project: Project) -> None:
    project.ask(good("terms"))
    project.run()
    shutil.copy(project.folder / "ragcheck-results" / "rag_predictions.json", project.folder / "recorded.json")
    project.reply_to(good("terms").but(answer="Otherwise.", groundedness=0.0))
    run = project.run("--rag-replay=recorded.json")
    assert (run.verdicts, run.asked) == ({"terms": "PASS"}, [])


def test_questions_that_changed_or_are_new_are_errors(project: Project) -> None:
    record(project, good("terms"), good("old"))
    project.write(
        "billing.rag.yaml",
        "questions:\n- {id: terms, question: What about terms?}\n- {id: old, question: Other?}\n"
        "- {id: new, question: New?}\n",
    )
    run = project.run("--rag-replay=recorded.json")
    assert run.verdicts == {"terms": "PASS", "old": "ERROR", "new": "ERROR"}
    assert {kind for kind, _ in run.errors_by_id.values()} == {"replay"}
    assert "see       ragcheck docs how-to/replay" in run.text


def test_rag_check_and_rag_client_are_replayed(project: Project) -> None:
    project.ask(good("terms"))
    project.write(
        "test_own.py",
        "def test_own(rag_check):\n    rag_check('What about terms?').assert_passed()\n",
    )
    project.run()
    shutil.copy(project.folder / "ragcheck-results" / "rag_predictions.json", project.folder / "recorded.json")
    project.write("conftest.py", "")
    run = project.run("--rag-replay=recorded.json")
    assert (run.outcomes, run.asked) == ({"passed": 2}, [])


@pytest.mark.parametrize(
    ("name", "text"),
    [
        (
            "nowhere.json",
            "nowhere.json: there is no such file. Replay the {agent}_predictions.json of a run.",
        ),
        (
            "ragcheck-results/rag_predictions.json",
            (
                "--rag-replay: ragcheck-results/rag_predictions.json is where this run writes its own results. "
                "Give the run another --rag-agent or --rag-output."
            ),
        ),
    ],
)
def test_what_cannot_be_replayed_ends_the_run_before_it_begins(project: Project, name: str, text: str) -> None:
    record(project, good("terms"))
    run = project.run(f"--rag-replay={name}")
    assert (run.exit_status, run.outcomes) == (4, {})
    assert f"ERROR: ragcheck: {text}" in run.stderr.splitlines()


def test_a_run_without_questions_does_not_look_at_the_recording(project: Project) -> None:
    project.write("test_own.py", "def test_own(): pass\n")
    assert project.run("--rag-replay=nowhere.json").outcomes == {"passed": 1}


def test_the_path_is_relative_to_where_it_is_written(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    record(project, good("terms"))
    project.write("pytest.ini", "[pytest]\nrag_replay = recorded.json\n")
    folder: Path = project.folder / "below"
    folder.mkdir()
    monkeypatch.chdir(folder)
    assert project.run("..").verdicts == {"terms": "PASS"}
    typed = project.run("..", "--rag-replay=../recorded.json", "--rag-output=../ragcheck-results")
    assert typed.verdicts == {"terms": "PASS"}


def test_the_store_of_a_run_is_a_recording_too(project: Project) -> None:
    recorded = record(project)
    before = documents(recorded)
    (store,) = (project.folder / "ragcheck-results" / ".ragcheck").rglob("store.sqlite")
    shutil.copytree(store.parent, project.folder / "kept")
    name = store.relative_to(project.folder)
    refused = project.run(f"--rag-replay={name}")
    assert (refused.exit_status, refused.outcomes) == (4, {})
    said = (
        f"ERROR: ragcheck: --rag-replay: {name} is in the folder of an earlier run, which this run deletes. "
        "Give a copy of the folder, or give the run another --rag-agent or --rag-output."
    )
    assert said in refused.stderr.splitlines()
    assert project.run(f"--rag-replay={name}", "--rag-agent=other").outcomes == recorded.outcomes
    assert store.exists()
    assert documents(project.run("--rag-replay=kept/store.sqlite")) == before
    project.write("kept/store.sqlite", "no database " * 100)
    run = project.run("--rag-replay=kept/store.sqlite")
    assert run.exit_status == 4
    assert "ERROR: ragcheck: kept/store.sqlite: it is not a readable store (file is not a database). " in run.stderr


def test_a_fail_that_was_tolerated_is_so_judged_again_too(project: Project) -> None:
    project.ask(good("terms"), bad("prices", quarantine="under repair"), bad("hours", xfail="known"), bad("fees"))
    project.run("--rag-output=recorded")
    assert main(["rejudge", "recorded"]) == 1
    folders = "recorded", "ragcheck-results"
    before, again = (
        json.loads((project.folder / folder / "rag_predictions.json").read_bytes())["predictions"] for folder in folders
    )
    assert again == before
    assert [row.get("tolerated") for row in again] == [
        None,
        "in quarantine: under repair",
        "expected to fail: known",
        None,
    ]
    assert main(["report", "ragcheck-results", "-o", "report.md"]) == 0
    assert "rag: billing: 1 FAIL\n" in project.folder.joinpath("report.md").read_text(encoding="utf-8")


def test_a_run_without_a_judge_asserts_nothing_of_a_judge_when_it_is_judged_again(project: Project) -> None:
    project.ask(good("terms", expected_answer="30 days"))
    project.conftest("@pytest.fixture(scope='session')\ndef rag_client(): return CannedRag()\n")
    run = project.run("--rag-judge=none", "--rag-min=f1=0")
    assert run.summary["thresholds"] == {"f1": 0}
    folder = project.folder
    assert main(["rejudge", "ragcheck-results", "--rag-min=f1=0", "--rag-output=again"]) == 0
    again = json.loads((folder / "again" / "rag_summary.json").read_bytes())
    assert again["thresholds"] == run.summary["thresholds"]
    assert main(["rejudge", "ragcheck-results", "--rag-judge=offline", "--rag-output=judged"]) in {0, 1}
    judged = json.loads((folder / "judged" / "rag_summary.json").read_bytes())
    assert judged["thresholds"] == {"answer_correctness": 0.7, "groundedness": 0.7}


def test_a_comparing_gate_calls_a_question_with_another_expected_answer_edited(project: Project) -> None:
    client = "RagClient.from_callable(lambda text: {'answer': '30 days', 'contexts': ['30 days']})"
    fixture = f"@pytest.fixture(scope='session')\ndef rag_client():\n    return {client}\n"
    project.write("conftest.py", f"import pytest\nfrom pytest_ragcheck import RagClient\n{fixture}")
    question = "- {id: %s, question: What is the window?, expected_answer: %s}\n"
    project.write("billing.rag.yaml", question % ("terms", "30 days") + question % ("refunds", "30 days"))
    assert project.run("--rag-judge=offline").verdicts == {"terms": "PASS", "refunds": "PASS"}
    shutil.copy(project.folder / "ragcheck-results" / "rag_predictions.json", project.folder / "recorded.json")
    project.write("billing.rag.yaml", question % ("terms", "30 days") + question % ("refunds", "60 weeks"))
    against = ("--rag-judge=offline", "--rag-gate=regression", "--rag-baseline=recorded.json")
    run = project.run(*against, "--rag-replay=recorded.json")
    assert run.outcomes == {"passed": 1, "xfailed": 1}
    assert "baseline recorded.json: 1 edited, 1 as before" in run.lines
    assert "refunds: PASS -> FAIL (labels changed)" in run.lines
    # The recorded answer is judged again, and fails under the new labels too.
    run = project.run(*against)
    assert run.outcomes == {"passed": 1, "xfailed": 1}
    assert "baseline recorded.json: 1 still failing, 1 as before" in run.lines
    each = project.run(*against, "--rag-replay=recorded.json", "--rag-gate=each")
    assert "baseline recorded.json: 1 newly failing, 1 as before" in each.lines


@pytest.mark.parametrize(
    "edit", [{"expected_answer": "60 weeks"}, {"must_mention": ["60"]}, {"gold_passages": [{"doc_id": "d2"}]}]
)
def test_a_replay_under_a_comparing_gate_calls_a_question_with_other_labels_of_a_metric_edited(
    project: Project, edit: dict[str, Any]
) -> None:
    labels = {"expected_answer": "30 days", "must_mention": ["30"], "gold_passages": [{"doc_id": "d1"}]}
    options = ("--rag-judge=none", "--rag-min=f1=0.5", "--rag-min=recall_at_5=1")
    project.ask(good("terms", **labels).but(source_ids=("d1",)))
    assert project.run(*options).verdicts == {"terms": "PASS"}
    (project.folder / "ragcheck-results" / "rag_predictions.json").rename(project.folder / "recorded.json")
    project.ask(good("terms", **labels | edit).but(source_ids=("d1",)))
    against = ("--rag-gate=regression", "--rag-baseline=recorded.json")
    run = project.run(*options, *against, "--rag-replay=recorded.json")
    assert run.outcomes == {"xfailed": 1}
    assert "terms: PASS -> FAIL (labels changed)" in run.lines
    assert project.run(*options, *against).exit_status == 0


def test_a_gate_over_result_files_calls_no_question_edited_whose_labels_they_lack(project: Project) -> None:
    gold = good("gold", expected_answer="30 days", gold_passages=[{"doc_id": "never-found"}]).but(source_ids=("d1",))
    project.ask(good("terms", expected_answer="30 days"), good("hours", expected_answer="9 to 5"), gold)
    project.run("--rag-output=before")
    project.ask(good("terms", expected_answer="30 days"), bad("hours", expected_answer="9 to 5"), gold)
    project.run("--rag-output=now")
    against = ("--baseline=before/rag_predictions.json", "--gate=regression")
    assert main(["report", "now", *against, "-o", "report.md"]) == 0
    report = (project.folder / "report.md").read_text(encoding="utf-8")
    assert "baseline before/rag_predictions.json: 1 newly failing, unconfirmed, 2 as before" in report
    assert "edited" not in report
