"""The text of a failed question in the terminal, in the short summary and in JUnit's file."""

from __future__ import annotations

from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET

import pytest

from pytest_ragcheck.verdict.verdict import BLAMES
from tests.canned import bad, broken, good
from tests.harness import exhaustive

if TYPE_CHECKING:
    from tests.harness import Project


CONSTANT = """
import pytest

from pytest_ragcheck import RagClient


@pytest.fixture(scope="session")
def rag_client():
    return RagClient.from_callable(lambda query: {"answer": "14 days.", "contexts": ["Returns: 30 days."]})
"""


def test_it_has_the_numbers_the_reason_the_question_the_answer_and_the_contexts(project: Project) -> None:
    project.ask(
        bad("prices", expected_answer="30 days", all_acceptable_answers=["a month"], thresholds={"f1": 0.9}).but(
            answer="30 days, for 5 euros.", contexts=("Refunds are possible for 30 days.", "Shipping is free.")
        )
    )
    run = project.run()
    # f1 of "30 days for 5 euros" against "30 days": precision 2/5, recall 2/2, so 2 * 0.4 / 1.4 = 0.571.
    assert run.section(" prices ") == [
        "groundedness 0.41 < 0.70, f1 0.57 < 0.90: No price is in the contexts.; expected '30 days'",
        "question  What about prices?",
        "expected  30 days | a month",
        "answer    30 days, for 5 euros.",
        "context 1 Refunds are possible for 30 days.",
        "context 2 Shipping is free.",
    ]


def test_its_heading_has_the_file_since_an_id_may_be_in_several(project: Project) -> None:
    for file in ("billing", "chat/billing"):
        project.write(f"{file}.rag.yaml", "questions: [{id: v1.2, question: How long?, expected_answer: 30 days}]")
    project.write("conftest.py", CONSTANT)
    run = project.run("-v", "--rag-judge=offline")
    headings = [line.strip("_") for line in run.lines if line.startswith("___")]
    assert headings == [" v1.2 (billing.rag.yaml) ", " v1.2 (chat/billing.rag.yaml) "]
    # pytest would show a dot in the end of a node id as two colons.
    assert [line.split()[0] for line in run.lines if "%]" in line] == [
        "billing.rag.yaml::v1.2",
        "chat/billing.rag.yaml::v1.2",
    ]


def test_a_question_with_gold_passages_says_what_part_of_the_system_it_points_at(project: Project) -> None:
    project.ask(
        bad("prices", gold_passages=["Refunds are free."]),
        bad("terms", gold_passages=["Shipping costs."]).but(contexts=("Shipping costs.",)),
    )
    run = project.run()
    assert "blame     retrieval: the contexts lack the gold passages, or have them too late" in run.section(" prices ")
    assert f"blame     grounding: {BLAMES['grounding']}" in run.section(" terms ")
    assert "blame: retrieval 1, generation 0, grounding 1 (of 2 FAIL with gold passages; 2 FAIL in all)" in run.lines
    assert [row["blame"] for row in run.predictions["predictions"]] == ["retrieval", "grounding"]
    assert run.summary["datasets"]["billing"]["blame"] == {"retrieval": 1, "generation": 0, "grounding": 1}


def test_a_wrong_answer_that_its_contexts_support_may_be_the_fault_of_a_changed_document(project: Project) -> None:
    project.ask(
        *(
            bad(name, gold_passages=[{"doc_id": "terms.md"}], expected_answer="30 days").but(
                answer_correctness=correctness, groundedness=groundedness, source_ids=("terms.md",)
            )
            for name, correctness, groundedness in (
                ("changed", 0.2, 1.0),
                ("invented", 0.2, 0.9),
                ("declined", 0.0, 1.0),
            )
        )
    )
    run = project.run("--rag-threshold=0.95")
    of_document = "; the contexts support it, so their document may have changed"
    assert f"blame     generation: {BLAMES['generation']}{of_document}" in run.section(" changed ")
    assert f"blame     grounding: {BLAMES['grounding']}" in run.section(" invented ")
    assert f"blame     generation: {BLAMES['generation']}" in run.section(" declined ")


def test_long_texts_are_cut_and_say_by_how_much(project: Project) -> None:
    contexts = ("c" * 300, "", "three\nlines\there", "x" * 40, "y" * 2000)
    project.ask(bad("prices").but(question="q" * 521, answer="word " * 200, contexts=contexts))
    run = project.run()
    assert run.section(" prices ")[-5:] == [
        f"question  {'q' * 500} ... (+21 characters)",
        # 200 times "word " is 999 characters without the last blank; 500 of them are shown, the last one a blank.
        f"answer    {('word ' * 100).rstrip()} ... (+499 characters)",
        f"context 1 {'c' * 200} ... (+100 characters)",
        "context 2 (empty)",
        "          (+3 contexts of 2,056 characters)",
    ]
    project.ask(bad("prices").but(question="q" * 520))
    assert f"question  {'q' * 520}" in project.run().section(" prices ")


@pytest.mark.parametrize(
    ("groundedness", "shown"),
    [(0.41, "0.41 < 0.70"), (0.699, "0.699 < 0.700"), (0.699999, "0.699999 < 0.700000"), (0.0, "0.00 < 0.70")],
)
def test_a_number_never_looks_like_the_threshold_that_it_misses(
    project: Project, groundedness: float, shown: str
) -> None:
    project.ask(bad("prices", groundedness=groundedness))
    assert project.run().section(" prices ")[0] == f"groundedness {shown}: No price is in the contexts."


@pytest.mark.parametrize(
    ("threshold", "shown"), [(0.725, "0.410 < 0.725"), (0.7251234, "0.410000 < 0.725123"), (0.5, "0.41 < 0.50")]
)
def test_a_threshold_is_shown_with_its_own_decimals(project: Project, threshold: float, shown: str) -> None:
    project.ask(bad("prices", thresholds={"groundedness": threshold}))
    assert project.run().section(" prices ")[0] == f"groundedness {shown}: No price is in the contexts."


def test_no_contexts_are_named(project: Project) -> None:
    project.ask(bad("prices").but(contexts=()))
    section = project.run().section(" prices ")
    assert section[0] == "groundedness 0.00 < 0.70: no contexts were returned; No price is in the contexts."
    assert section[-1] == "contexts  (none)"


def test_an_empty_answer_is_named(project: Project) -> None:
    project.ask(bad("prices").but(answer=" \n"))
    section = project.run().section(" prices ")
    assert section[0] == (
        "answer_correctness 0.00 < 0.70, groundedness 0.00 < 0.70: "
        "the system declined to answer, although the question is answerable (the answer is empty)"
    )
    assert "answer    (empty)" in section


def test_an_unanswerable_question_says_what_was_to_be_done(project: Project) -> None:
    project.ask(good("gold", answerable=False).but(abstained=False))
    section = project.run().section(" gold ")
    assert section[0] == "abstained 0.00 < 1.00: the system answered, although the question is unanswerable"
    assert "expected  (unanswerable: the system should decline to answer)" in section


def test_a_judge_without_a_reason_gets_one(project: Project) -> None:
    project.ask(bad("prices", reason=""))
    assert project.run().section(" prices ")[0] == "groundedness 0.41 < 0.70: the judge named no weakness"


@pytest.mark.parametrize(
    ("answerable", "abstained", "known"),
    [
        (True, True, "the system declined to answer, although the question is answerable"),
        (False, False, "the system answered, although the question is unanswerable"),
    ],
)
def test_the_judges_words_stand_behind_what_is_known_without_it(
    project: Project, answerable: bool, abstained: bool, known: str
) -> None:
    canned = bad("gold", reason="Page 3 says so.", answerable=answerable)
    project.ask(canned.but(answer_correctness=0.0, abstained=abstained))
    assert project.run().section(" gold ")[0].endswith(f": {known}; Page 3 says so.")


def test_a_reason_of_several_lines_stands_on_one(project: Project) -> None:
    project.ask(bad("prices", reason="No price.\n\n  Not even\ta sum."))
    assert project.run().section(" prices ")[0] == "groundedness 0.41 < 0.70: No price. Not even a sum."


@pytest.mark.parametrize(
    ("way", "environment"),
    [
        ("plain", ""),
        ("plain", "true"),
        pytest.param("n2", "true", marks=exhaustive),
        pytest.param("no-xdist", "true", marks=exhaustive),
    ],
    indirect=["way"],
)
def test_the_short_summary_has_the_first_line_and_no_more(
    project: Project, environment: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CI", environment)
    project.ask(bad("prices"), broken("hours", "canned: down.\nTry again."))
    run = project.run()
    _, _, rest = run.text.partition("short test summary info")
    assert rest.splitlines()[1:-1] == [
        "FAILED billing.rag.yaml::prices - No price is in the contexts. (groundedness 0.41 < 0.70)",
        "ERROR billing.rag.yaml::hours - canned: down.",
    ]


@pytest.mark.parametrize("style", ["auto", "long", "short", "line", "native", "no"])
def test_the_traceback_style_changes_nothing_in_the_short_summary(project: Project, style: str) -> None:
    project.ask(bad("prices"))
    run = project.run(f"--tb={style}")
    assert run.short_summary == [
        "FAILED billing.rag.yaml::prices - No price is in the contexts. (groundedness 0.41 < 0.70)"
    ]
    assert ("question  What about prices?" in run.lines) == (style not in {"line", "no"})


def test_an_error_ends_in_the_page_that_explains_it(project: Project) -> None:
    project.ask(
        broken("hours"),
        good("terms").but(judge_error="canned: the quota is used up."),
        good("prices", thresholds={"f1": 0.5}).but(answer_correctness=None, groundedness=None),
    )
    run = project.run()
    pages = {name: run.section(f"ERROR at setup of {name}")[-1] for name in ("hours", "terms", "prices")}
    assert pages == {
        "hours": "see       ragcheck docs errors/endpoint",
        "terms": "see       ragcheck docs errors/judge",
        "prices": "see       ragcheck docs outcomes",
    }


def test_what_no_page_explains_ends_without_one(project: Project) -> None:
    project.ask(bad("prices"))
    assert not any(line.startswith("see ") for line in project.run().lines)


@pytest.mark.parametrize("options", [["--showlocals"], ["--full-trace"], ["--color=yes"], ["-vv"]])
def test_no_option_brings_a_traceback_or_an_exceptions_name_into_a_failure(
    project: Project, options: list[str]
) -> None:
    project.ask(bad("prices"))
    run = project.run(*options)
    assert "QuestionFailed" not in run.text
    assert ".py:" not in run.text
    assert "groundedness 0.41 < 0.70: No price is in the contexts." in run.text


def test_junit_has_the_whole_text(project: Project) -> None:
    project.ask(bad("prices"), broken("hours"))
    run = project.run()
    cases = {case.get("name"): case for case in ET.parse(run.folder / "junit.xml").iter("testcase")}
    failure, error = cases["prices"].find("failure"), cases["hours"].find("error")
    assert failure is not None
    assert error is not None
    assert (failure.text or "").splitlines() == run.section(" prices ")
    assert (error.text or "").splitlines() == run.section("ERROR at setup of hours")


def test_the_whole_reason_goes_into_the_files(project: Project) -> None:
    reason = "No price is in the contexts. " * 100
    project.ask(bad("prices", reason=reason))
    (row,) = project.run().predictions["predictions"]
    assert row["reason"] == reason.strip()


def test_a_fail_is_a_plain_text_for_pytest_rich(project: Project) -> None:
    project.ask(bad("prices"))
    project.extend_conftest(
        """
class Reporter:
    def pytest_runtest_logreport(self, report):
        if report.failed:
            (HERE / "shown.txt").write_text(report.longrepr)

def pytest_configure(config):
    config.pluginmanager.register(Reporter(), "rich-terminal-reporter")
"""
    )
    project.run()
    shown = (project.folder / "shown.txt").read_text(encoding="utf-8")
    assert shown.startswith("groundedness 0.41 < 0.70: No price is in the contexts.\n")
