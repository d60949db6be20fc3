"""Options, ini values and the environment: their precedence, and the errors about wrong values."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.canned import bad, good
from tests.harness import three_ways, two_ways

if TYPE_CHECKING:
    from tests.harness import Project

URL = "http://127.0.0.1:9/query"


@pytest.mark.parametrize(
    ("option", "message"),
    [
        (
            "--rag-url=localhost:8000",
            "--rag-url: 'localhost:8000' is not a URL; write it whole, such as http://localhost:8000/query",
        ),
        ("--rag-threshold=70", "--rag-threshold: '70' is not a number from 0 to 1; write one such as 0.7"),
        ("--rag-threshold=high", "--rag-threshold: 'high' is not a number from 0 to 1; write one such as 0.7"),
        ("--rag-threshold=nan", "--rag-threshold: 'nan' is not a number from 0 to 1; write one such as 0.7"),
        ("--rag-min=f1", "--rag-min: 'f1' is not of the form METRIC=VALUE; write, for example, f1=0.5"),
        ("--rag-min=f1=2", "--rag-min: 'f1=2' is not a number from 0 to 1; write one such as 0.7"),
        (
            "--rag-min=groundednes=0.5",
            "--rag-min: 'groundednes=0.5' names no metric that can be asserted; did you mean 'groundedness'?",
        ),
        (
            "--rag-judge=gpt",
            (
                "--rag-judge: 'gpt' is not a judge; choose one of openai, offline, local, ragas, none, "
                "or give your own in the rag_judge fixture or to evaluate"
            ),
        ),
        ("--rag-agent=  ", "--rag-agent: '  ' is blank; write a name, or leave it out"),
        ("--rag-output=", "--rag-output: '' is blank; write a path, or leave it out"),
        ("--rag-baseline=", "--rag-baseline: '' is blank; write a path, or leave it out"),
        (
            "-orag_question_files='a b.json",
            (
                "-o rag_question_files: No closing quotation; write texts separated by blanks, "
                "with both quotation marks around one that has a blank"
            ),
        ),
        (
            "-orag_top_k=0",
            "-o rag_top_k: '0' is not a whole number from 1; write one such as 5",
        ),
        (
            "-orag_timeout=-1",
            "-o rag_timeout: '-1' is not a number of seconds above 0; write one such as 60",
        ),
        (
            "-orag_headers=secret-token",
            (
                "-o rag_headers: a line is not of the form 'Name: value'; "
                "write, for example, 'Authorization: Bearer {env:RAG_TOKEN}'"
            ),
        ),
        (
            "-orag_headers=Authorization: Bearer {env:RAG_TOKEN}",
            (
                "-o rag_headers: Authorization needs the environment variable 'RAG_TOKEN', "
                "which is not set or empty. Set it, or take the header out."
            ),
        ),
    ],
)
def test_a_wrong_value_ends_the_run_before_it_begins(project: Project, option: str, message: str) -> None:
    project.write("pytest.ini", "[pytest]\n")
    project.ask(good("terms"))
    run = project.run(option)
    assert run.exit_status == pytest.ExitCode.USAGE_ERROR
    assert f"ERROR: ragcheck: {message}" in run.stderr.splitlines()
    assert run.asked == []


@two_ways
def test_a_wrong_value_in_the_environment_is_said_where_the_first_questions_are(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RAGCHECK_URL", "staging")
    project.ask(good("terms"))
    run = project.run()
    assert run.exit_status != 0
    assert run.section("ERROR collecting billing.rag.yaml") == [
        "ragcheck: RAGCHECK_URL: 'staging' is not a URL; write it whole, such as http://localhost:8000/query"
    ]


def test_a_wrong_switch_in_the_ini_file_is_said_there_too(project: Project) -> None:
    project.write("pytest.ini", "[pytest]\nrag_require_endpoint = perhaps\n")
    project.ask(good("terms"))
    run = project.run()
    assert run.section("ERROR collecting billing.rag.yaml") == [
        "ragcheck: rag_require_endpoint in pytest.ini: 'perhaps' is neither on nor off; write one of them"
    ]


TOML_TABLES = [
    ("pyproject.toml", "tool.pytest.ini_options", '["f1=0.25"]'),
    # pytest 9 brought tables of native values.
    *([("pyproject.toml", "tool.pytest", '["f1=0.25"]')] if pytest.version_tuple >= (9,) else []),
    *([("pytest.toml", "pytest", '"f1=0.25"')] if pytest.version_tuple >= (9,) else []),
]


@pytest.mark.parametrize(("file", "table", "minimums"), TOML_TABLES)
def test_native_toml_values_are_read_as_texts_are(project: Project, file: str, table: str, minimums: str) -> None:
    values = f"rag_threshold = 0.25\nrag_top_k = 3\nrag_require_endpoint = true\nrag_min = {minimums}\n"
    project.write(file, f"[{table}]\n{values}")
    project.ask(bad("terms", groundedness=0.3))
    run = project.run()
    assert run.outcomes == {"passed": 1}
    assert run.summary["thresholds"] == {"answer_correctness": 0.25, "groundedness": 0.25, "f1": 0.25}


@pytest.mark.parametrize("text", ["on", "TRUE", "Yes", "1"])
def test_a_switch_may_be_spelled_in_any_usual_way(project: Project, text: str) -> None:
    project.write("pytest.ini", f"[pytest]\nrag_dry_run = {text}\n")
    project.ask(good("terms"))
    assert project.run().asked == []
    project.write("pytest.ini", "[pytest]\nrag_dry_run = Off\n")
    assert project.run().outcomes == {"passed": 1}


def test_a_wrong_value_in_the_environment_is_ignored_without_questions(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RAGCHECK_URL", "staging")
    project.write("test_own.py", "def test_own(): pass\n")
    assert project.run().outcomes == {"passed": 1}


@pytest.mark.parametrize(
    ("given", "winner"),
    [({"option", "environment", "ini"}, "option"), ({"environment", "ini"}, "environment"), ({"ini"}, "ini")],
)
def test_the_command_line_wins_over_the_environment_and_that_over_the_ini_file(
    project: Project, monkeypatch: pytest.MonkeyPatch, given: set[str], winner: str
) -> None:
    if "environment" in given:
        monkeypatch.setenv("RAGCHECK_URL", "http://environment/q")
    project.write("pytest.ini", "[pytest]\nrag_url = http://ini/q\n")
    project.write("billing.rag.yaml", "questions: [What?]")
    run = project.run("--co", *(["--rag-url=http://option/q"] if "option" in given else []))
    assert any(line.startswith(f"ragcheck: endpoint http://{winner}/q;") for line in run.lines)


def test_every_option_is_in_pytests_help(project: Project) -> None:
    run = project.run("--help")
    for name in ("url", "threshold", "min", "judge", "judge-model", "judge-url", "output", "agent", "require-endpoint"):
        assert f"--rag-{name}" in run.text
    for name in ("rag_headers", "rag_top_k", "rag_timeout", "rag_judge_prompt", "rag_question_files"):
        assert name in run.text


@two_ways
def test_without_an_endpoint_questions_are_skipped_with_what_to_give(project: Project) -> None:
    project.write("billing.rag.yaml", "questions: [What?, Where?]")
    run = project.run("-rs")
    assert (run.exit_status, run.outcomes) == (0, {"skipped": 2})
    assert all(
        "there is no RAG endpoint to ask: give --rag-url=URL, set RAGCHECK_URL, or override the rag_client fixture"
        in line
        for line in run.short_summary
    )
    assert len(run.short_summary) == 1
    assert run.files == []
    assert (
        "2 tests were skipped: there is no RAG endpoint to ask: give --rag-url=URL, set RAGCHECK_URL, or override the "
        "rag_client fixture"
    ) in project.run("-q").lines


@three_ways
def test_without_an_endpoint_that_is_required_the_run_ends_before_it_begins(project: Project) -> None:
    project.write("billing.rag.yaml", "questions: [What?, Where?]")
    run = project.run("--rag-require-endpoint")
    assert run.exit_status == pytest.ExitCode.USAGE_ERROR
    assert run.stderr.strip() == (
        "ERROR: ragcheck: there is no RAG endpoint to ask: give --rag-url=URL, set RAGCHECK_URL, "
        "or override the rag_client fixture."
    )
    assert run.outcomes == {}


def test_an_endpoint_is_not_required_where_nothing_asks(project: Project) -> None:
    project.write("test_own.py", "def test_own(): pass\n")
    project.write("billing.rag.yaml", "questions: [What?]")
    assert project.run("--rag-require-endpoint", "test_own.py").outcomes == {"passed": 1}
    assert project.run("--rag-require-endpoint", "-k", "test_own").outcomes == {"passed": 1, "deselected": 1}
    assert project.run("--rag-require-endpoint", "--collect-only").exit_status == 0


SKIPPING = "@pytest.fixture(scope='session')\ndef rag_client(): pytest.skip('no index on this machine')\n"


@three_ways
@pytest.mark.parametrize("called", [False, True])
def test_a_run_that_requires_its_endpoint_is_red_if_its_client_skips_every_question(
    project: Project, called: bool
) -> None:
    project.write("conftest.py", f"import pytest\n{SKIPPING}")
    project.write("test_unit.py", "import pytest\ndef test_unit(): pytest.skip('not today')\n")
    if called:
        project.write("test_own.py", "def test_own(rag_check): rag_check('What?')\ndef test_two(rag_check): pass\n")
    else:
        project.write("billing.rag.yaml", "questions: [What?, Where?]")
    run = project.run("--rag-judge=offline", "--rag-require-endpoint", "--rag-gate=each")
    assert (run.exit_status, run.outcomes, run.files) == (pytest.ExitCode.TESTS_FAILED, {"skipped": 3}, [])
    assert "no question was asked: 2 tests skipped; --rag-require-endpoint turns such a run red" in run.lines
    assert "gate: not compared: no question was asked" in run.lines
    run = project.run("--rag-judge=offline")
    assert (run.exit_status, run.files) == (0, [])
    assert "no question was asked: 2 tests skipped" in run.lines
    assert "gate:" not in run.text


def test_a_skipped_question_beside_one_that_was_asked_leaves_the_run_green(project: Project) -> None:
    project.ask(good("terms"), good("prices", skip="later"))
    run = project.run("--rag-require-endpoint")
    assert (run.exit_status, run.outcomes) == (0, {"passed": 1, "skipped": 1})
    assert "no question was asked" not in run.text


def test_an_overridden_client_needs_no_endpoint(project: Project) -> None:
    project.ask(good("terms"))
    assert project.run("--rag-require-endpoint").outcomes == {"passed": 1}


NO_JUDGE = (
    "ERROR: ragcheck: no judge was chosen: give --rag-judge=offline (no model, no key), or --rag-judge=openai with "
    "--rag-judge-model and OPENAI_API_KEY or --rag-judge-url, or --rag-judge=none (metrics without a judge), or "
    "override the rag_judge fixture."
)
NO_MODEL = "ERROR: ragcheck: the openai judge needs a model: set rag_judge_model or RAGCHECK_JUDGE_MODEL."
NO_KEY = (
    "ERROR: ragcheck: the openai judge needs a key: set OPENAI_API_KEY or Settings.of(judge_api_key=...), or "
    "rag_judge_url to a server of "
    "your own (its key, if it needs one, is read from RAGCHECK_JUDGE_API_KEY)."
)

ONE_CALL = (
    "ERROR: ragcheck: the judge's URL 'http://127.0.0.1:1/v1/chat/completions' is the path of one call. Give the API's "
    "base, without /chat/completions."
)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ([], NO_JUDGE),
        (["--rag-judge=openai"], NO_MODEL),
        (["--rag-judge=openai", f"--rag-judge-url={URL}"], NO_MODEL),
        (["--rag-judge-model=gpt-5-mini"], NO_KEY),
        (["--rag-judge-model=m", "--rag-judge-url=http://127.0.0.1:1/v1/chat/completions"], ONE_CALL),
    ],
)
def test_a_judge_that_cannot_work_ends_the_run_before_it_begins(
    project: Project, options: list[str], message: str
) -> None:
    project.write("billing.rag.yaml", "questions: [What?, Where?]")
    run = project.run(f"--rag-url={URL}", *options)
    assert run.exit_status == pytest.ExitCode.USAGE_ERROR
    assert message in run.stderr.splitlines()
    assert run.files == []


@pytest.mark.parametrize("way", ["n2"], indirect=True)
def test_workers_too_end_the_run_once_where_the_judge_cannot_work(project: Project) -> None:
    project.write("billing.rag.yaml", "questions: [What?, Where?]")
    run = project.run(f"--rag-url={URL}", "--rag-judge=openai", "-x")
    assert run.exit_status == pytest.ExitCode.USAGE_ERROR
    assert run.stderr.strip() == NO_MODEL
    assert run.outcomes == {}
    assert "Traceback" not in run.text


@pytest.mark.parametrize("way", ["n2"], indirect=True)
def test_a_judge_that_a_folder_has_of_its_own_is_known_to_the_workers(project: Project) -> None:
    project.write("evals/billing.rag.yaml", "questions: [{question: What?, must_mention: 30 days}]")
    project.write(
        "evals/conftest.py",
        """
        import pytest
        from pytest_ragcheck import RagClient

        @pytest.fixture(scope="session")
        def rag_client():
            return RagClient.from_callable(lambda query: {"answer": "30 days", "contexts": []})

        @pytest.fixture(scope="session")
        def rag_judge():
            return None
        """.replace("\n        ", "\n"),
    )
    assert project.run("--rag-require-endpoint").outcomes == {"passed": 1}


@pytest.mark.parametrize("judge", [("--rag-judge-model=m",), ("--rag-judge=offline",), ("--rag-judge=none",)])
def test_a_prompt_that_is_not_there_ends_the_run_before_the_first_question(
    project: Project, monkeypatch: pytest.MonkeyPatch, judge: tuple[str, ...]
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "test-key")
    project.write("billing.rag.yaml", "questions: [What?]")
    run = project.run(f"--rag-url={URL}", *judge, "-orag_judge_prompt=nowhere.txt")
    assert run.exit_status == pytest.ExitCode.USAGE_ERROR
    assert "nowhere.txt': there is no such file, and no packaged prompt of that name" in run.stderr
    assert ".py:" not in run.text + run.stderr
