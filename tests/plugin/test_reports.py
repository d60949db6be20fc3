"""Reports of a run beside its result files."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from pytest_ragcheck.cli import main
from tests.canned import bad, broken, good
from tests.harness import two_ways

if TYPE_CHECKING:
    import pytest

    from tests.harness import Project, Run


@two_ways
def test_a_page_and_markdown_are_written_where_they_are_wanted(project: Project) -> None:
    project.ask(good("terms"), bad("prices"), broken("hours"))
    (project.folder / "summary.md").write_text("of an earlier step\n", encoding="utf-8")
    run = project.run("--rag-report=out/report.html", "--rag-report=summary.md")
    assert [line for line in run.lines if "report: " in line] == ["report: out/report.html", "report: summary.md"]
    assert "1 FAIL, 1 ERROR" in (run.folder / "out/report.html").read_text(encoding="utf-8")
    markdown = (run.folder / "summary.md").read_text(encoding="utf-8")
    assert markdown.startswith("of an earlier step\n## ❌ rag: billing: 1 FAIL, 1 ERROR\n")


def test_with_a_baseline_they_say_what_changed(project: Project) -> None:
    project.ask(good("terms"), good("prices"))
    project.run("--rag-output=before")
    project.ask(good("terms"), bad("prices"))
    run = project.run("--rag-gate=each", "--rag-baseline=before/rag_predictions.json", "--rag-report=r.html")
    text = (run.folder / "r.html").read_text(encoding="utf-8")
    assert "1 FAIL, 1 newly failing against before/rag_predictions.json" in text
    assert '"change":"newly failing"' in text
    assert "baseline before/rag_predictions.json: 1 newly failing, 1 as before" in text


@two_ways
def test_a_stopped_run_is_red_and_compares_nothing(project: Project) -> None:
    project.write("test_own.py", "def test_own(): assert False\n")
    project.ask(good("terms"), good("prices"))
    project.run("billing.rag.yaml", "--rag-output=before")
    project.ask(good("terms"), bad("prices").but(answer="It is free."))
    options = ("--rag-baseline=before/rag_predictions.json", "--rag-report=run.md", "--maxfail=1")
    stopped = project.run("billing.rag.yaml", "test_own.py", *options)
    assert stopped.outcomes == {"passed": 1, "xfailed": 1, "failed": 1}
    assert main(["report", "ragcheck-results", "-o", "command.md"]) == 0
    for name in "run.md", "command.md":
        markdown = (project.folder / name).read_text(encoding="utf-8")
        assert markdown.startswith(
            "## ❌ rag: billing: the run was stopped before its end, 1 test failed for another reason "
            "(test\\_own.py::test\\_own)\n"
        )
        assert "ewly failing" not in markdown
        assert "### Failing, tolerated: 1\n" in markdown


@two_ways
def test_a_test_that_fails_beside_a_pass_is_red(project: Project) -> None:
    project.ask(good("terms"))
    test = "def test_short(rag_result):\n    rag_result.assert_passed()\n    assert len(rag_result.answer) < 5\n"
    project.write("test_own.py", f"import pytest\n@pytest.mark.rag_questions('billing.rag.yaml')\n{test}")
    project.run("test_own.py", "--rag-report=run.md")
    assert main(["report", "ragcheck-results", "-o", "command.md"]) == 0
    red = "billing\\[test\\_short\\]: 1 test failed for another reason (test\\_own.py::test\\_short\\[terms\\])"
    for name in "run.md", "command.md":
        markdown = (project.folder / name).read_text(encoding="utf-8")
        assert markdown.startswith(f"## ❌ rag: {red}\n\n1 PASS\n")


@two_ways
def test_they_are_as_red_as_the_gate_is(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    project.ask(good("terms"), bad("prices"))
    green = project.run("--rag-gate=rate:0.5", "--rag-report=green.md")
    assert green.exit_status == 0
    markdown = (green.folder / "green.md").read_text(encoding="utf-8")
    assert markdown.startswith("## ✅ rag: billing: 1 of 2 passed, 1 FAIL tolerated\n")
    assert "### Failing, tolerated: 1\n" in markdown
    assert "tolerated: the gate is rate:0.5\n" in markdown
    assert [line.partition("title=")[2].partition("::")[0] for line in green.lines if "::warning " in line] == [
        "FAIL prices"
    ]
    assert not [line for line in green.lines if line.startswith("::error ")]
    red = project.run("--rag-gate=rate:0.6", "--rag-report=red.md")
    assert red.exit_status == 1
    why = "pass rate 0.500 (1 of 2; 95 % interval 0.095 to 0.905) is below 0.6"
    assert (red.folder / "red.md").read_text(encoding="utf-8").startswith(f"## ❌ rag: billing: {why}\n")
    assert f"::error title=gate::{why.replace('%', '%25')}" in red.lines
    assert main(["report", "ragcheck-results", "-o", "later.md"]) == 0
    assert (red.folder / "later.md").read_bytes() == (red.folder / "red.md").read_bytes()


ANSWERS_OF_A_FILE = """
from pathlib import Path
import pytest
from pytest_ragcheck import RagClient

def answer(query):
    days = Path(__file__).with_name("days").read_text()
    return {"answer": f"Refunds are possible for {days} days.", "contexts": ["Refunds are possible for 30 days."]}

@pytest.fixture(scope="session")
def rag_client():
    return RagClient.from_callable(answer)
"""


def saved(project: Project, days: str) -> Run:
    """A run whose answers state 30 days is the baseline; the run after it states *days*."""
    project.write("conftest.py", ANSWERS_OF_A_FILE)
    project.write("billing.rag.yaml", "questions: [{id: window, question: How long?, expected_answer: 30 days}]\n")
    project.write("days", "30")
    project.run("--rag-judge=offline")
    assert main(["baseline", "save"]) == 0
    project.write("days", days)
    return project.run("--rag-judge=offline", "--rag-report=run.md")


def test_the_command_writes_what_the_gate_of_the_run_found(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(project.folder)
    run = saved(project, days="14")
    assert main(["report", "ragcheck-results", "-o", "later.md"]) == 0
    later = (run.folder / "later.md").read_text(encoding="utf-8")
    assert later == (run.folder / "run.md").read_text(encoding="utf-8")
    assert later.startswith(
        "## ❌ rag: billing: 1 confirmed as failing against ragcheck-baseline.json; newly failing: window\n"
    )
    assert "  confirmed as failing: failed 5 of 5 times; judged side by side, " in later
    assert re.search(r"\| groundedness \| 0\.\d+ \| 0.7 \| 1 \| 1.000 \| -0", later)
    # A baseline that changed since does not change the decision of the run.
    assert main(["baseline", "accept"]) == 0
    assert main(["report", "ragcheck-results", "-o", "later.md"]) == 0
    later = (run.folder / "later.md").read_text(encoding="utf-8")
    assert later.startswith("## ❌ rag: billing: 1 confirmed as failing against ragcheck-baseline.json\n")


def test_the_command_knows_the_cost_of_a_question_with_a_maximum(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(project.folder)
    project.write(
        "conftest.py",
        """
import pytest
from pytest_ragcheck import RagClient

@pytest.fixture(scope="session")
def rag_client():
    return RagClient.from_callable(lambda query: {"answer": "14 days", "contexts": [], "metrics": {"cost_usd": 0.01}})
""",
    )
    project.write("billing.rag.yaml", "questions: [{id: window, question: How long?, expected_answer: 30 days}]\n")
    project.write("pytest.ini", "[pytest]\nrag_judge = offline\nrag_max = cost_usd=1\n")
    project.run()
    assert main(["baseline", "save"]) == 0
    run = project.run("--rag-report=run.md")
    assert main(["report", "ragcheck-results", "-o", "later.md"]) == 0
    later = (run.folder / "later.md").read_text(encoding="utf-8")
    assert later == (run.folder / "run.md").read_text(encoding="utf-8")
    assert (run.exit_status, later.partition("\n")[0][:4]) == (0, "## ✅")


def test_the_command_keeps_the_order_of_the_datasets(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(project.folder)
    project.ask(bad("prices"), file="a.rag.yaml", dataset_name="z")
    project.ask(bad("terms"))
    run = project.run("--rag-report=run.html")
    assert main(["report", "ragcheck-results", "-o", "later.html"]) == 0
    assert (run.folder / "later.html").read_bytes() == (run.folder / "run.html").read_bytes()


def test_a_failure_that_is_no_worse_side_by_side_is_not_called_newly_failing(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(project.folder)
    project.ask(good("terms"), good("prices").but(answer="It costs 5 euros."))
    project.run()
    assert main(["baseline", "save"]) == 0
    # The judge has become stricter, for the recorded answer too.
    project.ask(good("terms"), bad("prices").but(answer="It costs five euros."))
    run = project.run("--rag-report=run.md")
    assert run.exit_status == 0
    markdown = (run.folder / "run.md").read_text(encoding="utf-8")
    assert markdown.startswith("## ✅ rag: billing: 1 of 2 passed, 1 FAIL tolerated\n")
    assert "ewly failing" not in markdown.partition("<summary>Questions")[2]
    assert "  judged stricter today: failed 5 of 5 times; judged side by side, " in markdown


def test_a_report_that_cannot_be_written_makes_a_green_run_fail(project: Project) -> None:
    project.ask(good("terms"))
    (project.folder / "taken.html").mkdir()
    run = project.run("--rag-report=taken.html")
    assert run.exit_status == 1
    path = run.folder / "taken.html"
    assert f"report: NOT WRITTEN: {path}: cannot be written (Is a directory). Choose another file." in run.lines


def test_in_an_action_of_github_s_failures_are_annotations(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    project.ask(good("terms"), bad("prices", groundedness=0.25, reason="No price."))
    assert not [line for line in project.run().lines if line.startswith("::")]
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    monkeypatch.setenv("GITHUB_WORKSPACE", str(project.folder))
    (line,) = [line for line in project.run().lines if line.startswith("::")]
    assert line == "::error file=billing.rag.yaml,line=7,title=FAIL prices::groundedness 0.25 < 0.70: No price."


def test_secrets_are_in_no_report(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    secret = "s3cr3t-t0ken-0123456789"
    monkeypatch.setenv("RAG_TOKEN", secret)
    project.ask(bad("prices", reason=f"it says {secret}").but(answer=f"It is {secret}."))
    project.write("pytest.ini", "[pytest]\nrag_headers = Authorization: Bearer {env:RAG_TOKEN}\n")
    run = project.run("--rag-report=r.html", "--rag-report=r.md")
    for name in ("r.html", "r.md"):
        text = (run.folder / name).read_text(encoding="utf-8")
        assert "prices" in text
        assert secret not in text


def test_quarantine_and_xfail_leave_the_report_of_a_green_run_green(project: Project) -> None:
    project.ask(good("terms"), bad("prices", quarantine="flaky"), bad("hours", xfail="not there yet"))
    run = project.run("--rag-report=run.md")
    assert run.exit_status == 0
    markdown = (run.folder / "run.md").read_text(encoding="utf-8")
    assert markdown.startswith("## ✅ rag: billing: 1 of 3 passed, 2 FAIL tolerated\n")
