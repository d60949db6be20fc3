"""Annotations of GitHub Actions."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_ragcheck.report.terminal.gate_lines import annotation_lines
from pytest_ragcheck.summary.gate.baseline_comparison import compare
from pytest_ragcheck.summary.gate.baseline_reader import Baseline, BaselineRow
from pytest_ragcheck.summary.gate.gate_decision import decide, tolerated
from pytest_ragcheck.summary.gate.saved_answer import SavedAnswer
from pytest_ragcheck.summary.run_outcomes import GateRules
from pytest_ragcheck.verdict.verdict import Verdict
from tests.making import a_question, a_record, an_error, some_outcomes

if TYPE_CHECKING:
    from pytest_ragcheck.verdict.record import Record

STEP = {"GITHUB_ACTIONS": "true", "GITHUB_WORKSPACE": "/repo"}


def test_failures_stand_at_their_line_with_what_is_wrong() -> None:
    question = a_question("a,b:c", path=Path("/repo/tests/billing.rag.yaml"), line=14)
    failed = a_record(
        question=question, verdict=Verdict.FAIL, scores={"f1": 0.4}, thresholds={"f1": 0.5}, reason="50 % too low"
    )
    lines = list(annotation_lines(some_outcomes(a_record("fine"), failed, an_error("late")), environment=STEP))
    assert lines == [
        "::error file=tests/billing.rag.yaml,line=14,title=FAIL a%2Cb%3Ac::f1 0.40 < 0.50: 50 %25 too low",
        "::error title=ERROR late::no reply within 60 s",
    ]


def test_what_is_not_held_against_the_run_is_no_error() -> None:
    def failing(name: str, *again: str) -> Record:
        limits = {"f1": 0.5}
        return a_record(name, verdict=Verdict.FAIL, scores={"f1": 0.4}, thresholds=limits, asked_again=again)

    rows = [row("suspect", Verdict.PASS), row("broken", Verdict.PASS, passes=60), row("known", Verdict.FAIL)]
    baseline = Baseline(name="main.json", rows={row.key: row for row in rows})
    outcomes = some_outcomes(
        failing("known"), failing("new"), failing("suspect", "FAIL", "PASS"), failing("broken", "FAIL", "FAIL")
    )
    terms = GateRules(gate="regression")
    comparison = compare(baseline, outcomes, terms, clean=str, expects=lambda dataset, name: True)
    decision = decide(outcomes, comparison, replace(terms, other_baseline="compare"))
    outcomes = replace(outcomes, tolerated=tolerated(outcomes, terms, baseline, clean=str))
    assert list(annotation_lines(outcomes, environment=STEP, decision=decision)) == [
        "::error title=gate::1 confirmed as failing against main.json",
        "::error title=FAIL new::f1 0.40 < 0.50",
        "::error title=FAIL broken::f1 0.40 < 0.50",
        "::warning title=FAIL known::f1 0.40 < 0.50",
        "::warning title=FAIL suspect::f1 0.40 < 0.50",
    ]


def row(name: str, verdict: Verdict, **said: Any) -> BaselineRow:
    saved = SavedAnswer(passed=verdict is Verdict.PASS)
    return BaselineRow(
        dataset_name="billing",
        id=name,
        question=f"What about {name}?",
        verdict=verdict,
        saved=((saved,),),
        **said,
    )


def test_no_more_than_are_shown_and_none_elsewhere() -> None:
    records = [an_error(f"q{number}") for number in range(30)]
    assert len(list(annotation_lines(some_outcomes(*records), environment=STEP))) == 10
    assert list(annotation_lines(some_outcomes(*records), environment={})) == []


def test_several_lines_are_one_command_and_no_text_starts_another() -> None:
    error = an_error("late", reason="no reply\n::set-output name=x::y")
    (line,) = annotation_lines(some_outcomes(error), environment=STEP)
    assert line == "::error title=ERROR late::no reply%0A\\x3a:set-output name=x::y"


def test_a_file_outside_of_the_repository_keeps_its_path() -> None:
    error = an_error("x", question=a_question("x", path=Path("/elsewhere/q.rag.yaml")))
    (line,) = annotation_lines(some_outcomes(error), environment=STEP)
    assert line.startswith("::error file=/elsewhere/q.rag.yaml,line=1,title=")
