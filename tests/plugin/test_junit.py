"""JUnit's file has the outcome and the numbers of every question, passed ones too."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET

import pytest

from tests.canned import bad, broken, good
from tests.harness import three_ways, two_ways

if TYPE_CHECKING:
    from tests.harness import Project, Run

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "other-plugins.md"
ASSERTED = {"ragcheck.answer_correctness.threshold": "0.7", "ragcheck.groundedness.threshold": "0.7"}


def properties(run: Run) -> dict[str, dict[str, str]]:
    """By test name the properties of its test case; none may stand there twice."""
    found: dict[str, dict[str, str]] = {}
    for case in ET.parse(run.folder / "junit.xml").iter("testcase"):
        name = case.get("name", "")
        rows = [(row.get("name", ""), row.get("value", "")) for row in case.iter("property")]
        assert len(dict(rows)) == len(rows), f"{name}: {rows}"
        found[name] = found.get(name, {}) | dict(rows)
    return found


@three_ways
def test_every_question_that_was_asked_has_its_numbers(project: Project) -> None:
    project.ask(
        good("terms", expected_answer="30 days").but(answer="30 days"),
        bad("prices", thresholds={"groundedness": 0.5}),
        broken("hours"),
        good("later", skip="not written yet"),
        bad("known", xfail="no prices in the index"),
    )
    project.write("test_own.py", "def test_own(): pass\n")
    run = project.run()
    assert properties(run) == {
        "terms": {
            "ragcheck.verdict": "PASS",
            "ragcheck.dataset_name": "billing",
            "ragcheck.question_id": "terms",
            "ragcheck.answer_correctness": "1.0",
            "ragcheck.groundedness": "1.0",
            "ragcheck.abstained": "0.0",
            "ragcheck.exact_match": "1.0",
            "ragcheck.f1": "1.0",
            "ragcheck.latency_seconds": "0.25",
            **ASSERTED,
        },
        "prices": {
            "ragcheck.verdict": "FAIL",
            "ragcheck.dataset_name": "billing",
            "ragcheck.question_id": "prices",
            "ragcheck.answer_correctness": "1.0",
            "ragcheck.groundedness": "0.41",
            "ragcheck.abstained": "0.0",
            "ragcheck.latency_seconds": "0.25",
            **ASSERTED,
            "ragcheck.groundedness.threshold": "0.5",
        },
        "hours": {
            "ragcheck.verdict": "ERROR",
            "ragcheck.error_kind": "endpoint",
            "ragcheck.dataset_name": "billing",
            "ragcheck.question_id": "hours",
        },
        "later": {},
        "known": {
            "ragcheck.verdict": "FAIL",
            "ragcheck.dataset_name": "billing",
            "ragcheck.question_id": "known",
            "ragcheck.answer_correctness": "1.0",
            "ragcheck.groundedness": "0.41",
            "ragcheck.abstained": "0.0",
            "ragcheck.latency_seconds": "0.25",
            **ASSERTED,
        },
        "test_own": {},
    }


@two_ways
def test_a_fail_is_a_failure_and_an_error_an_error_without_tracebacks(project: Project) -> None:
    project.ask(bad("prices"), broken("hours"))
    run = project.run()
    assert run.junit == {
        "prices": ("failure", "groundedness 0.41 < 0.70: No price is in the contexts."),
        "hours": ("error", 'failed on setup with "canned: the endpoint is down."'),
    }
    parts = ET.parse(run.folder / "junit.xml").iter()
    texts = {part.tag: (part.text or "").splitlines() for part in parts if part.tag in {"failure", "error"}}
    assert texts["error"][:2] == ["canned: the endpoint is down.", "question  What about hours?"]
    assert texts["failure"] == [
        "groundedness 0.41 < 0.70: No price is in the contexts.",
        "question  What about prices?",
        "answer    The window is 30 days.",
        "context 1 Refunds are possible for 30 days.",
    ]
    assert not any(".py" in line for lines in texts.values() for line in lines)


@two_ways
def test_marked_tests_and_calls_have_their_numbers(project: Project) -> None:
    project.ask(good("terms"), file="own.json")
    project.reply_to(good("a"), bad("b"))
    project.write(
        "test_own.py",
        "import pytest\n\n"
        "@pytest.mark.rag_questions('own.json')\n"
        "def test_marked(rag_result):\n"
        "    rag_result.assert_passed()\n\n"
        "def test_calls(rag_check):\n"
        "    rag_check('What about a?').assert_passed()\n"
        "    rag_check('What about b?').assert_passed()\n",
    )
    found = properties(project.run())
    assert found["test_marked[terms]"]["ragcheck.question_id"] == "terms"
    assert found["test_marked[terms]"]["ragcheck.groundedness"] == "1.0"
    calls = found["test_calls"]
    assert {name.split(".")[1] for name in calls} == {"1", "2"}
    assert [calls[f"ragcheck.{n}.question_id"] for n in (1, 2)] == ["test_calls-1", "test_calls-2"]
    assert [calls[f"ragcheck.{n}.verdict"] for n in (1, 2)] == ["PASS", "FAIL"]
    assert [calls[f"ragcheck.{n}.groundedness"] for n in (1, 2)] == ["1.0", "0.41"]


@two_ways
def test_a_rerun_adds_nothing(project: Project) -> None:
    pytest.importorskip("pytest_rerunfailures")
    project.ask(bad("prices"), broken("hours"))
    run = project.run("--reruns=2")
    assert run.outcomes == {"failed": 1, "error": 1, "rerun": 4}
    found = properties(run)
    assert found["prices"]["ragcheck.groundedness"] == "0.41"
    assert found["hours"]["ragcheck.verdict"] == "ERROR"


@two_ways
def test_a_teardown_that_fails_too_adds_nothing(project: Project) -> None:
    project.ask(bad("prices"), good("terms"))
    project.extend_conftest("@pytest.fixture(autouse=True)\ndef left_open():\n    yield\n    raise OSError('open')\n")
    run = project.run()
    assert run.outcomes == {"failed": 1, "passed": 1, "error": 2}
    cases = list(ET.parse(run.folder / "junit.xml").iter("testcase"))
    with_numbers = [case.get("name") for case in cases if list(case.iter("property"))]
    assert sorted(map(str, with_numbers)) == ["prices", "terms"]


def test_a_users_own_properties_stay(project: Project) -> None:
    project.reply_to(good("a"))
    project.write(
        "test_own.py",
        "def test_own(rag_check, record_property):\n"
        "    record_property('team', 'billing')\n"
        "    rag_check('What about a?').assert_passed()\n",
    )
    found = properties(project.run("-o", "junit_family=xunit1"))["test_own"]
    assert found["team"] == "billing"
    assert found["ragcheck.verdict"] == "PASS"


@two_ways
def test_scores_of_other_number_types_cross_as_plain_floats(project: Project) -> None:
    project.conftest(
        """
class Share(float):
    pass

class Judge(CannedJudge):
    async def judge(self, question, answer):
        return Judgement(answer_correctness=Share(2 / 3), groundedness=Share(1))

@pytest.fixture
def rag_client():
    return CannedRag()

@pytest.fixture
def rag_judge():
    return Judge()
"""
    )
    project.ask(good("terms", thresholds=0.6))
    run = project.run()
    assert run.outcomes == {"passed": 1}
    assert properties(run)["terms"]["ragcheck.answer_correctness"] == "0.666667"


def test_a_run_without_questions_has_no_properties(project: Project) -> None:
    project.write("test_own.py", "def test_own(): pass\n")
    project.run()
    assert "propert" not in (project.folder / "junit.xml").read_text(encoding="utf-8")


def test_the_page_shows_a_test_case_as_it_is(project: Project) -> None:
    case = bad("refund-window").but(question="How long is the refund window?")
    project.ask(case, file="tests/billing.rag.yaml")
    project.run()
    (block,) = re.findall(r"^```xml\n(.+?)^```$", PAGE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    (real,) = ET.parse(project.folder / "junit.xml").iter("testcase")
    assert parts(ET.fromstring(block)) == parts(real)


def test_the_page_names_every_property(project: Project) -> None:
    gold = [{"text": "The price is 10 euros."}]
    project.ask(good("terms"), broken("hours"), bad("prices", gold_passages=gold, thresholds={"latency_seconds": 9}))
    found = {name for row in properties(project.run()).values() for name in row}
    metrics = r"(answer_correctness|groundedness|abstained|latency_seconds(?=\.)|[a-z_]+_at_\d+|mrr|map)\b"
    of_page = re.findall(r"`(ragcheck\.[\w.]+)`", PAGE.read_text(encoding="utf-8"))
    assert {re.sub(metrics, "METRIC", name).replace("METRIC.max", "NAME.max") for name in found} == {
        name
        for name in of_page
        if ".1." not in name and ".2." not in name and name != "ragcheck.first_token_seconds"  # in test_streams.py
    }


def parts(case: ET.Element) -> list[tuple[str, dict[str, str], str]]:
    """Every element of the test case, without the time that the test took."""
    found = []
    for part in case.iter():
        attributes = {name: value for name, value in part.attrib.items() if name != "time"}
        found.append((part.tag, attributes, (part.text or "").strip()))
    return found


PHASES = """
def pytest_runtest_logreport(report):
    with open("phases.txt", "a") as file:
        file.write(f"{report.nodeid.rpartition('::')[2]} {report.when} {len(report.user_properties) > 0}\\n")
"""


def test_the_report_of_a_passed_setup_has_no_properties(project: Project) -> None:
    project.ask(good("terms"), broken("hours"))
    conftest = project.folder / "conftest.py"
    conftest.write_text(conftest.read_text() + PHASES)
    run = project.run()
    assert (run.folder / "phases.txt").read_text().splitlines() == [
        "terms setup False",
        "terms call True",
        "terms teardown True",
        "hours setup True",
        "hours teardown True",
    ]
