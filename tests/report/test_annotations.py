"""Annotations of GitHub's."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pytest_ragcheck.report.annotations import annotation_lines
from pytest_ragcheck.verdict import Verdict
from tests.making import a_question, a_record, an_error

STEP = {"GITHUB_ACTIONS": "true", "GITHUB_WORKSPACE": "/repo"}


def test_failures_stand_at_their_line_with_what_is_wrong() -> None:
    question = a_question("a,b:c", path=Path("/repo/tests/billing.rag.yaml"), line=14)
    failed = a_record(
        question=question, verdict=Verdict.FAIL, scores={"f1": 0.4}, thresholds={"f1": 0.5}, reason="50 % too low"
    )
    lines = list(annotation_lines([a_record("fine"), failed, an_error("late")], environment=STEP))
    assert lines == [
        "::error file=tests/billing.rag.yaml,line=14,title=FAIL a%2Cb%3Ac::f1 0.40 < 0.50: 50 %25 too low",
        "::error title=ERROR late::no reply within 60 s",
    ]


def test_no_more_than_are_shown_and_none_elsewhere() -> None:
    records = [an_error(f"q{number}") for number in range(30)]
    assert len(list(annotation_lines(records, environment=STEP))) == 10
    assert list(annotation_lines(records, environment={})) == []


def test_what_did_not_turn_the_run_red_is_a_warning_and_the_gate_comes_first() -> None:
    low: dict[str, Any] = {"verdict": Verdict.FAIL, "scores": {"f1": 0.4}, "thresholds": {"f1": 0.5}, "reason": "short"}
    failed = [a_record(f"q{number}", **low) for number in range(30)]
    excused = {("billing", f"q{number}") for number in range(15)}
    lines = list(annotation_lines(failed, environment=STEP, gate="2 newly failing", xfailed=excused))
    assert lines[:2] == ["::error title=gate::2 newly failing", "::error title=FAIL q15::f1 0.40 < 0.50: short"]
    assert [line.partition(" ")[0] for line in lines] == ["::error"] * 10 + ["::warning"] * 10
    assert lines[10] == "::warning title=FAIL q0::f1 0.40 < 0.50: short"


def test_several_lines_are_one_command_and_no_text_starts_another() -> None:
    error = an_error("late", reason="no reply\n::set-output name=x::y")
    (line,) = annotation_lines([error], environment=STEP)
    assert line == "::error title=ERROR late::no reply%0A::set-output name=x::y"


def test_a_file_outside_of_the_repository_keeps_its_path() -> None:
    error = an_error("x", question=a_question("x", path=Path("/elsewhere/q.rag.yaml")))
    (line,) = annotation_lines([error], environment=STEP)
    assert line.startswith("::error file=/elsewhere/q.rag.yaml,line=1,title=")
