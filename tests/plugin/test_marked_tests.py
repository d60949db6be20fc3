"""Users' own tests that run once for each question of a file."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.canned import bad, broken, good
from tests.harness import three_ways

if TYPE_CHECKING:
    from tests.harness import Project

TEST = """
import pytest

@pytest.mark.rag_questions("billing.qa.yaml")
def test_billing(rag_result):
    rag_result.assert_passed()
    assert rag_result.latency_seconds < 3
"""

NO_QUESTION = "the test is marked rag_questions but uses no question. Give it the argument rag_result or rag_question."
NO_PATH = 'rag_questions takes the paths of question files, as rag_questions("billing.rag.yaml").'


@three_ways
def test_it_runs_once_for_each_question(project: Project) -> None:
    project.ask(good("terms"), bad("prices"), broken("hours"), good("later", skip="later"), file="billing.qa.yaml")
    project.write("test_billing.py", TEST)
    run = project.run()
    assert run.outcomes == {"passed": 1, "failed": 1, "error": 1, "skipped": 1}
    assert run.verdicts == {"terms": "PASS", "prices": "FAIL", "hours": "ERROR"}
    assert set(run.summary["datasets"]) == {"billing.qa[test_billing]"}
    assert run.summary["complete"] is True
    assert run.counts["skipped"] == 1
    assert run.short_summary == [
        "FAILED test_billing.py::test_billing[prices] - No price is in the contexts. (groundedness 0.41 < 0.70)",
        "ERROR test_billing.py::test_billing[hours] - canned: the endpoint is down.",
    ]


def test_an_assertion_of_the_users_own_fails_the_test_and_leaves_the_verdict(project: Project) -> None:
    project.ask(good("terms"), file="billing.qa.yaml")
    project.write("test_billing.py", TEST.replace("< 3", "< 0.1"))
    run = project.run()
    assert run.outcomes == {"failed": 1}
    assert run.verdicts == {"terms": "PASS"}
    assert "assert 0.25 < 0.1" in run.text


@three_ways
def test_a_test_that_does_not_ask_its_question_leaves_the_run_complete(project: Project) -> None:
    project.ask(good("terms"), bad("prices"), good("later", skip="later"))
    project.write(
        "test_billing.py",
        """
import pytest

billing = pytest.mark.rag_questions("billing.rag.yaml")

@billing
def test_words(rag_question):
    assert rag_question.id != "prices"

@billing
def test_call(rag_question, rag_check):
    assert rag_check(rag_question.question)

@billing
def test_late(rag_question, request):
    assert request.getfixturevalue("rag_result")
""",
    )
    run = project.run()
    assert run.outcomes == {"passed": 4, "failed": 4, "skipped": 4}
    assert run.summary["counts"] == {"pass": 3, "fail": 3, "error": 0, "skipped": 2}
    assert set(run.summary["datasets"]) == {"billing", "billing[test_late]", "test_billing"}
    assert run.summary["complete"] is True


def test_a_question_whose_result_a_fixture_gets_by_name_is_asked(project: Project) -> None:
    project.ask(good("terms"), good("later"))
    project.write(
        "test_billing.py",
        """
import pytest

@pytest.fixture
def index(rag_question):
    raise OSError("no index")

@pytest.fixture
def answer(request):
    return request.getfixturevalue("rag_result")

@pytest.mark.rag_questions("billing.rag.yaml")
def test_fixture(rag_question, index, answer): ...

@pytest.mark.rag_questions("billing.rag.yaml")
class TestBilling:
    @pytest.fixture(autouse=True)
    def keep(self, request, index):
        self.request = request

    def test_method(self, rag_question):
        self.request.getfixturevalue("rag_result")
""",
    )
    run = project.run("test_billing.py")
    assert run.summary["counts"] == {"pass": 0, "fail": 0, "error": 4, "skipped": 0}
    assert set(run.summary["datasets"]) == {"billing[test_fixture]", "billing[TestBilling.test_method]"}


def test_the_path_is_relative_to_the_test(project: Project) -> None:
    project.ask(good("terms"), file="deep/questions/billing.qa.yaml")
    project.write("deep/tests/test_billing.py", TEST.replace("billing.qa", "../questions/billing.qa"))
    assert project.run().outcomes == {"passed": 1}


def test_the_files_questions_stay_items_of_their_own(project: Project) -> None:
    project.ask(good("terms"), file="billing.rag.yaml")
    project.write("test_billing.py", TEST.replace("billing.qa", "billing.rag"))
    run = project.run()
    assert run.outcomes == {"passed": 2}
    assert set(run.summary["datasets"]) == {"billing", "billing[test_billing]"}


def test_questions_of_several_files_and_their_tags_are_taken(project: Project) -> None:
    project.ask(good("terms", tags=["smoke"]), file="a.qa.yaml")
    project.ask(good("terms"), file="b.qa.yaml")
    project.write("test_billing.py", TEST.replace('"billing.qa.yaml"', '"a.qa.yaml", "b.qa.yaml"'))
    run = project.run("--strict-markers")
    assert run.outcomes == {"passed": 2}
    assert set(run.summary["datasets"]) == {"a.qa[test_billing]", "b.qa[test_billing]"}
    assert run.summary["complete"] is True
    assert project.run("-m", "smoke").outcomes == {"passed": 1, "deselected": 1}


def test_several_markers_of_a_class_and_a_test_add_up(project: Project) -> None:
    for name in "abc":
        project.ask(good(name), file=f"{name}.qa.yaml")
    project.write(
        "test_billing.py",
        """
import pytest

@pytest.mark.rag_questions("a.qa.yaml")
class TestIt:
    @pytest.mark.rag_questions("b.qa.yaml")
    @pytest.mark.rag_questions("c.qa.yaml")
    def test_billing(self, rag_result):
        rag_result.assert_passed()
""",
    )
    run = project.run()
    assert run.outcomes == {"passed": 3}
    assert list(run.verdicts) == ["a", "b", "c"]


@pytest.mark.parametrize("autouse", ["True", "False"])
def test_a_marked_test_of_a_testcase_fails_and_does_not_pass_unasked(project: Project, autouse: str) -> None:
    project.ask(good("terms"), file="billing.qa.yaml")
    project.write(
        "test_billing.py",
        f"""
import unittest
import pytest

@pytest.mark.rag_questions("billing.qa.yaml")
class TestIt(unittest.TestCase):
    @pytest.fixture(autouse={autouse})
    def result(self, rag_result):
        self.rag_result = rag_result

    def test_billing(self):
        pass
""",
    )
    run = project.run()
    assert run.outcomes == {"error": 1}
    assert run.section("ERROR at setup of TestIt.test_billing") == [
        (
            "test_billing.py::TestIt::test_billing: there is no question. "
            "pytest does not parametrize a unittest.TestCase: use rag_check, or a class without this base."
        )
    ]


def test_other_parameters_of_the_test_make_datasets_of_their_own(project: Project) -> None:
    project.ask(good("terms"), bad("цены"), file="billing.qa.yaml")
    project.write(
        "test_billing.py",
        """
import pytest

@pytest.mark.parametrize("city", ["Paris", "Rome"])
@pytest.mark.rag_questions("billing.qa.yaml")
def test_billing(rag_result, city):
    rag_result.assert_passed()
""",
    )
    run = project.run()
    assert run.outcomes == {"passed": 2, "failed": 2}
    assert set(run.summary["datasets"]) == {"billing.qa[test_billing][Paris]", "billing.qa[test_billing][Rome]"}
    assert run.counts == {"pass": 2, "fail": 2, "error": 0, "skipped": 0}
    assert run.summary["complete"] is True


def test_two_tests_of_one_file_do_not_overwrite_each_others_records(project: Project) -> None:
    project.ask(good("terms"), file="billing.qa.yaml")
    project.write(
        "test_billing.py",
        """
import pytest

@pytest.mark.rag_questions("billing.qa.yaml")
class TestIt:
    def test_one(self, rag_result):
        rag_result.assert_passed()

    def test_two(self, rag_question, rag_result):
        assert rag_result.question == rag_question
""",
    )
    run = project.run()
    assert run.outcomes == {"passed": 2}
    assert set(run.summary["datasets"]) == {"billing.qa[TestIt.test_one]", "billing.qa[TestIt.test_two]"}


def test_a_test_that_is_left_out_makes_the_run_partial(project: Project) -> None:
    project.ask(good("terms"), good("hours"), file="billing.qa.yaml")
    project.write("test_billing.py", TEST)
    project.run()
    run = project.run("-k", "hours")
    assert run.document("rag.partial_summary.json")["n_not_run"] == 1
    assert run.document("rag_summary.json")["num_examples"] == 2


def test_an_xfail_of_the_file_holds(project: Project) -> None:
    project.ask(bad("prices", xfail="known"), broken("hours", xfail="known"), file="billing.qa.yaml")
    project.write("test_billing.py", TEST)
    assert project.run().outcomes == {"xfailed": 1, "error": 1}


@three_ways
@pytest.mark.parametrize(
    ("given", "outcome"), [("", "error"), ("reason='known'", "error"), ("raises=Exception", "xfailed")]
)
def test_an_xfail_marker_without_raises_leaves_an_error_an_error(project: Project, given: str, outcome: str) -> None:
    project.ask(bad("prices"), broken("hours"))
    project.extend_conftest(
        "def pytest_collection_modifyitems(items):\n"
        f"    for item in items:\n        item.add_marker(pytest.mark.xfail({given}))\n"
    )
    run = project.run()
    assert run.outcomes == ({"xfailed": 1, "error": 1} if outcome == "error" else {"xfailed": 2})
    assert run.verdicts == {"prices": "FAIL", "hours": "ERROR"}
    assert run.exit_status == (outcome == "error")


@pytest.mark.parametrize(
    ("test", "message"),
    [
        (
            '@pytest.mark.rag_questions("nowhere.yaml")\ndef test_it(rag_result): pass',
            "there is no question file 'nowhere.yaml' in {folder}. The path is relative to the test's file.",
        ),
        (
            '@pytest.mark.rag_questions("billing.qa.yaml")\ndef test_it(): pass',
            NO_QUESTION,
        ),
        (
            "@pytest.mark.rag_questions\ndef test_it(rag_result): pass",
            NO_PATH,
        ),
        (
            '@pytest.mark.rag_questions(path="billing.qa.yaml")\ndef test_it(rag_result): pass',
            NO_PATH,
        ),
        (
            "@pytest.mark.rag_questions(7)\ndef test_it(rag_result): pass",
            NO_PATH,
        ),
    ],
    ids=["no such file", "no question used", "no path", "keyword", "no text"],
)
def test_a_marker_that_cannot_work_is_a_collection_error_without_a_traceback(
    project: Project, test: str, message: str
) -> None:
    project.ask(good("terms"), file="billing.qa.yaml")
    project.write("test_it.py", f"import pytest\n{test}\n")
    run = project.run()
    assert run.exit_status == pytest.ExitCode.INTERRUPTED
    assert run.section("ERROR collecting test_it.py") == [
        f"test_it.py::test_it: {message.format(folder=project.folder)}"
    ]


def test_a_file_with_mistakes_is_said_once_a_test(project: Project) -> None:
    project.ask(file="conftest-only.qa.yaml")
    project.write("billing.qa.yaml", "questions: [{query: }]")
    project.write("test_billing.py", TEST)
    run = project.run()
    assert run.section("ERROR collecting test_billing.py")[0].startswith("billing.qa.yaml:1: ")
