"""Which metrics a question asserts: its own thresholds override those of its file and of the run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from pytest_ragcheck.cli import main
from tests.canned import bad, good

if TYPE_CHECKING:
    from tests.harness import Project


def asserted(project: Project, *arguments: str) -> dict[str, float]:
    """The thresholds of the only question."""
    run = project.run(*arguments)
    (row,) = run.predictions["predictions"]
    thresholds: dict[str, float] = row["thresholds"]
    return thresholds


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({"question": 0.1, "file": 0.2, "option": 0.3, "ini": 0.4}, 0.1),
        ({"file": 0.2, "option": 0.3, "ini": 0.4}, 0.2),
        ({"option": 0.3, "ini": 0.4}, 0.3),
        ({"ini": 0.4}, 0.4),
        ({}, 0.7),
    ],
)
def test_the_nearest_threshold_wins(project: Project, given: dict[str, float], expected: float) -> None:
    entry: dict[str, Any] = {"thresholds": given["question"]} if "question" in given else {}
    top: dict[str, Any] = {"defaults": {"thresholds": given["file"]}} if "file" in given else {}
    project.write("pytest.ini", "[pytest]\n" + (f"rag_threshold = {given['ini']}\n" if "ini" in given else ""))
    project.ask(good("terms", **entry), **top)
    options = [f"--rag-threshold={given['option']}"] if "option" in given else []
    assert asserted(project, *options) == {"answer_correctness": expected, "groundedness": expected}


def test_an_ini_value_can_be_given_on_the_command_line(project: Project) -> None:
    project.ask(good("terms"))
    assert asserted(project, "-o", "rag_threshold=0.9") == {"answer_correctness": 0.9, "groundedness": 0.9}


def test_a_question_and_its_file_may_set_one_metric_each(project: Project) -> None:
    project.ask(
        good("terms", thresholds={"groundedness": 0.5}),
        defaults={"thresholds": {"answer_correctness": 0.6, "groundedness": 0.1}},
    )
    assert asserted(project) == {"answer_correctness": 0.6, "groundedness": 0.5}


def test_a_question_above_a_maximum_fails_under_every_gate_and_says_by_how_much(project: Project) -> None:
    # The canned system takes 0.25 s.
    project.ask(good("slow"), good("patient", thresholds={"latency_seconds": 1}), bad("wrong"))
    run = project.run("--rag-max=latency_seconds=0.2")
    assert run.verdicts == {"slow": "FAIL", "patient": "PASS", "wrong": "FAIL"}
    rows = {row["question_id"]: row for row in run.predictions["predictions"]}
    assert rows["slow"]["reason"] == "latency_seconds 0.25 > 0.20"
    assert {name: row["maximums"]["latency_seconds"] for name, row in rows.items()} == {
        "slow": 0.2,
        "patient": 1.0,
        "wrong": 0.2,
    }
    assert rows["wrong"]["reason"].startswith("latency_seconds 0.25 > 0.20; ")
    assert "latency_seconds <= 0.2" in run.text
    assert "FAILED billing.rag.yaml::slow - latency_seconds 0.25 > 0.20" in run.lines


def test_a_baseline_tolerates_no_question_above_a_maximum(project: Project) -> None:
    project.ask(bad("known"))
    project.run("--rag-output=before")
    project.write(
        "ragcheck-baseline.json", (project.folder / "before/rag_predictions.json").read_text(encoding="utf-8")
    )
    assert project.run("--rag-max=latency_seconds=0.3").exit_status == 0
    assert project.run("--rag-max=latency_seconds=0.2").exit_status == 1


@pytest.mark.parametrize("gate", ["confirmed", "each"])
def test_a_question_above_a_maximum_alone_is_newly_failing_everywhere(project: Project, gate: str) -> None:
    project.ask(good("slow"), good("patient", thresholds={"latency_seconds": 1}))
    project.run("--rag-output=out")
    main(["baseline", "save", "out"])
    options = "--rag-max=latency_seconds=0.2", f"--rag-gate={gate}"
    run = project.run(*options, "--rag-report=r.md", "--tb=no")
    assert run.exit_status == 1
    said = ["baseline ragcheck-baseline.json: 1 newly failing, 1 as before", "newly failing:"]
    said += ["  slow: latency_seconds 0.25 > 0.20"]
    said += ["    above a maximum, which allows for no noise"] * (gate == "confirmed")
    assert "\n".join(said) in run.text
    assert main(["report", "ragcheck-results", "--baseline=ragcheck-baseline.json", "-o", "s.md"]) == 0
    for name in ("r.md", "s.md"):
        report = (project.folder / name).read_text(encoding="utf-8")
        assert report.splitlines()[0].endswith("newly failing: slow")
        assert "\n".join(said) in report
    main(["baseline", "accept"])
    run = project.run(*options)
    assert run.exit_status == 1
    assert "baseline ragcheck-baseline.json: 1 still failing, 1 as before" in run.lines


def test_a_question_above_a_maximum_alone_is_nothing_that_the_gate_confirms_in_a_replay(project: Project) -> None:
    project.ask(good("slow"), good("patient", thresholds={"latency_seconds": 1}))
    project.run("--rag-output=out")
    main(["baseline", "save", "out"])
    options = "--rag-max=latency_seconds=0.2", "--rag-gate=confirmed"
    for counts in ("1 newly failing, 1 as before", "1 still failing, 1 as before"):
        recorded = project.run(*options).summary["gate"]
        (project.folder / "ragcheck-results").rename(project.folder / counts)
        run = project.run(*options, f"--rag-replay={counts}")
        assert f"baseline ragcheck-baseline.json: {counts}" in run.lines
        assert run.summary["gate"] == recorded
        assert not recorded["red"]
        main(["baseline", "accept", "--results", counts])


def test_limits_are_written_with_all_their_digits(project: Project) -> None:
    project.ask(good("terms", thresholds={"groundedness": 0.12345678}))
    run = project.run("--rag-max=latency_seconds=0.0000001")
    row = run.predictions["predictions"][0]
    assert (row["thresholds"]["groundedness"], row["maximums"]) == (0.12345678, {"latency_seconds": 1e-7})
    assert main(["baseline", "save"]) == 0


def test_a_maximum_that_could_not_be_measured_is_an_error(project: Project) -> None:
    project.ask(good("terms"))
    run = project.run("--rag-max=cost_usd=0.01")
    assert run.errors_by_id["terms"] == (
        "unscored",
        (
            "cost_usd could not be measured: neither the reply nor the price table gives the price. "
            "Have the reply state metrics.cost_usd, set rag_judge_price for the model of the judge, or leave the "
            "maximum out."
        ),
    )
    assert run.predictions["errors"][0]["maximums"] == {"cost_usd": 0.01}


@pytest.mark.parametrize(("cost", "verdict"), [(0.01, "PASS"), (0.011, "FAIL")])
def test_a_maximum_of_the_cost_counts_what_the_system_reports(project: Project, cost: float, verdict: str) -> None:
    project.conftest(
        f"""
from pytest_ragcheck import RagClient

@pytest.fixture(scope="session")
def rag_client():
    reply = {{"answer": "30 days", "contexts": ["30 days"], "metrics": {{"cost_usd": {cost}}}}}
    return RagClient.from_callable(lambda query: reply)

@pytest.fixture(scope="session")
def rag_judge():
    return CannedJudge()
"""
    )
    project.ask(good("terms", thresholds={"cost_usd": 0.01}))
    assert project.run().verdicts == {"terms": verdict}


def test_rag_min_asserts_a_further_metric(project: Project) -> None:
    project.ask(good("terms", expected_answer="30 days").but(answer="30 days"), good("no-expected"))
    run = project.run("--rag-min=f1=0.5", "--rag-min", "groundedness=0.9")
    thresholds = {row["question_id"]: row["thresholds"] for row in run.predictions["predictions"]}
    assert thresholds == {
        "terms": {"answer_correctness": 0.7, "groundedness": 0.9, "f1": 0.5},
        "no-expected": {"answer_correctness": 0.7, "groundedness": 0.9},
    }
    assert run.summary["dropped"] == {"f1": {"no expected answer": 1}}
    assert "f1 not asserted on 1: no expected answer" in run.lines


def test_the_ini_form_of_rag_min_holds_several(project: Project) -> None:
    project.write("pytest.ini", "[pytest]\nrag_min = f1=0.5 exact_match=0.1\n")
    project.ask(bad("terms", groundedness=1.0, expected_answer="30 days").but(answer="never"))
    run = project.run()
    assert run.short_summary == [
        "FAILED billing.rag.yaml::terms - expected '30 days' (f1 0.00 < 0.50, exact_match 0.00 < 0.10)"
    ]


def test_a_questions_threshold_wins_over_rag_min(project: Project) -> None:
    project.ask(good("terms", thresholds={"f1": 0.1}, expected_answer="30 days"))
    assert asserted(project, "--rag-min=f1=0.9")["f1"] == 0.1


def test_a_score_at_its_threshold_passes(project: Project) -> None:
    project.ask(bad("terms", groundedness=0.7))
    assert project.run().verdicts == {"terms": "PASS"}


def test_what_must_be_said_and_what_must_not_is_asserted(project: Project) -> None:
    project.ask(
        good("terms", must_mention=["30 days", "receipt"], must_not_mention=["/never|no refund/i"]).but(
            answer="30 days, or No Refund."
        )
    )
    run = project.run()
    assert run.section(" terms ")[:2] == [
        (
            "must_mention 0.50 < 1.00, must_not_mention 0.00 < 1.00: "
            "the answer does not mention 'receipt'; the answer mentions '/never|no refund/i'"
        ),
        "question  What about terms?",
    ]


def test_a_demanded_citation_and_the_sentences_of_invented_ones_are_named(project: Project) -> None:
    contexts = {"contexts": ["30 days.", "9 EUR.", "100 requests."], "source_ids": ["terms.md", "fees.md", "limits.md"]}
    project.ask(
        good("terms", must_cite="fees.md").but(answer="It takes 30 days [1]. A return costs 5 EUR [7].", **contexts),
        good("fees", must_cite="fees.md").but(answer="The fee is 9 EUR [2].", **contexts),
        good("plain").but(answer="The fee is 9 EUR.", **contexts),
    )
    run = project.run("--rag-min=citation_validity=1")
    assert run.verdicts == {"terms": "FAIL", "fees": "PASS", "plain": "PASS"}
    assert run.section(" terms ")[0] == (
        "citation_validity 0.50 < 1.00, must_cite 0.00 < 1.00: the answer does not cite 'fees.md'; "
        '"A return costs 5 EUR." cites [7], which is none of the 3 contexts'
    )
    scores = {row["question_id"]: row["metrics"] for row in run.predictions["predictions"]}
    assert "citation_validity" not in scores["plain"]
    assert "citation_validity not asserted on 1: the answer has no citation markers" in run.lines


def test_without_a_judge_only_what_needs_none_is_asserted(project: Project) -> None:
    project.conftest("@pytest.fixture\ndef rag_client():\n    return CannedRag()\n")
    project.ask(good("terms", must_mention="30 days"), good("hours"), good("gone", must_mention="never"))
    run = project.run("--rag-judge=none")
    assert run.verdicts == {"terms": "PASS", "hours": "PASS", "gone": "FAIL"}
    assert run.summary["judge"]["kind"] == "none"
    assert run.summary["thresholds"] == {}
    assert "judge: none" in run.lines
    assert "; only thresholds of questions are asserted; other questions are measured and pass; " in run.text


def test_a_fixture_without_a_judge_leaves_its_thresholds_out_of_the_summary(project: Project) -> None:
    project.ask(good("terms", expected_answer="30 days"))
    project.extend_conftest("@pytest.fixture(scope='session')\ndef rag_judge():\n    return None\n")
    run = project.run("--rag-min=f1=0.25")
    assert (run.verdicts, run.summary["judge"]["kind"]) == ({"terms": "PASS"}, "none")
    assert run.summary["thresholds"] == {"f1": 0.25}


def test_nothing_left_to_assert_is_an_error(project: Project) -> None:
    project.ask(good("terms").but(answer_correctness=None, groundedness=None))
    run = project.run()
    assert run.errors_by_id == {
        "terms": (
            "nothing_to_assert",
            (
                "nothing is left to assert (answer_correctness: no expected answer; groundedness: the judge does not "
                "score it). Give the question an expected_answer, or assert another metric."
            ),
        )
    }


def test_a_minimum_that_no_question_is_measured_against_is_a_yellow_line(project: Project) -> None:
    gold = {"gold_passages": ["30 days"]}
    project.ask(good("terms", **gold), good("wide", top_k=10, **gold).but(contexts=("30 days",) * 10), good("no-gold"))
    minimum = "--rag-min=recall_at_10=0.1", "--color=yes"
    narrow = [
        line for line in project.run(*minimum, "-k", "not wide").lines if line.startswith("\x1b[33mrecall_at_10 ")
    ]
    assert narrow == [
        f"\x1b[33mrecall_at_10 asserted on NO question, not on 1: {why}\x1b[0m"
        for why in ("fewer contexts are requested", "no gold passages")
    ]
    assert "recall_at_10 not asserted on 1: fewer contexts are requested" in project.run(*minimum).lines
