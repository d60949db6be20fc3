"""The SDK of the openai judge is imported beside the first requests, where it will be needed and only there."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from tests.servers.openai_server import OpenAIServer, verdict

if TYPE_CHECKING:
    from tests.harness import Project

QUESTION = '[{"id": "terms", "question": "How long?", "expected_answer": "30 days"}]'

OPENAI = ("--rag-judge-model=m", "--rag-judge-url=http://127.0.0.1:9")

WAITING = """
import sys, time
import pytest
from pytest_ragcheck import RagClient

SDK = "openai.resources.chat.completions"

def answer(query):
    # Nobody asks the judge before this returns.
    end = time.monotonic() + 30
    while SDK not in sys.modules and time.monotonic() < end:
        time.sleep(0.01)
    return {"answer": "30 days" if SDK in sys.modules else "", "contexts": ["30 days"]}

@pytest.fixture(scope="session")
def rag_client():
    return RagClient.from_callable(answer)
"""

CLIENT = """
import pytest
from pytest_ragcheck import Judgement, RagClient

@pytest.fixture(scope="session")
def rag_client():
    return RagClient.from_callable(lambda query: {"answer": "30 days", "contexts": ["30 days"]})
"""

JUDGE = """
class Judge:
    def judge(self, question, answer):
        return Judgement(answer_correctness=1.0, groundedness=1.0)

@pytest.fixture(scope="session")
def rag_judge():
    return Judge()
"""

TELLING = """
def pytest_unconfigure():
    import sys
    print("imported:", "openai" in sys.modules)
"""


@pytest.fixture(autouse=True)
def unmeasured(monkeypatch: pytest.MonkeyPatch) -> None:
    # Measured, a process would have what coverage loads.
    for name in [name for name in os.environ if name.startswith("COVERAGE_")]:
        monkeypatch.delenv(name)


def test_the_sdk_is_there_before_the_judge_is_asked(project: Project) -> None:
    project.write("conftest.py", WAITING)
    project.write("billing.rag.json", QUESTION)
    with OpenAIServer(verdict()) as judge:
        run = project.run(f"--rag-judge-url={judge.url}", "--rag-judge-model=m", where="apart")
    assert run.outcomes == {"passed": 1}


@pytest.mark.parametrize(
    ("conftest", "options", "outcomes"),
    [
        (CLIENT + JUDGE, OPENAI, {"passed": 1}),
        (CLIENT, ("--rag-judge=offline",), {"passed": 1}),
        (CLIENT, (*OPENAI, "-orag_metrics=overlap", "--rag-min=f1=0"), {"passed": 1}),
        (CLIENT, (*OPENAI, "--collect-only"), {}),
        ("", OPENAI, {"skipped": 1}),
    ],
    ids=["a judge of the user's", "another judge", "no metric of the judge", "only collected", "no endpoint"],
)
def test_who_does_not_need_it_does_not_pay(
    project: Project, conftest: str, options: tuple[str, ...], outcomes: dict[str, int]
) -> None:
    project.write("conftest.py", conftest + TELLING)
    project.write("billing.rag.json", QUESTION)
    run = project.run(*options, where="apart")
    assert run.outcomes == outcomes
    assert "imported: False" in run.lines


def test_a_run_whose_verdicts_are_all_in_the_cache_does_without_it(project: Project) -> None:
    project.write("conftest.py", CLIENT + TELLING)
    project.write("billing.rag.json", QUESTION)
    with OpenAIServer(verdict()) as judge:
        options = (f"--rag-judge-url={judge.url}", "--rag-judge-model=m")
        first, second = (project.run(*options, where="apart") for _ in range(2))
    assert "imported: True" in first.lines
    assert "imported: False" in second.lines
    assert second.outcomes == {"passed": 1}
