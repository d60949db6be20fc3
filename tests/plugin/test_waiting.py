"""While a question hangs, the terminal names it, and its time limit ends it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.canned import good
from tests.harness import three_ways

if TYPE_CHECKING:
    from tests.harness import Project

HANGING = """
import threading

class Hanging(CannedRag):
    # A plain method, which runs in a thread that nobody can end.
    def ask(self, question):
        if "prices" in question.question:
            threading.Event().wait()
        return RagAnswer(text="30 days", contexts=("30 days",))

@pytest.fixture(scope="session")
def rag_client():
    return Hanging()

@pytest.fixture(scope="session")
def rag_judge():
    return CannedJudge()
"""


@pytest.fixture
def hanging(project: Project) -> Project:
    project.conftest(HANGING)
    project.ask(good("terms"), good("prices"), good("hours"))
    return project


@three_ways
def test_a_question_that_hangs_is_an_error_after_its_time_and_the_run_goes_on(hanging: Project) -> None:
    # A slow machine has to answer the other two questions within the limit, too.
    run = hanging.run("-orag_timeout=0.08", subprocess=True)
    assert run.outcomes == {"passed": 2, "error": 1}
    ((kind, message),) = run.errors_by_id.values()
    assert kind == "question_timeout"
    assert message.startswith("no verdict within 0.8 s: the endpoint had it for 0.")


def test_the_terminal_says_what_is_waited_for_and_keeps_its_lines(hanging: Project) -> None:
    run = hanging.run("-orag_timeout=0.05")
    line = "ragcheck: waiting for prices: the endpoint has had it for 0 s (1 being asked, 0 being judged, 1 to go)"
    assert run.lines.count(line) >= 2
    before = run.lines.index(line) - 1
    # A slow machine also waits for the first question, whose dot is then on a separate line.
    assert run.lines[before].rstrip(" .") == "billing.rag.yaml"
    # A request that ends just before its question waits for its retry, which is shown too.
    after = max(n for n, text in enumerate(run.lines) if text.startswith("ragcheck: waiting for prices: ")) + 1
    assert run.lines[after] == "E"
    assert run.lines[after + 1].startswith("billing.rag.yaml .")
    # It is not part of the question's captured output.
    assert "Captured" not in run.text


def test_a_run_that_captures_nothing_says_it_too(hanging: Project) -> None:
    run = hanging.run("-pno:capture", "-orag_timeout=0.08", subprocess=True)
    assert run.outcomes == {"passed": 2, "error": 1}
    assert "ragcheck: waiting for prices" in run.text


def test_a_quiet_run_says_nothing(hanging: Project) -> None:
    run = hanging.run("-orag_timeout=0.03", "-q")
    assert "waiting for" not in run.text
