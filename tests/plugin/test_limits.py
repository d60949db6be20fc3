"""The limits hold for the whole run: for every kind of request, in all workers together."""

from __future__ import annotations

import json
import re
import sys
from itertools import accumulate
from typing import TYPE_CHECKING

import pytest

from tests.canned import good
from tests.harness import exhaustive
from tests.servers.fake_endpoint import FakeEndpoint, json_reply

if TYPE_CHECKING:
    from tests.harness import Project, Run

LOGGED = """
import os, time
from pathlib import Path

import pytest
from pytest_ragcheck import Judgement, RagClient

HERE = Path(__file__).parent


def note(name, what):
    with (HERE / f"{name}.txt").open("a") as file:
        file.write(f"{time.monotonic():.6f} {what}\\n")


def answer(question):
    note("asked", 1)
    time.sleep(0.03)
    note("asked", -1)
    return {"answer": "30 days", "contexts": ["Within 30 days."]}


class LoggedJudge:
    def judge(self, question, answer):
        note("judged", 1)
        time.sleep(0.03)
        note("judged", -1)
        return Judgement(answer_correctness=1.0, groundedness=1.0)


@pytest.fixture(scope="session")
def rag_client():
    (HERE / os.environ["PYTEST_XDIST_WORKER"]).touch()
    return RagClient.from_callable(answer)


@pytest.fixture(scope="session")
def rag_judge():
    return LoggedJudge()
"""

NARROW = """
import pytest

@pytest.fixture
def rag_client(rag_client):
    return rag_client
"""

CALLS = """
import pytest

@pytest.mark.parametrize("number", range(8))
def test_call(rag_check, number):
    rag_check(f"call {number}?", expected="30 days").assert_passed()
"""


def most_at_once(project: Project, name: str) -> int:
    """The largest overlap of the calls in the log."""
    lines = sorted(line.split() for line in (project.folder / f"{name}.txt").read_text().splitlines())
    running = most = 0
    for _, change in lines:
        running += int(change)
        most = max(most, running)
    assert running == 0
    return most


@pytest.mark.parametrize(("asked", "judged"), [pytest.param(1, None, marks=exhaustive), (2, 3)])
def test_no_more_requests_run_at_once_in_four_workers_than_the_limit(
    project: Project, asked: int, judged: int | None
) -> None:
    project.write("conftest.py", LOGGED)
    for file in ("prefetched/p.rag.json", "narrow/n.rag.json"):
        rows = [{"id": f"q{n}", "question": f"{file} {n}?", "expected_answer": "30 days"} for n in range(8)]
        project.write(file, json.dumps(rows))
    project.write("narrow/conftest.py", NARROW)
    project.write("test_calls.py", CALLS)
    own = [] if judged is None else ["-o", f"rag_judge_concurrency={judged}"]
    run = project.run("-n4", f"--rag-concurrency={asked}", *own)
    assert run.outcomes == {"passed": 24}
    assert len(list(project.folder.glob("gw*"))) == 4
    # On a busy machine the limit need not be reached.
    assert 1 <= most_at_once(project, "asked") <= asked
    assert 1 <= most_at_once(project, "judged") <= (judged or asked)


@pytest.mark.skipif(sys.platform == "win32", reason="there is no limit to lower")
def test_a_process_without_files_to_open_still_reports_its_question(project: Project) -> None:
    project.conftest(
        """
import os
import resource

@pytest.fixture(scope="session")
def rag_client():
    resource.setrlimit(resource.RLIMIT_NOFILE, (len(os.listdir("/dev/fd")) - 1,) * 2)
    return CannedRag()
"""
    )
    project.junit = False
    project.ask(good("terms"))
    run = project.run("--rag-judge=offline", subprocess=True)
    assert run.exit_status == pytest.ExitCode.TESTS_FAILED, run.text
    assert "0 PASS, 0 FAIL, 1 ERROR, 0 skipped" in run.lines
    assert "NOT WRITTEN: " in run.text
    assert "(Too many open files)" in run.text


@pytest.mark.skipif(sys.platform == "win32", reason="there is no limit to lower")
def test_a_process_with_too_few_files_left_refuses_the_run(project: Project) -> None:
    project.conftest(
        """
import os
import resource

def pytest_collection_modifyitems():
    resource.setrlimit(resource.RLIMIT_NOFILE, (len(os.listdir("/dev/fd")) + 1,) * 2)
"""
    )
    project.ask(good("terms"))
    run = project.run("--rag-judge=offline", subprocess=True)
    assert run.exit_status == pytest.ExitCode.USAGE_ERROR, run.text
    text = r"ERROR: ragcheck: this process can open \d more files, and a run needs 10 \(Too many open files\)\."
    assert re.search(text, run.stderr), run.stderr
    assert "Traceback" not in run.stderr + run.text


@pytest.mark.skipif(sys.platform == "win32", reason="there is no limit to lower")
def test_connections_are_capped_by_the_limit_of_open_files(project: Project) -> None:
    project.write("conftest.py", "import resource\nresource.setrlimit(resource.RLIMIT_NOFILE, (64, 64))\n")
    project.write("many.rag.json", json.dumps([{"id": f"q{n}", "question": f"What is {n}?"} for n in range(200)]))
    with FakeEndpoint(json_reply({"answer": "a", "contexts": ["a"]})) as endpoint:
        run = project.run(f"--rag-url={endpoint.url}", "--rag-judge=none", "--rag-concurrency=256", subprocess=True)
    assert run.outcomes == {"passed": 200}
    assert "at most 12 of 256 requests run at once, by the limit of open files" in run.lines


SLOW = """
import asyncio, time
from pathlib import Path

import pytest
from pytest_ragcheck import RagAnswer, RagClient

LOG = Path(__file__).parent / "asked.txt"


def note(change):
    with LOG.open("a") as log:
        log.write(f"{time.monotonic():.6f} {change}\\n")


def plain(question):
    note(1)
    time.sleep(SECONDS)
    note(-1)
    return {"answer": "30 days", "contexts": []}


async def swallowing(question):
    note(1)
    end = time.monotonic() + SECONDS
    while time.monotonic() < end:
        try:
            await asyncio.sleep(0.01)
        except asyncio.CancelledError:
            pass
    note(-1)
    return {"answer": "30 days", "contexts": []}


class Swallowing:
    async def ask(self, question):
        return RagAnswer(text=(await swallowing(question.question))["answer"])


@pytest.fixture(scope="session")
def rag_client():
    return CLIENT
"""

CALLABLE = "RagClient.from_callable({}, timeout_seconds=0.1)"


def run_slow(project: Project, seconds: float, client: str, *options: str, questions: int = 4) -> tuple[Run, int]:
    """A run over a client that exceeds its time limit, and the most calls at once."""
    project.write("conftest.py", SLOW.replace("SECONDS", str(seconds)).replace("CLIENT", client))
    project.write("billing.rag.yaml", f"questions: {[f'Number {number}?' for number in range(questions)]}\n")
    run = project.run("--rag-judge=none", "--rag-concurrency=1", "-orag_retries=0", *options, subprocess=True)
    lines = (project.folder / "asked.txt").read_text().splitlines()
    running = accumulate(int(line.split()[1]) for line in sorted(lines, key=lambda line: float(line.split()[0])))
    return run, max(running)


@pytest.mark.parametrize(
    ("function", "seconds"),
    [("plain", 0.3), ("swallowing", 0.3), pytest.param("swallowing", 1.3, marks=exhaustive)],
)
def test_an_abandoned_call_keeps_its_slot_until_it_ends(project: Project, function: str, seconds: float) -> None:
    run, most = run_slow(project, seconds, CALLABLE.format(function), questions=2)
    assert ["returned nothing within 0.1 s" in text for _, text in run.errors_by_id.values()] == [True] * 2
    assert most == 1


@pytest.mark.parametrize(
    ("function", "options"),
    [("plain", []), ("plain", ["-n2"]), pytest.param("swallowing", [], marks=exhaustive)],
)
def test_a_call_that_never_ends_does_not_freeze_the_run(project: Project, function: str, options: list[str]) -> None:
    run, most = run_slow(project, 1000, CALLABLE.format(function), *options)
    texts = [text for _, text in run.errors_by_id.values()]
    assert sum("returned nothing within 0.1 s" in text for text in texts) == 1
    assert (
        sum("not asked: calls that still run long after their time limit hold all slots" in text for text in texts) == 3
    )
    assert most == 1


SLOW_LAST = """
import os, time
import pytest
from pytest_ragcheck import RagClient


def plain(question):
    time.sleep(2 if question == os.environ["PYTEST_XDIST_WORKER"] else 0.2)
    return {"answer": "30 days", "contexts": []}


@pytest.fixture
def rag_client():
    return RagClient.from_callable(plain, timeout_seconds=0.4)
"""

SLOW_LAST_CALLS = """
import os, time
import pytest

@pytest.mark.xdist_group("first")
def test_a_call_that_outlives_its_worker(rag_check):
    rag_check(os.environ["PYTEST_XDIST_WORKER"])

@pytest.mark.xdist_group("second")
def test_a_call_of_another_worker(rag_check):
    time.sleep(0.2)
    rag_check("Number 1?")
"""


def test_a_worker_gives_back_the_slot_of_a_call_that_outlives_it(project: Project) -> None:
    project.write("conftest.py", SLOW_LAST)
    project.write("test_calls.py", SLOW_LAST_CALLS)
    options = ["--rag-judge=none", "--rag-concurrency=1", "-orag_retries=0", "-n2", "--dist=loadgroup"]
    run = project.run(*options, subprocess=True)
    assert run.outcomes == {"failed": 1, "passed": 1}


def test_a_client_that_swallows_its_cancellation_is_an_error_at_the_time_limit(
    project: Project,
) -> None:
    run, _ = run_slow(project, 1000, "Swallowing()", "-orag_timeout=0.02", questions=1)
    ((kind, text),) = run.errors_by_id.values()
    assert kind == "question_timeout"
    assert text.startswith("no verdict within 0.2 s: the endpoint had it for")
