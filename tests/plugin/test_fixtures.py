"""The fixtures that users override: the system under test, the judge, the settings."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from pytest_ragcheck.config.table import TABLE
from tests.canned import bad, good
from tests.harness import three_ways, two_ways
from tests.servers.fake_endpoint import FakeEndpoint, json_reply

if TYPE_CHECKING:
    import socket

    from tests.harness import Project
    from tests.servers.fake_endpoint import Request

CANNED_JUDGE = """
@pytest.fixture(scope="session")
def rag_judge():
    return CannedJudge()
"""


@pytest.mark.parametrize(
    "function",
    [
        'def answer(query):\n    return {"answer": "30 days", "contexts": [query]}',
        'async def answer(query):\n    return {"answer": "30 days", "contexts": [query]}',
        'def answer(query, top_k):\n    return {"answer": "30 days", "contexts": [query] * top_k}',
        'def answer(query):\n    return RagAnswer(text="30 days", contexts=(query,))',
    ],
    ids=["sync", "async", "with top_k", "RagAnswer"],
)
def test_the_client_may_be_a_plain_function(project: Project, function: str) -> None:
    project.conftest(f"{CANNED_JUDGE}\n{function}\n\n@pytest.fixture\ndef rag_client():\n    return answer\n")
    project.ask(good("terms", top_k=3))
    run = project.run()
    assert run.outcomes == {"passed": 1}
    (row,) = run.predictions["predictions"]
    assert row["prediction"] == "30 days"
    assert row["contexts"] == ["What about terms?"] * (3 if "top_k" in function else 1)
    assert run.summary["endpoint"] == "conftest.answer"
    assert row["latency_seconds"] >= 0


def test_a_function_with_other_parameters_is_an_error_without_a_traceback(project: Project) -> None:
    function = "def answer(query, index, model): ..."
    project.conftest(f"{CANNED_JUDGE}\n{function}\n\n@pytest.fixture\ndef rag_client():\n    return answer\n")
    project.ask(good("terms"))
    run = project.run()
    text = (
        "conftest.answer(query, index, model) cannot be asked. "
        "RagClient.from_callable takes a function(query) or a function(query, top_k)."
    )
    assert run.section("ERROR at setup of terms") == [text, "question  What about terms?"]
    assert run.errors_by_id == {"terms": ("not_evaluated", text)}


@pytest.mark.parametrize(
    ("backends", "text"),
    [
        ("{client}\ndef judge(answer): ...", "judge() takes 1 positional argument but 2 were given"),
        (
            "class Answers:\n    async def ask(self): ...\n\nanswer = Answers()\n\n{judge}",
            "Answers.ask() takes 1 positional argument but 2 were given",
        ),
    ],
    ids=["judge", "client"],
)
def test_an_object_that_cannot_be_called_is_an_error_without_a_traceback(
    project: Project, backends: str, text: str
) -> None:
    code = backends.format(
        client="def answer(query):\n    return {'answer': '30 days', 'contexts': ['30 days']}\n",
        judge="def judge(question, answer): ...\n",
    )
    fixtures = "".join(
        f"\n@pytest.fixture(scope='session')\ndef {name}():\n    return {value}\n"
        for name, value in (("rag_client", "answer"), ("rag_judge", "judge"))
    )
    project.write("conftest.py", f"import pytest\n\n{code}\n{fixtures}")
    project.ask(good("terms"))
    run = project.run()
    assert run.section("ERROR at setup of terms") == [f"TypeError: {text}", "question  What about terms?"]
    assert run.errors_by_id == {"terms": ("not_evaluated", f"TypeError: {text}")}


def test_settings_that_cannot_work_are_said_once_and_without_a_traceback(project: Project) -> None:
    project.write(
        "conftest.py",
        """
import pytest

@pytest.fixture(scope="session")
def rag_settings(rag_settings):
    return rag_settings.replace(url="http://127.0.0.1:9/q", headers={"X-Key": "a\\nb"}, judge="offline")
""",
    )
    project.write("test_it.py", "def test_it(rag_check): ...\n")
    run = project.run("--rag-url=http://127.0.0.1:9/q")
    (line,) = run.section("ERROR at setup of test_it")
    assert line.startswith("the value of the header 'X-Key' cannot be sent: ")


def test_a_client_from_settings_without_an_endpoint_is_an_error_at_the_users_line(project: Project) -> None:
    client = "@pytest.fixture\ndef rag_client(rag_settings):\n    return RagClient.from_settings(rag_settings)\n"
    project.conftest(f"from pytest_ragcheck import RagClient\n{CANNED_JUDGE}\n{client}")
    project.ask(good("terms"))
    run = project.run()
    lines = run.section("ERROR at setup of terms")
    (error,) = [line for line in lines if line.startswith("E ")]
    assert "the settings name no endpoint: set rag_url or RAGCHECK_URL, or name it in the call, " in error
    assert [line for line in lines[lines.index(error) :] if line.startswith("conftest.py:")]
    assert "/pytest_ragcheck/" not in run.text


def test_a_function_that_raises_is_an_error_with_its_name_and_place(project: Project) -> None:
    project.conftest(
        CANNED_JUDGE
        + """
@pytest.fixture
def rag_client():
    def answer(query):
        raise KeyError("index")
    return answer
"""
    )
    project.ask(good("terms"))
    run = project.run()
    ((kind, message),) = run.errors_by_id.values()
    assert kind == "endpoint"
    assert "raised KeyError: 'index' (conftest.py:" in message


def test_the_judge_may_be_one_that_does_not_await(project: Project) -> None:
    project.conftest(
        """
class Strict:
    def judge(self, question, answer):
        return Judgement(answer_correctness=0.5, groundedness=0.9, error_message="Half of it is missing.")

@pytest.fixture
def rag_judge():
    return Strict()

@pytest.fixture
def rag_client():
    return CannedRag()
"""
    )
    project.ask(good("terms"))
    run = project.run()
    assert run.short_summary == [
        "FAILED billing.rag.yaml::terms - Half of it is missing. (answer_correctness 0.50 < 0.70)"
    ]
    assert run.summary["judge"] == {"kind": "Strict", "model": None, "url": None, "prompt_version": None}


@two_ways
def test_the_nearest_conftest_wins(project: Project) -> None:
    project.ask(good("root"))
    project.ask(good("inner"), file="inner/billing.rag.yaml")
    project.ask(good("innermost"), file="inner/most/billing.rag.yaml")
    for folder in ("inner", "inner/most"):
        project.write(
            f"{folder}/conftest.py",
            "import pytest\nfrom pytest_ragcheck import RagAnswer\n"
            "@pytest.fixture\ndef rag_client():\n"
            f"    return lambda query: RagAnswer(text='from {folder}', contexts=('c',))\n",
        )
    run = project.run()
    answers = {row["question_id"]: row["prediction"] for row in run.predictions["predictions"]}
    assert answers == {"root": "The window is 30 days.", "inner": "from inner", "innermost": "from inner/most"}
    assert run.verdicts == {"root": "PASS", "inner": "PASS", "innermost": "PASS"}


@two_ways
def test_an_override_may_have_its_name_as_an_argument(project: Project) -> None:
    code = """
import pytest

@pytest.fixture(scope="session", name="rag_client")
def fixture_of_a_client():
    return lambda query: {"answer": query, "contexts": [query]}

@pytest.fixture(scope="session", name="rag_judge")
def fixture_of_a_judge():
    return None
"""
    for folder in ("outer", "outer/inner"):
        project.write(f"{folder}/conftest.py", code)
        project.write(f"{folder}/x.rag.yaml", "- question: terms\n  must_mention: terms\n")
    run = project.run("outer", "--rag-require-endpoint")
    assert run.outcomes == {"passed": 2}
    assert "ragcheck: endpoint from the rag_client fixture; judge from the rag_judge fixture" in run.text
    # No question was sent to the client of the other folder first.
    assert run.summary["on_demand"] == {}


def test_an_override_of_the_settings_holds_in_its_folder(project: Project) -> None:
    project.ask(bad("root", groundedness=0.6))
    project.ask(bad("lenient", groundedness=0.6), file="lenient/billing.rag.yaml")
    project.write(
        "lenient/conftest.py",
        "import pytest\n"
        "@pytest.fixture(scope='session')\ndef rag_settings(rag_settings):\n"
        "    return rag_settings.replace(threshold=0.5)\n",
    )
    assert project.run().verdicts == {"root": "FAIL", "lenient": "PASS"}


SYSTEMS = """
import pytest
from pytest_ragcheck import RagAnswer, RagClient

def answer(query, top_k):
    return {"answer": "30 days", "contexts": [f"passage {number}" for number in range(top_k)]}

class Own:
    async def ask(self, question):
        return RagAnswer(text="30 days", contexts=("passage",) * question.top_k)

class OwnNumber:
    top_k = 3

    async def ask(self, question):
        return RagAnswer(text="30 days", contexts=("passage",) * min(question.top_k, 3))

@pytest.fixture(scope="session")
def rag_client(rag_settings):
    return CLIENT
"""


@pytest.mark.parametrize(
    ("client", "number"),
    [
        ("answer", 10),
        ("RagClient.from_callable(answer)", 10),
        ("RagClient.from_callable(answer, top_k=3)", 3),
        ("RagClient(URL)", 10),
        ("RagClient(URL, top_k=3)", 3),
        ("RagClient.from_settings(rag_settings, url=URL)", 10),
        ("Own()", 10),
        ("OwnNumber()", 3),
    ],
)
def test_the_recorded_number_of_contexts_is_the_number_asked_for(project: Project, client: str, number: int) -> None:
    def answering(connection: socket.socket, request: Request) -> bool:
        reply = json_reply({"answer": "30 days", "contexts": ["passage"] * request.json["top_k"]})
        return reply(connection, request)

    gold = "question: How long?, gold_passages: {text: passage 1}"
    for folder in ("plain", "seven"):
        rows = f"- {{id: {folder}, {gold}}}\n- {{id: {folder}-two, top_k: 2, {gold}}}\n"
        project.write(f"{folder}/refunds.rag.yaml", rows)
    project.write("seven/conftest.py", SETTINGS_OF_FOLDER.format("top_k=7"))
    with FakeEndpoint(answering) as endpoint:
        project.write("conftest.py", SYSTEMS.replace("CLIENT", client.replace("URL", repr(endpoint.url))))
        run = project.run("--rag-judge=none", "--rag-tier=retrieval", "-o", "rag_top_k=10")
    rows_by_id = {row["question_id"]: row for row in run.predictions["predictions"]}
    asked = {name: (row["top_k"], len(row["contexts"])) for name, row in rows_by_id.items()}
    # A client with its own number has that in each folder.
    of_folder = 7 if number == 10 and "from_settings" not in client else number
    expected = {"plain": number, "plain-two": 2, "seven": of_folder, "seven-two": 2}
    assert asked == {name: (top_k, top_k) for name, top_k in expected.items()}
    assert rows_by_id["plain"]["thresholds"].keys() == {f"recall_at_{number}"}
    recalls = [name for name in rows_by_id["plain"]["metrics"] if name.startswith("recall_at")]
    assert recalls[-1] == f"recall_at_{number}"


SETTINGS_OF_FOLDER = """
import pytest

@pytest.fixture(scope="session")
def rag_settings(rag_settings):
    return rag_settings.replace({})
"""


OF_THE_WHOLE_RUN = {
    "concurrency": "1",
    "delay": "0.1",
    "retries": "0",
    "judge_concurrency": "1",
    "calibration": "'agreements.json'",
    "baseline": "'old.json'",
    "gate": "'rate:0.5'",
    "false_alarms": "0.5",
    "baseline_allow": "'other-settings'",
    "tier": "'retrieval'",
    "ingest": "True",
    "disable": "'prefetch cleanup'",
    "question_files": "'*.csv'",
    "dataset": "'squad_v2'",
    "samples": "1",
    "shard": "'1/2'",
    "resume": "True",
    "replay": "'old.json'",
    "dry_run": "True",
    "max_cost": "0.01",
    "output": "'elsewhere'",
    "agent": "'other'",
    "report": "'page.html'",
}


def test_an_override_that_changes_a_setting_of_the_whole_run_is_an_error_of_its_folder(project: Project) -> None:
    assert {setting.keyword for setting in TABLE if setting.whole_run} == OF_THE_WHOLE_RUN.keys()
    changes = {name: f"{name}={value}" for name, value in OF_THE_WHOLE_RUN.items()}
    changes["two"] = "delay=1, threshold=0.1, dry_run=True"
    fine = "threshold=0.9, concurrency=8, output='ragcheck-results', disable='cache'"
    for folder, arguments in (("a-fine", fine), *changes.items()):
        project.ask(good(folder, expected_answer="30 days"), file=f"{folder}/refunds.rag.yaml")
        project.write(f"{folder}/conftest.py", SETTINGS_OF_FOLDER.format(arguments))
    made = SETTINGS_OF_FOLDER.format("").replace("rag_settings.replace", "pytest_ragcheck.Settings.of")
    project.write("z/conftest.py", f"import pytest_ragcheck\n{made}")
    project.ask(good("z"), file="z/refunds.rag.yaml")
    run = project.run()
    errors = {name: error.removeprefix("Failed: ") for name, (_, error) in run.errors_by_id.items()}
    assert errors.keys() == changes.keys()
    for name in OF_THE_WHOLE_RUN:
        assert errors[name] == (
            f"rag_settings: an override changes {name}, which holds for the whole run; "
            f"set rag_{name} in the ini file or on the command line."
        )
    assert errors["two"] == (
        "rag_settings: an override changes delay and dry_run, which hold for the whole run; "
        "set rag_delay and rag_dry_run in the ini file or on the command line."
    )
    assert run.counts["pass"] == 2


def test_a_folder_may_switch_prefetching_off(project: Project) -> None:
    for folder in ("ahead", "demand"):
        project.ask(good(f"{folder}-1"), good(f"{folder}-2"), file=f"{folder}/refunds.rag.yaml")
    project.write("demand/conftest.py", SETTINGS_OF_FOLDER.format("disable='prefetch'"))
    run = project.run()
    assert run.outcomes == {"passed": 4}
    assert run.summary["on_demand"] == {"prefetch is disabled (rag_disable)": 2}


@two_ways
def test_an_override_may_name_another_endpoint_and_judge_for_its_folder(project: Project) -> None:
    project.write("a.rag.yaml", "- {id: root, question: How long?, expected_answer: 30 days}\n")
    project.write("other/refunds.rag.yaml", "- {id: other, question: How long?, expected_answer: 60 days}\n")
    project.write("third/test_it.py", "def test_it(rag_check): assert rag_check('How long?', expected='30 days')\n")

    def serving(days: int) -> FakeEndpoint:
        said = f"Refunds are possible within {days} days."
        return FakeEndpoint(json_reply({"answer": said, "contexts": [said]}))

    with serving(30) as root, serving(60) as other:
        for folder, judge in (("other", "offline"), ("third", "none")):
            changes = f'url="{other.url}", judge="{judge}"'
            project.write(f"{folder}/conftest.py", SETTINGS_OF_FOLDER.format(changes))
        run = project.run(f"--rag-url={root.url}", "--rag-judge=offline", "-o", "rag_max=latency_seconds=60")
        assert (len(root.requests), len(other.requests)) == (1, 2)
        assert run.outcomes == {"passed": 3}, run.text
        assert run.scores["other"]["answer_correctness"] == 1.0
        assert "answer_correctness" not in run.scores["test_it-1"]
        assert run.summary["on_demand"] == {"rag_check was called": 1}
        # A folder without an endpoint is skipped, and no other one.
        run = project.run("--rag-judge=offline")
        assert run.outcomes == {"passed": 2, "skipped": 1}, run.text


def test_an_override_may_use_the_fixture_that_it_overrides(project: Project) -> None:
    project.ask(good("terms"))
    project.write(
        "test_folder/conftest.py",
        "import dataclasses\nimport pytest\n"
        "@pytest.fixture\ndef rag_question(rag_question):\n"
        "    return dataclasses.replace(rag_question, question='What about terms?')\n",
    )
    project.ask(good("other"), file="test_folder/x.rag.yaml")
    assert project.run().asked == ["What about terms?", "What about terms?"]


@two_ways
@pytest.mark.parametrize("early", [True, False], ids=["-p", "PYTEST_PLUGINS"])
def test_the_overrides_of_a_plugin_win_whichever_plugin_is_loaded_first(
    project: Project, monkeypatch: pytest.MonkeyPatch, early: bool
) -> None:
    project.write(
        "bank.py",
        "import pytest\nfrom pytest_ragcheck import Judgement\n\n"
        '@pytest.fixture(scope="session", name="rag_judge")\n'
        "def judge():\n"
        "    return lambda question, answer: Judgement(answer_correctness=0.8, groundedness=1.0)\n\n"
        '@pytest.fixture(scope="session")\n'
        "def rag_settings(rag_settings):\n    return rag_settings.replace(threshold=0.9)\n",
    )
    project.conftest("@pytest.fixture(scope='session')\ndef rag_client():\n    return CannedRag()\n")
    project.write(
        "own/conftest.py",
        "import pytest\n\n@pytest.fixture(scope='session')\n"
        "def rag_settings(rag_settings):\n    return rag_settings.replace(threshold=0.8)\n",
    )
    project.ask(good("terms"))
    project.ask(good("hours"), file="own/own.rag.yaml")
    monkeypatch.setenv("PYTHONPATH", str(project.folder), prepend=os.pathsep)
    if not early:
        monkeypatch.setenv("PYTEST_PLUGINS", "bank")
    run = project.run(*(["-p", "bank"] if early else []), "--rag-judge=offline", fresh=True)
    assert run.verdicts == {"terms": "FAIL", "hours": "PASS"}
    assert "judge from the rag_judge fixture, not from --rag-judge" in run.text


@two_ways
def test_a_parametrized_client_asks_every_system_under_its_own_dataset(project: Project) -> None:
    project.conftest(
        CANNED_JUDGE
        + """
@pytest.fixture(params=["Paris", "Rome"])
def rag_client(request):
    return lambda query: RagAnswer(text=request.param, contexts=(request.param,))
"""
    )
    project.ask(good("q1"), good("q2"))
    run = project.run("-v")
    assert run.outcomes == {"passed": 4}
    assert "billing.rag.yaml::q1[Paris]" in run.text
    rows = {(row["dataset_name"], row["question_id"]): row["prediction"] for row in run.predictions["predictions"]}
    assert rows == {
        ("billing[Paris]", "q1"): "Paris",
        ("billing[Paris]", "q2"): "Paris",
        ("billing[Rome]", "q1"): "Rome",
        ("billing[Rome]", "q2"): "Rome",
    }
    assert set(run.summary["datasets"]) == {"billing[Paris]", "billing[Rome]"}
    assert (run.summary["complete"], run.summary["n_not_run"]) == (True, 0)
    assert run.files == [
        "billing[Paris]_questions.json",
        "billing[Rome]_questions.json",
        "rag_predictions.json",
        "rag_summary.json",
    ]


def test_a_plugin_that_repeats_tests_keeps_every_record(project: Project) -> None:
    project.ask(good("q1"))
    project.extend_conftest(
        "@pytest.fixture\ndef count(request): return request.param\n"
        "def pytest_generate_tests(metafunc):\n"
        "    metafunc.fixturenames.append('count')\n"
        "    metafunc.parametrize('count', [0, 1], indirect=True, ids=['1-2', '2-2'])\n",
    )
    run = project.run()
    assert run.outcomes == {"passed": 2}
    assert set(run.summary["datasets"]) == {"billing[1-2]", "billing[2-2]"}


def test_a_hook_may_repeat_a_single_question_by_its_name(project: Project) -> None:
    project.ask(good("q1"), good("q2"), good("q3"))
    project.extend_conftest(
        "def pytest_generate_tests(metafunc):\n"
        "    if metafunc.definition.name == 'q2':\n"
        "        metafunc.fixturenames.append('count')\n"
        "        metafunc.parametrize('count', [0, 1])\n",
    )
    run = project.run("-v")
    assert run.outcomes == {"passed": 4}
    assert all(f"::{name} PASSED" in run.text for name in ("q1", "q2[0]", "q2[1]", "q3"))


@three_ways
def test_a_fixture_that_breaks_is_an_error_in_the_files_too(project: Project) -> None:
    project.conftest(
        CANNED_JUDGE
        + """
@pytest.fixture
def rag_client(request):
    if "terms" in request.node.name:
        raise OSError("the index is not there")
    return CannedRag()
"""
    )
    project.ask(good("terms"), good("hours"))
    run = project.run()
    assert run.outcomes == {"passed": 1, "error": 1}
    assert run.verdicts == {"hours": "PASS", "terms": "ERROR"}
    assert run.errors_by_id == {"terms": ("not_evaluated", "OSError: the index is not there")}
    assert "the index is not there" in run.text


@pytest.mark.parametrize("scope", ["function", "class", "module", "package", "session"])
def test_an_override_may_have_any_scope(project: Project, scope: str) -> None:
    project.conftest(
        CANNED_JUDGE
        + f"""
@pytest.fixture(scope="{scope}")
def rag_client():
    with (HERE / "started.txt").open("a") as log:
        log.write("started\\n")
    return CannedRag()
"""
    )
    project.ask(good("a"), good("b"))
    assert project.run().outcomes == {"passed": 2}
    started = len((project.folder / "started.txt").read_text().splitlines())
    assert started == (2 if scope in {"function", "class"} else 1)


def test_an_autouse_fixture_and_usefixtures_hold_for_questions(project: Project) -> None:
    project.ask(good("terms"))
    project.extend_conftest(
        "@pytest.fixture(autouse=True, scope='module')\ndef started(): print('the server starts')\n"
    )
    assert "the server starts" in project.run("-s").text


@pytest.mark.parametrize(
    ("change", "verdict"), [("question.thresholds['groundedness'] = 0.0", "FAIL"), ("question.top_k = 3", "ERROR")]
)
def test_a_judge_that_changes_a_question_makes_no_answer_pass(project: Project, change: str, verdict: str) -> None:
    project.ask(bad("draft"), bad("prices"))
    project.conftest(
        f"""
class Changing(CannedJudge):
    async def judge(self, question, answer):
        if question.id == "draft":
            question.thresholds["answer_correctness"] = 0.0
            {change}
        return await super().judge(question, answer)

@pytest.fixture(scope="session")
def rag_judge():
    return Changing()

@pytest.fixture(scope="session")
def rag_client():
    return CannedRag()
"""
    )
    run = project.run()
    assert run.verdicts == {"draft": verdict, "prices": "FAIL"}
    assert "pytest-ragcheck itself failed" not in run.text


def test_a_client_of_another_kind_is_an_error_that_says_what_it_is(project: Project) -> None:
    project.conftest(
        CANNED_JUDGE
        + """
class Answers:
    async def ask(self, question):
        return "30 days"

@pytest.fixture
def rag_client():
    return Answers()
"""
    )
    project.ask(good("terms"))
    run = project.run()
    assert run.errors_by_id == {"terms": ("endpoint_reply", "Answers: ask() returned str, not a RagAnswer.")}


def test_an_override_of_the_result_that_is_none_is_named(project: Project) -> None:
    project.ask(good("terms"))
    project.extend_conftest("@pytest.fixture\ndef rag_result(): return None\n")
    run = project.run()
    assert run.outcomes == {"failed": 1}
    assert "the rag_result fixture returned None, not a Record. Return the rag_result" in run.text
    assert [kind for kind, _ in run.errors_by_id.values()] == ["not_evaluated"]


@pytest.mark.parametrize("client", ["", "@pytest.fixture(scope='session')\ndef rag_client(): return len\n"])
def test_an_override_of_the_settings_without_a_return_is_named(project: Project, client: str) -> None:
    project.ask(good("terms"))
    project.write(
        "conftest.py",
        f"import pytest\n{client}@pytest.fixture(scope='session')\ndef rag_settings(rag_settings): "
        "rag_settings.replace(threshold=0.9)\n",
    )
    run = project.run("--rag-url=http://localhost:1/query", "--rag-judge=offline")
    assert run.outcomes == {"error": 1}
    assert run.section("ERROR at setup of terms") == [
        (
            "the rag_settings fixture returned None, not Settings. "
            "Return the settings that it changes, such as rag_settings.replace(threshold=0.9)."
        )
    ]
    assert "pytest-ragcheck itself failed" not in run.text


@pytest.mark.parametrize("change", ["id='other'", "dataset_name='other'"])
def test_an_override_of_the_question_that_changes_its_identity_is_an_error(project: Project, change: str) -> None:
    project.ask(good("terms"), bad("prices"))
    project.extend_conftest(
        "import dataclasses\n@pytest.fixture\ndef rag_question(rag_question):\n"
        f"    return dataclasses.replace(rag_question, {change})\n"
    )
    run = project.run()
    assert run.counts == {"pass": 0, "fail": 0, "error": 2, "skipped": 0}
    assert run.summary["complete"] is True
    assert "the rag_question fixture changed ('billing', 'terms') to (" in run.text
    assert "): keep dataset_name and id." in run.text


def test_an_override_of_the_question_by_its_text_is_named(project: Project) -> None:
    project.ask(good("terms"))
    project.extend_conftest("@pytest.fixture\ndef rag_question(rag_question): return rag_question.question\n")
    run = project.run()
    assert run.outcomes == {"error": 1}
    assert run.section("ERROR at setup of terms") == [
        (
            "the rag_question fixture returned 'What about terms?', not a Question. Return the rag_question that your "
            'fixture overrides, or a changed one, such as dataclasses.replace(rag_question, question="...").'
        )
    ]
    assert "pytest-ragcheck itself failed" not in run.text


def test_rag_question_in_a_test_without_questions_says_what_to_do(project: Project) -> None:
    project.ask(good("terms"))
    project.write("test_own.py", "def test_own(rag_result): pass\n")
    run = project.run("test_own.py")
    assert run.outcomes == {"error": 1}
    assert (
        "test_own.py::test_own: there is no question. Mark the test with "
        '@pytest.mark.rag_questions("billing.rag.yaml"), or use rag_check.'
    ) in run.lines


def test_what_narrow_fixtures_return_is_not_kept_until_the_end(project: Project) -> None:
    project.conftest(
        """
import gc

@pytest.fixture
def rag_client():
    return CannedRag()

@pytest.fixture
def rag_judge():
    return CannedJudge()

@pytest.fixture
def rag_settings(rag_settings):
    return rag_settings.replace(threshold=0.5)

@pytest.hookimpl(tryfirst=True)
def pytest_sessionfinish():
    gc.collect()
    kept = [type(each).__name__ for each in gc.get_objects()]
    (HERE / "kept.txt").write_text(f"{kept.count('Settings')} {kept.count('CannedJudge')}")
"""
    )
    project.ask(*(good(f"q{number}") for number in range(40)))
    assert project.run("-o", "rag_disable=", subprocess=True).outcomes == {"passed": 40}
    settings, judges = map(int, (project.folder / "kept.txt").read_text(encoding="utf-8").split())
    assert settings < 20
    assert judges < 20


def test_a_parametrized_judge_judges_each_question_once_for_each_parameter(project: Project) -> None:
    project.ask(good("terms"))
    project.extend_conftest("@pytest.fixture(params=['a', 'b'])\ndef rag_judge(request): return CannedJudge()\n")
    project.write(
        "test_own.py",
        'import pytest\n@pytest.mark.rag_questions("billing.rag.yaml")\n'
        "def test_it(rag_result): rag_result.assert_passed()\n",
    )
    run = project.run()
    assert run.outcomes == {"passed": 4}, run.text


NO_NETWORK = """
import socket

import pytest
from pytest_ragcheck import RagClient


@pytest.fixture(autouse=True, scope="{scope}")
def no_network():
    def guard(*args, **options):
        raise RuntimeError("no network in unit tests")

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(socket, "socket", guard)
        yield
"""
ASKED = """

@pytest.fixture(scope="session")
def rag_client():
    return RagClient.from_callable(lambda query: {"answer": "30 days", "contexts": ["Within 30 days."]})
"""
NO_LOOP = "the event loop that asks questions cannot start: socket.socket raised RuntimeError: no network in unit tests"


@two_ways
def test_a_function_is_asked_where_a_fixture_forbids_sockets(project: Project) -> None:
    project.write("conftest.py", NO_NETWORK.format(scope="function") + ASKED)
    project.write("q.rag.yaml", "- {id: a, question: How long?, expected_answer: 30 days}\n")
    project.write("test_own.py", "def test_ordinary():\n    pass\n")
    run = project.run("--rag-judge=offline")
    assert run.outcomes == {"passed": 2}
    assert "1 PASS, 0 FAIL, 0 ERROR, 0 skipped" in run.text


def test_a_guard_that_is_older_than_the_loop_turns_no_other_test_red(project: Project) -> None:
    project.write("conftest.py", NO_NETWORK.format(scope="session") + ASKED)
    project.write("b.rag.yaml", "- {id: a, question: How long?, expected_answer: 30 days}\n")
    for name in ("a_test.py", "c_test.py"):
        project.write(name, "def test_ordinary():\n    pass\n")
    run = project.run("--rag-judge=offline")
    assert run.outcomes == {"passed": 2, "error": 1}
    assert run.short_summary[0].startswith("ERROR b.rag.yaml::a - ")
    assert NO_LOOP in run.junit["a"][1]


@pytest.mark.parametrize("scheme", ["http", "https"])
def test_an_endpoint_that_may_not_be_connected_is_an_error_with_the_words_of_the_guard(
    project: Project, scheme: str
) -> None:
    project.write("conftest.py", NO_NETWORK.format(scope="function"))
    project.write("q.rag.yaml", "- {id: a, question: How long?, expected_answer: 30 days}\n")
    run = project.run("--rag-judge=offline", f"--rag-url={scheme}://127.0.0.1:9/query")
    assert run.outcomes == {"error": 1}
    assert f"{scheme}://127.0.0.1:9/query: no connection: no network in unit tests\n" in run.text
    assert "pytest-ragcheck itself failed" not in run.text


OWN_PARTS = """
import asyncio
import pytest
from pathlib import Path
from pytest_ragcheck import Judgement, RagAnswer

class Part:
    async def connected(self):
        self.loop = asyncio.get_running_loop()

    async def aclose(self):
        in_loop = asyncio.get_running_loop() is self.loop
        with Path(__file__).with_name("log.txt").open("a") as log:
            log.write(f"{{type(self).__name__}} {{in_loop}}\\n")
        {aclose}

class Client(Part):
    async def ask(self, question):
        await self.connected()
        return RagAnswer(text="30 days", contexts=("Within 30 days.",))

class Judge(Part):
    async def judge(self, question, answer):
        await self.connected()
        return Judgement(answer_correctness=1.0, groundedness=1.0)

CLIENT = Client()

@pytest.fixture({scope})
def rag_client():
    return CLIENT

@pytest.fixture(scope="session")
def rag_judge():
    yield Judge()
    with Path(__file__).with_name("log.txt").open("a") as log:
        log.write("teardown of the judge\\n")
"""


@two_ways
def test_an_own_judge_and_client_are_closed_in_the_loop_that_asked(project: Project) -> None:
    project.write("conftest.py", OWN_PARTS.format(scope="scope='session'", aclose="pass"))
    project.write("a.rag.yaml", "- {id: a, question: How long?}\n- {id: b, question: How much?}\n")
    assert project.run().verdicts == {"a": "PASS", "b": "PASS"}
    log = (project.folder / "log.txt").read_text().splitlines()
    assert sorted({*log}) == ["Client True", "Judge True", "teardown of the judge"]
    assert log.index("teardown of the judge") < log.index("Judge True")


def test_an_own_client_of_a_narrow_fixture_stays_open_for_later_items(project: Project) -> None:
    project.write("conftest.py", OWN_PARTS.format(scope="", aclose="raise OSError('closed before')"))
    project.write("a.rag.yaml", "- {id: a, question: How long?}\n- {id: b, question: How much?}\n")
    run = project.run()
    assert run.counts["pass"] == 2
    assert (project.folder / "log.txt").read_text().splitlines() == ["teardown of the judge", "Judge True"]
    assert "Judge.aclose() failed: OSError: closed before" in run.lines
    assert run.exit_status == 0


def test_a_judge_whose_identity_is_a_text_is_an_error_of_the_test(project: Project) -> None:
    project.ask(good("terms"))
    project.extend_conftest(
        "class Helpdesk:\n    identity = 'helpdesk'\n    def judge(self, question, answer): ...\n"
        "@pytest.fixture(scope='session')\ndef rag_judge(): return Helpdesk()\n"
    )
    run = project.run()
    assert run.exit_status == pytest.ExitCode.TESTS_FAILED
    assert "Helpdesk: the identity of the rag_judge is 'helpdesk', not a JudgeIdentity. " in run.text
