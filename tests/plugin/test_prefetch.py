"""Questions are prefetched, each once, with the client and judge of their items."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from typing import TYPE_CHECKING

import pytest

from tests.harness import OTHERS, two_ways
from tests.servers.counting import Counting
from tests.servers.fake_endpoint import FakeEndpoint

if TYPE_CHECKING:
    from tests.harness import Project

SLOW = 0.3
"""Seconds of an answer in which all that can be asked at once is asked, on a busy machine too."""


def questions(project: Project, number: int, file: str = "many.rag.json", **more: object) -> None:
    rows = [{"id": f"q{n}", "question": f"{file} {n}?", "expected_answer": "30 days", **more} for n in range(number)]
    project.write(file, json.dumps(rows))


PARSER_FAILS = """\
import sys, threading

class Finder:
    def find_spec(self, name, path=None, target=None):
        in_advance = [each for each in threading.enumerate() if isinstance(each, threading.Timer)]
        if in_advance and name.startswith(ENTERED):
            raise SystemError("AST constructor recursion depth mismatch")

sys.meta_path.insert(0, Finder())
"""
"""CPython 3.11 may raise this error if two threads parse a module at the same time."""


IN_THE_PROCESS = """\
import time
from pathlib import Path

import pytest

from pytest_ragcheck import RagClient

Path("terms.txt").write_text("30 days")


class System:
    def text(self):
        time.sleep(0.05)
        print("looks it up")
        return Path("terms.txt").read_text()

    def answer(self, query):
        time.sleep(0.05)
        return {"answer": self.text(), "contexts": ["30 days"]}


SYSTEM = System()


@pytest.fixture(scope="session")
def rag_client():
    return RagClient.from_callable(SYSTEM.answer)


@pytest.fixture
def system():
    return SYSTEM
"""
REPLACES_THE_SYSTEM = """\
import time

def test_replaced(system, monkeypatch):
    monkeypatch.setattr(system, "text", lambda: "nothing")
    time.sleep(0.3)

def test_elsewhere(capsys, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    time.sleep(0.3)
    assert capsys.readouterr().out == ""
"""


@pytest.mark.parametrize(
    ("entered", "keys", "outcome"),
    [("rag.cited_answer", {}, "passed"), ("plugin.ending", {"as": "nobody"}, "error")],
)
def test_imports_in_advance_disturb_no_others(
    entered: str, keys: dict[str, str], outcome: str, project: Project
) -> None:
    project.write("conftest.py", PARSER_FAILS.replace("ENTERED", f"'pytest_ragcheck.{entered}'"))
    questions(project, 1, must_mention="30 days", **keys)
    with FakeEndpoint(Counting(seconds=SLOW)) as endpoint:
        run = project.run(f"--rag-url={endpoint.url}", "--rag-judge=none", "-W", "error", fresh=True)
    assert run.outcomes == {outcome: 1}, run.text
    assert "SystemError" not in run.text


@pytest.mark.parametrize(
    ("options", "at_once"),
    [((), 8), (("--rag-concurrency=3", "-p", "no:xdist"), 3), (("--rag-concurrency=1",), 1)],
)
def test_so_many_are_asked_at_once_and_each_once(project: Project, options: tuple[str, ...], at_once: int) -> None:
    number = 2 * at_once + 2
    questions(project, number)
    with FakeEndpoint(system := Counting(seconds=SLOW)) as endpoint:
        run = project.run(f"--rag-url={endpoint.url}", "--rag-judge=offline", *options)
    assert run.outcomes == {"passed": number}
    assert system.most == at_once
    assert set(system.answered.values()) == {1}
    assert len(system.answered) == number


@two_ways
def test_a_system_in_the_process_is_not_asked_while_a_test_of_the_project_runs(project: Project) -> None:
    project.write("conftest.py", IN_THE_PROCESS)
    questions(project, 1, "a.rag.json")
    project.write("b_test.py", REPLACES_THE_SYSTEM)
    questions(project, 30, "c.rag.json")
    run = project.run("--rag-judge=offline")
    assert run.outcomes == {"passed": 33}, run.text
    assert run.counts == {"pass": 31, "fail": 0, "error": 0, "skipped": 0}


def test_a_test_that_replaces_the_clock_does_not_stop_the_questions(project: Project) -> None:
    questions(project, 1, "a.rag.json")
    project.write(
        "b_test.py",
        "import select, time\n"
        "def test_in_2031(monkeypatch):\n"
        "    monkeypatch.setattr(time, 'monotonic', lambda: 1.9e9)\n"
        "    select.select([], [], [], 0.5)\n",
    )
    questions(project, 20, "c.rag.json")
    with FakeEndpoint(Counting(seconds=SLOW)) as endpoint:
        run = project.run(f"--rag-url={endpoint.url}", "--rag-judge=offline", subprocess=True)
    assert run.outcomes == {"passed": 22}


def test_the_rows_are_in_the_files_order_however_the_answers_come(project: Project) -> None:
    questions(project, 24)
    with FakeEndpoint(Counting()) as endpoint:
        run = project.run(f"--rag-url={endpoint.url}", "--rag-judge=offline")
    assert [row["question_id"] for row in run.predictions["predictions"]] == [f"q{n}" for n in range(24)]


def test_what_is_deselected_or_skipped_is_never_asked(project: Project) -> None:
    questions(project, 6)
    questions(project, 3, "skipped.rag.json", skip="not now")
    with FakeEndpoint(system := Counting()) as endpoint:
        run = project.run(f"--rag-url={endpoint.url}", "--rag-judge=offline", "-k", "q1 or q2")
    assert run.outcomes == {"passed": 2, "skipped": 2, "deselected": 5}
    assert set(system.answered) == {"many.rag.json 1?", "many.rag.json 2?"}


def test_a_run_that_may_stop_early_does_not_ask_everything(project: Project) -> None:
    questions(project, 100)
    project.write("first.rag.json", json.dumps([{"id": "wrong", "question": "?", "expected_answer": "60 days"}]))
    with FakeEndpoint(system := Counting()) as endpoint:
        run = project.run(f"--rag-url={endpoint.url}", "--rag-judge=offline", "-x")
    assert run.outcomes == {"failed": 1}
    assert system.answered.total() <= 1 + 2 * (8 + 8)
    assert run.document("rag.partial_summary.json")["complete"] is False


def test_folders_with_a_client_of_their_own_are_read_ahead_with_it(project: Project) -> None:
    client = """
import pytest
from pytest_ragcheck import RagClient

@pytest.fixture(scope="session")
def rag_client():
    return RagClient("URL")
"""
    systems = [Counting(seconds=SLOW), Counting(seconds=SLOW)]
    with FakeEndpoint(systems[0]) as north, FakeEndpoint(systems[1]) as south:
        for folder, endpoint in (("north", north), ("south", south)):
            project.write(f"{folder}/conftest.py", client.replace("URL", endpoint.url))
            questions(project, 16, f"{folder}/{folder}.rag.json")
        run = project.run("--rag-judge=offline")
    assert run.outcomes == {"passed": 32}
    for folder, system in zip(("north", "south"), systems, strict=True):
        assert set(system.answered) == {f"{folder}/{folder}.rag.json {n}?" for n in range(16)}
        assert set(system.answered.values()) == {1}
        assert system.most == 8


def test_questions_of_a_function_that_judges_are_read_ahead(project: Project) -> None:
    questions(project, 16)
    project.write(
        "conftest.py",
        "import pytest\nfrom pytest_ragcheck import Judgement\n\n"
        "@pytest.fixture(scope='session')\n"
        "def rag_judge():\n    return lambda *_: Judgement(answer_correctness=1.0, groundedness=1.0)\n",
    )
    with FakeEndpoint(system := Counting(seconds=SLOW)) as endpoint:
        run = project.run(f"--rag-url={endpoint.url}")
    assert run.outcomes == {"passed": 16}
    assert system.most == 8
    assert run.summary["on_demand"] == {}


@pytest.mark.parametrize("scope", ["function", "module", "package"])
def test_a_client_of_a_narrower_scope_is_asked_when_its_item_runs(project: Project, scope: str) -> None:
    questions(project, 6)
    with FakeEndpoint(system := Counting()) as endpoint:
        project.write(
            "conftest.py",
            f"import pytest\nfrom pytest_ragcheck import RagClient\n\nOPEN = []\n\n"
            f"@pytest.fixture(scope={scope!r})\n"
            f"def rag_client():\n    OPEN.append(RagClient({endpoint.url!r}))\n    return OPEN[-1]\n",
        )
        run = project.run("--rag-judge=offline")
    assert run.outcomes == {"passed": 6}
    assert system.most == 1
    assert set(system.answered.values()) == {1}


def test_a_users_own_test_of_a_file_is_read_ahead_too(project: Project) -> None:
    questions(project, 16, "billing_questions.json")
    project.write(
        "test_billing.py",
        'import pytest\n\n@pytest.mark.rag_questions("billing_questions.json")\n'
        "def test_billing(rag_result):\n    rag_result.assert_passed()\n",
    )
    with FakeEndpoint(system := Counting(seconds=SLOW)) as endpoint:
        run = project.run(f"--rag-url={endpoint.url}", "--rag-judge=offline")
    assert run.outcomes == {"passed": 16}
    assert (system.most, set(system.answered.values())) == (8, {1})


def test_a_rerun_asks_anew(project: Project) -> None:
    questions(project, 3)
    project.write("first.rag.json", json.dumps([{"id": "wrong", "question": "?", "expected_answer": "60 days"}]))
    with FakeEndpoint(system := Counting()) as endpoint:
        run = project.run(f"--rag-url={endpoint.url}", "--rag-judge=offline", "--reruns=2")
    assert run.outcomes == {"failed": 1, "passed": 3, "rerun": 2}
    assert system.answered == {"?": 3, **{f"many.rag.json {n}?": 1 for n in range(3)}}


def test_an_endpoint_that_allows_four_at_once_is_served_to_the_end(project: Project) -> None:
    questions(project, 60)
    with FakeEndpoint(system := Counting(limit=4)) as endpoint:
        run = project.run(f"--rag-url={endpoint.url}", "--rag-judge=offline", "--rag-concurrency=16")
    assert run.outcomes == {"passed": 60}
    assert set(system.answered.values()) == {1}
    assert system.refused < 60


def test_reading_ahead_can_be_switched_off(project: Project) -> None:
    questions(project, 6)
    with FakeEndpoint(system := Counting()) as endpoint:
        run = project.run(f"--rag-url={endpoint.url}", "--rag-judge=offline", "-o", "rag_disable=prefetch")
    assert run.outcomes == {"passed": 6}
    assert system.most == 1


def test_ctrl_c_ends_the_run_and_the_files_are_written(project: Project) -> None:
    questions(project, 200)
    with FakeEndpoint(Counting(seconds=0.3)) as endpoint:
        command = [sys.executable, "-m", "pytest", *OTHERS, "--rag-judge=offline", f"--rag-url={endpoint.url}"]
        with subprocess.Popen(command, cwd=project.folder, stdout=subprocess.PIPE, text=True) as process:
            while len(endpoint.requests) < 20:
                time.sleep(0.01)
            process.send_signal(signal.SIGINT)
            output, _ = process.communicate(timeout=20)
    assert process.returncode == 2
    assert "KeyboardInterrupt" in output
    summary = json.loads((project.folder / "ragcheck-results" / "rag.partial_summary.json").read_bytes())
    assert summary["complete"] is False
    # 200 in the file; those that were under way when the signal came are there, and few more.
    assert len(endpoint.requests) < 100


def test_many_small_files_are_asked_like_one_large_one(project: Project) -> None:
    for n in range(16):
        questions(project, 1, f"f{n}.rag.json")
    with FakeEndpoint(system := Counting(seconds=SLOW)) as endpoint:
        run = project.run(f"--rag-url={endpoint.url}", "--rag-judge=offline")
    assert run.outcomes == {"passed": 16}
    assert (system.most, set(system.answered.values())) == (8, {1})
