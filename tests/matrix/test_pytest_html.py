"""The report of pytest-html shows the whole failure text and the scores, and runs no script of an answer."""

from __future__ import annotations

import json
from html.parser import HTMLParser
from typing import TYPE_CHECKING, Any

import pytest

from tests.canned import bad, broken, good
from tests.harness import two_ways

if TYPE_CHECKING:
    from tests.harness import Project

pytestmark = pytest.mark.usefixtures("all_plugins")

HOSTILE = "<script>document.title = 1</script><img src=x onerror=alert(1)>"
HTML = ("-p", "no:randomly", "-o", "asyncio_default_fixture_loop_scope=function", "--html=report.html")
"""The option of pytest-html; the other options silence the other plugins."""


class Report(HTMLParser):
    """The tests of a report, from the JSON that its script makes rows of, without escaping anything."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tests: dict[str, list[dict[str, Any]]] = {}
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        blob = dict(attrs).get("data-jsonblob")
        if blob:
            self.tests = json.loads(blob)["tests"]


def reported(project: Project, *options: str) -> dict[str, dict[str, Any]]:
    """By node id, the report's data of each test."""
    project.junit = False
    project.run(*HTML, *options, fresh=True)
    report = Report((project.folder / "report.html").read_text(encoding="utf-8"))
    return {node_id: tests[-1] for node_id, tests in report.tests.items()}


@two_ways
def test_a_failure_is_there_as_a_whole(project: Project) -> None:
    project.ask(bad("prices"), broken("hours"))
    tests = reported(project)
    failed, errored = tests["billing.rag.yaml::prices"], tests["billing.rag.yaml::hours"]
    assert (failed["result"], errored["result"]) == ("Failed", "Error")
    assert (
        "groundedness 0.41 &lt; 0.70: No price is in the contexts.\n"
        "question  What about prices?\n"
        "answer    The window is 30 days.\n"
        "context 1 Refunds are possible for 30 days.\n"
    ) in failed["log"]
    assert "canned: the endpoint is down.\nquestion  What about hours?\n" in errored["log"]


@two_ways
def test_every_asked_question_has_its_asserted_scores_in_its_row(project: Project) -> None:
    project.ask(good("terms", thresholds={"f1": 0.1}, expected_answer="30 days"), bad("prices"), broken("hours"))
    project.reply_to(good("a"))
    project.write("test_own.py", "def test_own(): pass\n\ndef test_call(rag_check): rag_check('What about a?')\n")
    last_cells = {node_id: test["resultsTableRow"][-1] for node_id, test in reported(project).items()}
    assert last_cells == {
        "billing.rag.yaml::terms": '<td class="col-links"><small>'
        "answer_correctness=1.00 groundedness=1.00 f1=0.67</small></td>",
        "billing.rag.yaml::prices": '<td class="col-links"><small>'
        "answer_correctness=1.00 groundedness=0.41</small></td>",
        "billing.rag.yaml::hours": '<td class="col-links"></td>',
        "test_own.py::test_own": '<td class="col-links"></td>',
        "test_own.py::test_call": '<td class="col-links"><small>answer_correctness=1.00 groundedness=1.00</small></td>',
    }


def test_nothing_that_comes_with_a_question_runs_in_the_browser(project: Project) -> None:
    case = bad(f"id {HOSTILE}", reason=HOSTILE).but(question=HOSTILE, answer=HOSTILE, contexts=(HOSTILE,))
    project.ask(case, good(f"skipped {HOSTILE}", skip=HOSTILE))
    tests = reported(project)
    assert len(tests) == 2
    for test in tests.values():
        assert "document.title" in test["log"]
        for html in (test["log"], *test["resultsTableRow"]):
            assert "<script" not in html
            assert "<img" not in html


def test_a_column_that_the_user_took_away_stays_away(project: Project) -> None:
    project.ask(good("terms"))
    project.extend_conftest(
        "def pytest_html_results_table_header(cells): cells.pop()\n"
        "def pytest_html_results_table_row(cells): cells.pop()\n"
    )
    (test,) = reported(project).values()
    assert [cell.partition('">')[0] for cell in test["resultsTableRow"]] == [
        '<td class="col-result',
        '<td class="col-testId',
        '<td class="col-duration',
    ]


def test_a_report_without_questions_is_as_without_the_plugin(project: Project) -> None:
    project.write("test_own.py", "def test_own(): pass\n")
    mine, without = reported(project), reported(project, "-p", "no:ragcheck")
    for tests in (mine, without):
        for test in tests.values():
            del test["duration"], test["resultsTableRow"][2]
    assert mine == without
