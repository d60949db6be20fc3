"""The report of Allure has the texts of questions as attachments, and their scores as parameters."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from tests.canned import bad, broken, good
from tests.harness import two_ways

if TYPE_CHECKING:
    from pathlib import Path

    from tests.harness import Project

pytestmark = pytest.mark.usefixtures("all_plugins")

OPTIONS = ("-p", "no:randomly", "-o", "asyncio_default_fixture_loop_scope=function")
"""With these the plugins beside Allure are silent."""


def in_allure(folder: Path) -> dict[str, dict[str, Any]]:
    """By name the tests that Allure has; attachments by name, with their content."""
    found = {}
    for path in folder.glob("*-result.json"):
        test = json.loads(path.read_text(encoding="utf-8"))
        test["attachments"] = {
            each["name"]: (each["type"], (folder / each["source"]).read_text(encoding="utf-8"))
            for each in test.get("attachments", ())
        }
        test["parameters"] = {each["name"]: each for each in test.get("parameters", ())}
        found[test["name"]] = test
    return found


def reported(project: Project, *options: str) -> dict[str, dict[str, Any]]:
    project.junit = False
    project.run(*OPTIONS, "--alluredir=allure", *options, fresh=True)
    return in_allure(project.folder / "allure")


@two_ways
def test_a_question_has_its_texts_attached_and_its_scores_as_parameters(project: Project) -> None:
    project.ask(good("terms"), bad("prices").but(answer="lone \ud800 surrogate"), broken("hours"))
    tests = reported(project)
    assert {name: test["status"] for name, test in tests.items()} == {
        "terms": "passed", "prices": "failed", "hours": "broken",
    }  # fmt: skip
    attached = tests["prices"]["attachments"]
    assert list(attached) == ["question", "answer", "contexts", "scores"]
    assert attached["question"] == ("text/plain", "What about prices?")
    assert attached["answer"] == ("text/plain", "lone � surrogate")
    assert attached["contexts"] == ("text/plain", "[1] Refunds are possible for 30 days.")
    scores = json.loads(attached["scores"][1])
    assert (scores["verdict"], scores["groundedness"], scores["groundedness.threshold"]) == ("FAIL", 0.41, 0.7)
    parameter = tests["prices"]["parameters"]["ragcheck.groundedness"]
    assert (parameter["value"], parameter["excluded"]) == ("0.41", True), "a score does not identify the test"
    assert list(tests["hours"]["attachments"]) == ["question", "scores"], "an ERROR has no answer"
    assert "ragcheck.groundedness" not in tests["hours"]["parameters"]


def test_the_questions_of_one_test_are_numbered_and_other_tests_have_nothing(project: Project) -> None:
    project.reply_to(good("a"), good("b"))
    project.write(
        "test_own.py",
        "def test_own(): pass\n\n"
        "def test_calls(rag_check):\n    rag_check('What about a?')\n    rag_check('What about b?')\n",
    )
    tests = reported(project)
    assert tests["test_own"]["attachments"] == {}
    assert tests["test_own"]["parameters"] == {}
    attached = tests["test_calls"]["attachments"]
    assert [attached[f"question {number}"][1] for number in (1, 2)] == ["What about a?", "What about b?"]
    assert "ragcheck.2.verdict" in tests["test_calls"]["parameters"]


def test_the_history_of_a_question_does_not_depend_on_its_scores(project: Project) -> None:
    project.ask(good("terms"))
    before = reported(project)["terms"]
    project.ask(bad("terms"))
    now = reported(project, "--clean-alluredir")["terms"]
    assert (before["status"], now["status"]) == ("passed", "failed")
    assert before["historyId"] == now["historyId"]
