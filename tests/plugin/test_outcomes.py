"""PASS, FAIL, ERROR, skip and xfail in pytest and in the files."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.canned import bad, broken, good
from tests.harness import three_ways

if TYPE_CHECKING:
    from tests.harness import Project


@three_ways
def test_each_verdict_has_its_outcome_in_pytest_and_in_the_files(project: Project) -> None:
    project.ask(good("terms"), bad("prices"), broken("hours"), good("later", skip="not written yet"))
    run = project.run()
    assert run.outcomes == {"passed": 1, "failed": 1, "error": 1, "skipped": 1}
    assert run.exit_status == 1
    assert run.verdicts == {"terms": "PASS", "prices": "FAIL", "hours": "ERROR"}
    assert run.counts == {"pass": 1, "fail": 1, "error": 1, "skipped": 1}
    assert run.errors_by_id == {"hours": ("endpoint", "canned: the endpoint is down.")}
    assert "1 PASS, 1 FAIL, 1 ERROR, 1 skipped" in run.lines
    assert sorted(run.asked) == ["What about hours?", "What about prices?", "What about terms?"]
    assert run.short_summary == [
        "FAILED billing.rag.yaml::prices - No price is in the contexts. (groundedness 0.41 < 0.70)",
        "ERROR billing.rag.yaml::hours - canned: the endpoint is down.",
    ]
    assert run.junit == {
        "terms": ("passed", ""),
        "prices": ("failure", "groundedness 0.41 < 0.70: No price is in the contexts."),
        "hours": ("error", 'failed on setup with "canned: the endpoint is down."'),
        "later": ("skipped", "not written yet"),
    }


def test_a_pass_leaves_the_run_green(project: Project) -> None:
    project.ask(good("terms"))
    run = project.run()
    assert (run.exit_status, run.outcomes) == (0, {"passed": 1})


def test_plain_functions_can_be_the_system_and_the_judge(project: Project) -> None:
    project.conftest(
        """
from pytest_ragcheck import Judgement

def length_judge(question, answer):
    return Judgement(answer_correctness=1.0, groundedness=0.25, error_message=f"{answer.text} is too short.")

@pytest.fixture(scope="session")
def rag_judge():
    return length_judge

@pytest.fixture(scope="session")
def rag_client():
    return lambda query: {"answer": "30 days", "contexts": ["Within 30 days."]}
"""
    )
    project.ask(good("terms"))
    run = project.run()
    assert run.verdicts == {"terms": "FAIL"}
    assert run.short_summary == ["FAILED billing.rag.yaml::terms - 30 days is too short. (groundedness 0.25 < 0.70)"]
    assert "judge: length_judge" in run.lines


def test_a_judge_that_does_not_work_is_an_error(project: Project) -> None:
    project.ask(good("terms").but(judge_error="canned: the judge's quota is used up."))
    run = project.run()
    assert run.outcomes == {"error": 1}
    assert run.errors_by_id == {"terms": ("judge", "canned: the judge's quota is used up.")}


def test_an_error_without_a_text_says_its_kind(project: Project) -> None:
    project.conftest(
        """
class Silent:
    async def ask(self, question):
        raise EndpointError(" ", url="canned")

@pytest.fixture
def rag_client():
    return Silent()

@pytest.fixture
def rag_judge():
    return CannedJudge()
"""
    )
    project.ask(good("terms"))
    assert project.run().short_summary == ["ERROR billing.rag.yaml::terms - endpoint, without a message"]


def test_an_error_has_no_traceback(project: Project) -> None:
    project.ask(broken("hours"))
    run = project.run()
    assert "ERROR at setup of hours" in run.text
    section = run.section("ERROR at setup of hours")
    assert section[:2] == ["canned: the endpoint is down.", "question  What about hours?"]
    assert ".py" not in "\n".join(section)


def test_a_failure_has_no_traceback(project: Project) -> None:
    project.ask(bad("prices"))
    run = project.run()
    assert ".py" not in "\n".join(run.section(" prices "))


@three_ways
def test_a_bug_in_a_users_client_shows_its_traceback_and_is_an_error_in_the_files(project: Project) -> None:
    project.conftest(
        """
@pytest.fixture
def rag_judge():
    return CannedJudge()

class Buggy(CannedRag):
    async def ask(self, question):
        return 1 / 0

@pytest.fixture
def rag_client():
    return Buggy()
"""
    )
    project.ask(good("terms"))
    run = project.run()
    assert run.outcomes == {"error": 1}
    assert "return 1 / 0" in run.text
    assert run.errors_by_id == {"terms": ("not_evaluated", "ZeroDivisionError: division by zero")}


@three_ways
@pytest.mark.parametrize(
    "call",
    [
        "return await OfflineJudge().judge(question, replace(answer, contexts=None))",
        """
        try:
            return await OfflineJudge().judge(question, replace(answer, contexts=None))
        except Exception as error:
            raise RuntimeError("no verdict") from error
        """,
    ],
    ids=["passed on", "with another error"],
)
def test_a_wrong_call_of_the_package_in_a_users_judge_is_a_bug_of_that_judge(project: Project, call: str) -> None:
    project.conftest(
        f"""
from dataclasses import replace
from pytest_ragcheck import OfflineJudge

class Delegating:
    async def judge(self, question, answer):
        {call}

@pytest.fixture
def rag_client():
    return CannedRag()

@pytest.fixture
def rag_judge():
    return Delegating()
"""
    )
    project.ask(good("terms"))
    run = project.run()
    assert run.outcomes == {"error": 1}
    assert "contexts=None" in run.text
    assert "pytest-ragcheck itself failed" not in run.text
    assert [kind for kind, _ in run.errors_by_id.values()] == ["not_evaluated"]


@three_ways
def test_values_of_users_classes_with_further_fields_are_taken(project: Project) -> None:
    project.conftest(
        """
from dataclasses import dataclass
from pytest_ragcheck import Judgement, JudgeIdentity, RagAnswer, Score

@dataclass(frozen=True, kw_only=True)
class BankJudgement(Judgement):
    cost_chf: float = 0.0

@dataclass(frozen=True, kw_only=True)
class BankIdentity(JudgeIdentity):
    team: str = ""

@dataclass(frozen=True, kw_only=True)
class BankAnswer(RagAnswer):
    region: str = ""

class Rag:
    def ask(self, question):
        return BankAnswer(text="30 days", contexts=("Within 30 days.",), region="north")

class Judge:
    identity = BankIdentity(kind="bank", team="risk")

    def judge(self, question, answer):
        return BankJudgement(answer_correctness=1.0, groundedness=float(answer.region == "north"), cost_chf=0.2)

@pytest.fixture(scope="session")
def rag_client():
    return Rag()

@pytest.fixture(scope="session")
def rag_judge():
    return Judge()
"""
    )
    project.ask(good("terms"), good("prices"))
    run = project.run()
    assert run.verdicts == {"terms": "PASS", "prices": "PASS"}


def test_a_bug_of_a_client_without_a_frame_in_python_is_an_error_of_its_question(project: Project) -> None:
    project.conftest(
        """
class Built:
    ask = staticmethod(float)

@pytest.fixture
def rag_client():
    return Built()

@pytest.fixture
def rag_judge():
    return CannedJudge()
"""
    )
    project.ask(good("terms"))
    run = project.run()
    [(kind, said)] = run.errors_by_id.values()
    assert (kind, said.partition(":")[0]) == ("not_evaluated", "TypeError")


@three_ways
@pytest.mark.parametrize("mark", [{}, {"xfail": "known since May"}])
def test_a_bug_of_the_package_is_a_traceback_and_no_error_of_the_system(project: Project, mark: dict[str, Any]) -> None:
    # A fixture of a wrong type imitates the bug: it raises in a frame of the package.
    project.conftest(
        """
from dataclasses import replace

@pytest.fixture(scope="session")
def rag_settings(rag_settings):
    return replace(rag_settings, run=replace(rag_settings.run, repeats="2"))

@pytest.fixture
def rag_client():
    return CannedRag()

@pytest.fixture
def rag_judge():
    return CannedJudge()
"""
    )
    project.ask(good("terms", **mark))
    run = project.run()
    assert run.exit_status == pytest.ExitCode.TESTS_FAILED
    assert "TypeError" in "\n".join(run.section("ERROR at setup of terms"))
    assert "not measured: pytest-ragcheck itself failed at billing.rag.yaml::terms" in run.lines
    summary = run.document("rag.partial_summary.json")
    assert (summary["counts"], summary["n_not_run"]) == ({"pass": 0, "fail": 0, "error": 0, "skipped": 0}, 1)


def test_a_question_that_is_expected_to_fail_and_fails_leaves_the_run_green(project: Project) -> None:
    project.ask(bad("prices", xfail="known since May"))
    run = project.run("-rx")
    assert (run.exit_status, run.outcomes) == (0, {"xfailed": 1})
    assert run.verdicts == {"prices": "FAIL"}
    assert "known since May" in run.text


def test_an_unexpected_pass_is_reported_and_leaves_the_run_green(project: Project) -> None:
    project.write("pytest.ini", "[pytest]\nxfail_strict = true\n")
    project.ask(good("prices", xfail="known since May"))
    run = project.run("-rX")
    assert (run.exit_status, run.outcomes) == (0, {"xpassed": 1})
    assert run.verdicts == {"prices": "PASS"}


def test_an_error_is_not_swallowed_by_xfail(project: Project) -> None:
    project.ask(broken("hours", xfail="known since May"))
    run = project.run()
    assert (run.exit_status, run.outcomes) == (1, {"error": 1})
    assert run.verdicts == {"hours": "ERROR"}


def test_a_skipped_question_is_not_asked(project: Project) -> None:
    project.ask(good("terms"), bad("prices", skip="the price list moves"))
    run = project.run("-rs")
    assert run.asked == ["What about terms?"]
    assert any("the price list moves" in line for line in run.short_summary)
    assert run.summary["complete"] is True
    assert run.summary["n_not_run"] == 0


def test_a_run_whose_questions_are_all_skipped_writes_nothing(project: Project) -> None:
    project.ask(good("terms", skip="later"), good("prices", skip=True))
    run = project.run("-rs")
    assert (run.exit_status, run.outcomes) == (0, {"skipped": 2})
    assert run.files == []
    assert any("skipped by its question file" in line for line in run.short_summary)


def test_an_error_on_teardown_leaves_the_verdict(project: Project) -> None:
    project.conftest(
        """
@pytest.fixture
def rag_client():
    yield CannedRag()
    raise OSError("the server did not stop")

@pytest.fixture
def rag_judge():
    return CannedJudge()
"""
    )
    project.ask(good("terms"))
    run = project.run()
    assert run.outcomes == {"passed": 1, "error": 1}
    assert run.verdicts == {"terms": "PASS"}
