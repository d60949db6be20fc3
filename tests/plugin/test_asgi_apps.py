"""An ASGI app as the system under test: its lifespan runs once in each process, before the first question."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from tests.harness import exhaustive, two_ways

if TYPE_CHECKING:
    from tests.harness import Project, Run

SERVICE = """
import asyncio, os, signal, time
from contextlib import asynccontextmanager
from pathlib import Path

from fastapi import FastAPI, Request

STEPS = Path(__file__).with_name("steps.txt")

def step(name):
    with STEPS.open("a") as file:
        file.write(f"{name} {os.getpid()} {id(asyncio.get_running_loop())}\\n")

@asynccontextmanager
async def lifespan(app):
    step("startup")
    STARTUP
    yield {"lock": asyncio.Lock(), "asked": asyncio.Queue()}
    step("shutdown")
    SHUTDOWN

app = FastAPI(lifespan=lifespan)

@app.post("/query")
async def query(request: Request) -> dict:
    async with request.state.lock:
        await request.state.asked.put(await request.json())
        step("request")
        ROUTE
    return {"answer": "Within 30 days.", "contexts": ["Refunds are possible within 30 days."]}
"""

CLIENT = """
import pytest
from my_service import app
from pytest_ragcheck import RagClient

@pytest.fixture(scope="session")
def rag_client(rag_settings):
    return RagClient.from_settings(rag_settings, app=app)
"""

QUESTIONS = "questions:\n" + "".join(
    f"- {{id: q{number}, question: Within how many days are refunds possible {number}?, expected_answer: 30 days}}\n"
    for number in range(4)
)


def run_service(
    project: Project, *arguments: str, startup: str = "", shutdown: str = "", route: str = "", subprocess: bool = False
) -> Run:
    code = SERVICE
    for name, body in (("STARTUP", startup), ("SHUTDOWN", shutdown), ("ROUTE", route)):
        code = code.replace(name, body or "pass")
    # A shell takes Ctrl-C from a command that it runs in the background.
    project.write("my_service.py", f"{code}\nsignal.signal(signal.SIGINT, signal.default_int_handler)\n")
    project.write("conftest.py", CLIENT)
    project.write("billing.rag.yaml", QUESTIONS)
    return project.run("--rag-judge=offline", *arguments, subprocess=subprocess)


def lives(project: Project) -> list[list[str]]:
    """The steps of each process and loop."""
    found: dict[str, list[str]] = {}
    for line in (project.folder / "steps.txt").read_text().splitlines():
        step, place = line.split(" ", 1)
        found.setdefault(place, []).append(step)
    return list(found.values())


@two_ways
def test_the_lifespan_runs_once_in_each_process_that_asks(project: Project) -> None:
    run = run_service(project)
    assert run.outcomes == {"passed": 4}
    assert sum(each.count("request") for each in lives(project)) == 4
    for steps in lives(project):
        assert (steps[0], steps[-1]) == ("startup", "shutdown")
        assert steps.count("startup") == steps.count("shutdown") == 1


@two_ways
def test_a_startup_that_fails_ends_the_run_with_one_error(project: Project) -> None:
    run = run_service(project, startup="raise RuntimeError('no index')")
    assert run.outcomes["error"] == 1
    assert lives(project) == [["startup"]]
    rows = run.document("rag.partial_predictions.json")["errors"]
    line = SERVICE.splitlines().index("    STARTUP") + 1
    message = (
        f"app my_service:app: its startup raised RuntimeError: no index (my_service.py:{line})\n"
        "Fix the lifespan of the app, which runs once before the first question."
    )
    assert {(row["kind"], row["message"]) for row in rows} == {("endpoint_unreachable", message)}
    assert "the app of the rag_client did not start !!!" in run.text
    assert "asgi_lifespan.py" not in run.text
    assert run.exit_status == pytest.ExitCode.TESTS_FAILED


@two_ways
def test_a_shutdown_that_fails_is_a_note_and_loses_no_verdict(project: Project) -> None:
    run = run_service(project, shutdown="raise RuntimeError('cannot flush')")
    assert run.outcomes == {"passed": 4}
    line = SERVICE.splitlines().index("    SHUTDOWN") + 1
    assert (
        f"app my_service:app: its shutdown raised RuntimeError: cannot flush (my_service.py:{line}). "
        "Fix the lifespan of the app. The answers are not affected."
    ) in run.lines


def test_ctrl_c_runs_the_shutdown_in_the_loop_of_the_requests(project: Project) -> None:
    once = "STEPS.read_text().count('request') == 1"
    interrupting = f"{once} and os.kill(os.getpid(), signal.SIGINT); await asyncio.sleep(60)"
    run = run_service(project, route=interrupting, subprocess=True)
    assert run.exit_status == pytest.ExitCode.INTERRUPTED
    (steps,) = lives(project)
    assert list(dict.fromkeys(steps)) == ["startup", "request", "shutdown"]
    assert (steps.count("startup"), steps.count("shutdown")) == (1, 1)


@exhaustive
def test_a_route_that_blocks_the_event_loop_is_named(project: Project) -> None:
    run = run_service(project, "-k", "q0", route="time.sleep(4)", subprocess=True)
    assert run.outcomes == {"passed": 1, "deselected": 3}
    assert re.search(
        r"your async app blocks the event loop in query \(my_service\.py:\d+\): until it returns", run.text
    )


def test_what_a_route_raises_is_an_error_of_its_question(project: Project) -> None:
    run = run_service(project, route="raise KeyError('chunk')")
    assert len(run.errors_by_id) == 4
    line = SERVICE.splitlines().index("        ROUTE") + 1
    expected = (
        "endpoint",
        f"app my_service:app /query: the app raised KeyError: 'chunk' (my_service.py:{line})\nFix the app.",
    )
    assert set(run.errors_by_id.values()) == {expected}


def test_clients_of_several_folders_have_a_lifespan_each(project: Project) -> None:
    for folder in ("one", "two"):
        project.write(f"{folder}/conftest.py", CLIENT)
        project.write(f"{folder}/{folder}.rag.yaml", QUESTIONS)
    run = run_service(project)
    assert run.outcomes == {"passed": 12}
    steps = [step for each in lives(project) for step in each]
    assert (steps.count("startup"), steps.count("shutdown")) == (3, 3)


@two_ways
def test_documents_go_up_into_an_app_and_come_out_again(project: Project) -> None:
    project.write(
        "conftest.py",
        """
import pytest
from examples.rag_server.app import create_app
from examples.rag_server.documents import DocumentIndex
from pytest_ragcheck import RagClient

@pytest.fixture(scope="session")
def rag_client(rag_settings):
    index = DocumentIndex()
    yield RagClient.from_settings(rag_settings, app=create_app(index))
    with open("left.txt", "a") as file:
        file.write(f"{len(index.documents())} left\\n")
""",
    )
    project.write(
        "shop.rag.yaml",
        "ingest: true\nquestions:\n"
        + "".join(
            f"- id: opens-{number}\n  question: When does shop {number} open?\n  expected_answer: at {number}\n"
            f"  gold_passages: [{{doc_id: 'shop:{number}', text: Shop {number} opens at {number}.}}]\n"
            for number in range(4)
        ),
    )
    run = project.run("--rag-judge=offline")
    assert run.outcomes == {"passed": 4}
    assert any(line.startswith("documents: ") and line.endswith(" deleted") for line in run.lines)
    assert set((project.folder / "left.txt").read_text().splitlines()) == {"0 left"}
