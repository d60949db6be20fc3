"""Questions that a user's own test asks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from pytest_ragcheck.cli import main
from pytest_ragcheck.scores import ASSERTABLE, BOUNDED, listed
from tests.baselines import failed, write_baseline
from tests.canned import bad, broken, good
from tests.harness import three_ways, two_ways

if TYPE_CHECKING:
    from tests.harness import Project


def calls(*ids: str, then: str = ".assert_passed()") -> str:
    """A test a question."""
    return "\n".join(f"def test_{id}(rag_check):\n    rag_check('What about {id}?'){then}\n" for id in ids)  # noqa: A001


@three_ways
def test_a_call_asks_and_judges_one_question(project: Project) -> None:
    project.reply_to(good("terms"), bad("prices"), broken("hours"))
    project.write("tests/test_it.py", calls("terms", "prices", "hours"))
    run = project.run()
    assert run.outcomes == {"passed": 1, "failed": 2}
    assert run.verdicts == {"test_terms-1": "PASS", "test_prices-1": "FAIL", "test_hours-1": "ERROR"}
    assert run.errors_by_id == {"test_hours-1": ("endpoint", "canned: the endpoint is down.")}
    assert run.predictions["dataset_name"] == "tests__test_it"
    assert "tests__test_it_questions.json" in run.files
    assert run.counts == {"pass": 1, "fail": 1, "error": 1, "skipped": 0}


def test_parameters_that_no_id_may_have_are_told_apart(project: Project) -> None:
    names = ["std::sort", "std.sort", "std__sort", "list[0]", "list(0)"]
    project.reply_to(*map(good, names))
    project.write(
        "test_it.py",
        "import pytest\n"
        f"@pytest.mark.parametrize('name', {names})\n"
        "def test_cost(rag_check, name):\n    rag_check(f'What about {name}?')\n",
    )
    run = project.run()
    assert run.counts == {"pass": 5, "fail": 0, "error": 0, "skipped": 0}
    assert {"test_cost(std.sort)-1", "test_cost(std__sort)-1", "test_cost(list(0))-1"} < set(run.verdicts)


@two_ways
def test_a_question_of_a_file_has_no_id_of_a_call(project: Project) -> None:
    project.ask(good("terms"), good("test_terms-1"), file="test_it.rag.yaml")
    project.write("test_it.py", calls("terms", "prices"))
    project.reply_to(good("prices"))
    run = project.run()
    assert run.verdicts == {"terms": "PASS", "test_terms-1": "PASS", "test_prices-1": "PASS"}
    place = project.folder / "test_it.rag.yaml"
    text = f"UsageError: rag_check: {place}:7 has the id 'test_terms-1' too; give it another one."
    assert (run.outcomes, text in run.text) == ({"passed": 3, "failed": 1}, True)


@three_ways
def test_a_bug_in_a_users_client_fails_the_test_with_its_traceback_and_is_recorded_as_error(
    project: Project,
) -> None:
    project.reply_to(good("terms"))
    project.extend_conftest("class Buggy(CannedRag):\n    async def ask(self, question):\n        return 1 / 0\n")
    project.extend_conftest("@pytest.fixture\ndef rag_client():\n    return Buggy()\n")
    project.write("test_it.py", calls("terms"))
    run = project.run()
    assert run.outcomes == {"failed": 1}
    assert "return 1 / 0" in run.text
    assert run.errors_by_id == {"test_terms-1": ("not_evaluated", "ZeroDivisionError: division by zero")}


def test_a_failed_call_says_the_numbers_in_the_short_summary_and_keeps_its_traceback(project: Project) -> None:
    project.reply_to(bad("prices"))
    project.write("test_it.py", calls("prices"))
    run = project.run()
    assert run.short_summary == [
        "FAILED test_it.py::test_prices - No price is in the contexts. (groundedness 0.41 < 0.70)"
    ]
    assert ">       rag_check('What about prices?').assert_passed()".replace("       ", "   ") in run.text.replace(
        "       ", "   "
    )
    assert "context 1 Refunds are possible for 30 days." in run.text


@three_ways
@pytest.mark.parametrize(
    "asserted", ["assert rag_check('What about prices?')", "r = rag_check('What about prices?'); assert r"]
)
def test_a_bare_assert_fails_as_assert_passed_does(project: Project, asserted: str) -> None:
    project.reply_to(bad("prices"))
    project.write("test_it.py", f"def test_prices(rag_check):\n    {asserted}\n")
    run = project.run()
    reason = "No price is in the contexts."
    assert run.short_summary == [f"FAILED test_it.py::test_prices - {reason} (groundedness 0.41 < 0.70)"]
    assert f"E       pytest_ragcheck.verdict.record.QuestionFailed: groundedness 0.41 < 0.70: {reason}" in run.lines
    assert "E       question  What about prices?" in run.lines
    assert "<Record" not in run.text


def known_fail(name: str) -> dict[str, Any]:
    """The row of a baseline about the call in the test of the name."""
    return failed(f"test_{name}-1", dataset_name="test_it", question=f"What about {name}?")


@three_ways
def test_the_gate_tolerates_a_bare_assert_of_a_known_fail_and_no_other_assertion(project: Project) -> None:
    project.reply_to(bad("prices"), bad("hours"), bad("tax"), bad("terms"))
    asserts = "def test_tax(rag_check):\n    r = rag_check('What about tax?')\n    assert r.source_ids\n\n"
    asserts += "def test_terms(rag_check):\n    r = rag_check('What about terms?')\n    assert r and r.source_ids\n"
    bare = calls("prices", "hours", then="").replace("rag_check('", "assert rag_check('")
    project.write("test_it.py", bare + asserts)
    write_baseline(project, *map(known_fail, ("prices", "tax", "terms")))
    run = project.run("--rag-baseline=baseline.json", "--rag-gate=regression")
    assert run.outcomes == {"xfailed": 1, "failed": 3}, run.text
    assert sorted(line.partition(" - ")[0] for line in run.short_summary) == [
        "FAILED test_it.py::test_hours",
        "FAILED test_it.py::test_tax",
        "FAILED test_it.py::test_terms",
    ]


@two_ways
def test_all_outputs_call_a_fail_tolerated_that_did_not_fail_its_test(project: Project) -> None:
    project.reply_to(bad("prices"), bad("hours"), bad("terms"), bad("tax"))
    project.write(
        "test_it.py",
        calls("prices", then="")
        + "import pytest\n\n@pytest.mark.xfail(reason='since May')\n"
        + calls("hours")
        + "@pytest.mark.xfail\n"
        + calls("terms")
        + "def test_tax(rag_check):\n    rag_check('What about tax?')\n    pytest.xfail('no table')\n",
    )
    run = project.run("--rag-shard=1/1", "--rag-report=run.md")
    assert (run.exit_status, run.outcomes) == (0, {"passed": 1, "xfailed": 3})
    assert {row["question_id"]: row["tolerated"] for row in run.predictions["predictions"]} == {
        "test_prices-1": "its test passed",
        "test_hours-1": "expected to fail: since May",
        "test_terms-1": "expected to fail",
        "test_tax-1": "expected to fail: no table",
    }
    markdown = (run.folder / "run.md").read_text(encoding="utf-8")
    assert markdown.splitlines()[0].endswith("test\\_it: 0 of 4 passed, 4 FAIL tolerated")
    assert main(["merge", str(run.folder / "ragcheck-results"), "-o", str(run.folder / "merged")]) == 0
    assert main(["report", str(run.folder / "merged"), "-o", str(run.folder / "merged.md")]) == 0
    merged = (run.folder / "merged.md").read_text(encoding="utf-8")
    assert merged.splitlines()[0] == markdown.splitlines()[0]
    assert "tolerated: its test passed" in merged


def test_the_calls_of_a_test_are_counted(project: Project) -> None:
    project.reply_to(good("terms"), good("hours"))
    project.write(
        "test_it.py",
        """
import pytest

@pytest.mark.parametrize("n", [1, 2])
def test_both(rag_check, n):
    rag_check("What about terms?").assert_passed()
    rag_check("What about hours?").assert_passed()
""",
    )
    run = project.run()
    assert list(run.verdicts) == ["test_both(1)-1", "test_both(1)-2", "test_both(2)-1", "test_both(2)-2"]


def test_tests_of_one_name_in_two_classes_keep_their_records(project: Project) -> None:
    project.reply_to(good("terms"))
    body = "    def test_it(self, rag_check):\n        rag_check('What about terms?')\n"
    project.write("test_it.py", f"class TestA:\n{body}\nclass TestB:\n{body}")
    assert project.run().verdicts == {"TestA.test_it-1": "PASS", "TestB.test_it-1": "PASS"}


def test_all_that_a_question_may_have_can_be_given(project: Project) -> None:
    project.reply_to(good("terms"))
    project.write(
        "test_it.py",
        """
def test_it(rag_check):
    record = rag_check(
        "What about terms?",
        expected=["30 days", "a month"],
        must_mention="30 days",
        must_not_mention=["/refund.*never/i"],
        thresholds={"groundedness": 0.9},
        top_k=7,
    )
    record.assert_passed()
    assert record.thresholds == {
        "answer_correctness": 0.7, "groundedness": 0.9, "must_mention": 1.0, "must_not_mention": 1.0
    }
    assert record.question.top_k == 7
""",
    )
    run = project.run()
    assert run.outcomes == {"passed": 1}
    (row,) = run.document("test_it_questions.json")["questions"]
    assert row["all_acceptable_answers"] == ["30 days", "a month"]


def test_an_unanswerable_question_can_be_asked(project: Project) -> None:
    (case,) = [good("terms").but(answer="I cannot answer this.", abstained=True)]
    project.reply_to(case)
    project.write("test_it.py", calls("terms").replace("?')", "?', answerable=False)"))
    run = project.run()
    assert run.outcomes == {"passed": 1}
    assert run.summary["abstention"]["unanswerable_accuracy"] == 1.0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("''", "rag_check: the question is ''; give a text."),
        ("None", "rag_check: the question is None; give a text."),
        ("'Q?', thresholds=2", "rag_check: thresholds: answer_correctness is 2; give a number from 0 to 1."),
        ("'Q?', thresholds={'f1': True}", "rag_check: thresholds: f1 is True; give a number from 0 to 1."),
        (
            "'Q?', thresholds={'f2': 0.5}",
            (f"rag_check: thresholds: there is no metric 'f2'; the metrics are {listed((*ASSERTABLE, *BOUNDED))}."),
        ),
        ("'Q?', identity=3", "rag_check: identity is 3; give a name of rag_identities."),
        ("'Q?', must_not_retrieve=[3]", "rag_check: must_not_retrieve is 3; give a text, or leave it out."),
    ],
)
def test_an_argument_that_cannot_be_used_is_named(project: Project, arguments: str, message: str) -> None:
    project.reply_to()
    project.write("test_it.py", f"def test_it(rag_check):\n    rag_check({arguments})\n")
    run = project.run()
    assert run.outcomes == {"failed": 1}
    assert f"pytest_ragcheck.errors.UsageError: {message}" in [line.removeprefix("E").strip() for line in run.lines]
    assert "call.py" not in run.text
    assert run.files == []


@two_ways
def test_a_question_file_beside_the_test_may_have_its_name(project: Project) -> None:
    project.ask(good("terms"), file="test_it.rag.yaml")
    project.reply_to(good("hours"))
    project.write("test_it.py", calls("hours"))
    run = project.run()
    assert run.verdicts == {"terms": "PASS", "test_hours-1": "PASS"}
    assert run.summary["complete"] is True


def test_without_a_judge_the_test_says_how_to_choose_one(project: Project) -> None:
    project.write("test_it.py", calls("terms"))
    run = project.run("--rag-url=http://127.0.0.1:9/query")
    assert run.outcomes == {"error": 1}
    assert run.section("ERROR at setup of test_terms")[0].startswith(
        "no judge was chosen: give --rag-judge=offline (no model, no key), or --rag-judge=openai with "
    )
    assert run.files == []


def test_without_an_endpoint_the_test_is_skipped(project: Project) -> None:
    project.write("test_it.py", calls("terms"))
    assert project.run().outcomes == {"skipped": 1}
    assert project.run("--rag-require-endpoint").outcomes == {"error": 1}


def test_deselected_calls_make_the_run_partial(project: Project) -> None:
    project.reply_to(good("terms"), good("hours"))
    project.write("test_it.py", calls("terms", "hours"))
    assert project.run().summary["num_examples"] == 2
    run = project.run("-k", "terms")
    assert run.document("rag_summary.json")["num_examples"] == 2
    assert run.document("rag.partial_summary.json")["complete"] is False
    assert "partial: tests that use rag_check were deselected" in run.lines


def test_a_single_test_as_argument_makes_the_run_partial(project: Project) -> None:
    project.reply_to(good("terms"), good("hours"))
    project.write("test_it.py", calls("terms", "hours"))
    run = project.run("test_it.py::test_terms")
    assert "rag_summary.json" not in run.files
    assert "partial: the run was given single tests" in run.lines


def test_the_first_failure_makes_the_run_partial_where_it_ends_the_run(project: Project) -> None:
    project.reply_to(bad("prices"), good("hours"))
    project.write("test_it.py", calls("prices", "hours"))
    run = project.run("-x")
    assert "rag_summary.json" not in run.files
    assert "partial: the run was stopped before its end" in run.lines


def test_a_reason_stands_in_a_caught_error(project: Project) -> None:
    project.reply_to(bad("prices"), broken("hours"))
    project.write(
        "test_it.py",
        """
import pytest
from pytest_ragcheck import QuestionErrored, QuestionFailed

def test_it(rag_check):
    with pytest.raises(QuestionFailed, match=r"^groundedness 0\\.41 < 0\\.70: No price is in the contexts\\.\\n"):
        rag_check("What about prices?").assert_passed()
    with pytest.raises(QuestionErrored, match=r"^canned: the endpoint is down\\.\\n"):
        rag_check("What about hours?")
""",
    )
    run = project.run()
    assert run.outcomes == {"passed": 1}
    assert run.verdicts == {"test_it-1": "FAIL", "test_it-2": "ERROR"}
