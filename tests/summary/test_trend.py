"""Runs in the order of their time: which questions broke, when, and what else changed."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta, timezone
from typing import Any

import pytest

from pytest_ragcheck.judging.judgement import JudgeIdentity
from pytest_ragcheck.summary.gate.baseline_reader import BaselineRow
from pytest_ragcheck.summary.trend import PASS_RATE, Trend, TrendQuestion, TrendRun, trend_of
from pytest_ragcheck.verdict.verdict import Verdict

FIRST = datetime(2026, 11, 1, tzinfo=timezone.utc)
VERDICTS = {"P": Verdict.PASS, "F": Verdict.FAIL, "E": Verdict.ERROR}


def a_row(name: str, letter: str = "P", **said: Any) -> BaselineRow:
    return BaselineRow(
        **{"dataset_name": "billing", "id": name, "question": f"{name}?", "verdict": VERDICTS[letter], **said}
    )


def a_run(day: int, *rows: BaselineRow, **said: Any) -> TrendRun:
    known = {row.key: row for row in rows}
    default = {"name": f"run-{day}", "ended": FIRST + timedelta(days=day), "agent_name": "rag", "complete": True}
    return TrendRun(**{**default, "rows": known, **said})


def a_trend(**letters: str) -> Trend:
    """Of each question one letter a run; a blank for a run without the question."""
    n_runs = max(map(len, letters.values()))
    rows = [[a_row(name, line[n]) for name, line in letters.items() if line[n] != " "] for n in range(n_runs)]
    return trend_of(a_run(n, *each) for n, each in enumerate(rows))


def one(letters: str) -> TrendQuestion:
    """A question with these outcomes, beside one that passes in every run."""
    return next(each for each in a_trend(q=letters, other="P" * len(letters)).questions if each.latest.id == "q")


@pytest.mark.parametrize(
    ("letters", "state", "first_bad", "last_good"),
    [
        ("PPPP", "passing", None, None),
        ("PPFF", "failing", 2, 1),
        ("FPFF", "failing", 2, 1),
        ("FFFF", "failing", 0, None),
        ("PFFP", "passing again", 1, 0),
        # An ERROR shows neither that the question broke nor that it was mended.
        ("PEFE", "failing", 2, 0),
        ("PFEF", "failing", 1, 0),
        ("EEEE", "not measured", None, None),
        ("P FF", "failing", 2, 0),
        ("PFF ", "not in the latest run", 1, 0),
    ],
)
def test_the_first_bad_run_begins_the_latest_failures(
    letters: str, state: str, first_bad: int | None, last_good: int | None
) -> None:
    found = one(letters)
    assert (found.state, found.first_bad, found.last_good) == (state, first_bad, last_good)


def test_what_broke_last_comes_first_and_what_always_passed_last() -> None:
    trend = a_trend(
        fine="PP  ", steady="PPPP", since="PPFF", old="PFFF", mended="FFPP", new="PPPF", gone="FFF ", often="FPFF",
        dark="EEEE",
    )  # fmt: skip
    assert [question.latest.id for question in trend.questions] == [
        "new", "often", "since", "old", "dark", "mended", "steady", "gone", "fine",
    ]  # fmt: skip


def test_a_question_that_a_partial_run_left_out_still_fails() -> None:
    whole = a_run(0, a_row("q", "F"), a_row("other"))
    trend = trend_of([whole, a_run(1, a_row("other"), complete=False)])
    assert [(each.latest.id, each.state) for each in trend.questions] == [("q", "failing"), ("other", "passing")]
    # Of partial runs alone, each may have had other questions.
    trend = trend_of(replace(run, complete=False) for run in trend.runs)
    assert [(each.latest.id, each.state) for each in trend.questions] == [("q", "failing"), ("other", "passing")]


def test_runs_are_in_the_order_of_their_time_and_the_same_run_counts_once() -> None:
    trend = trend_of([a_run(2), a_run(0), a_run(1, name="committed"), a_run(1, name="folder")])
    assert [run.name for run in trend.runs] == ["run-0", "folder", "run-2"]


def test_different_runs_that_ended_at_the_same_time_both_count() -> None:
    full = (a_row("q", "P", metrics={"f1": 0.5, "recall": 1.0, "mrr": 1.0}), a_row("other", "E"))
    committed = a_run(1, a_row("q", "P", metrics={"f1": 0.5, "recall": 1.0}), a_row("third"), name="committed")
    failed = a_run(1, a_row("q", "F", metrics={"f1": 0.5}), name="failed")
    lower = a_run(1, a_row("q", "P", metrics={"f1": 0.5, "recall": 0.9}), name="lower")
    shard = a_run(1, a_row("elsewhere", "P"), name="shard")
    down = a_run(1, a_row("elsewhere", "E"), name="down")
    trend = trend_of([committed, failed, lower, shard, down, a_run(1, *full, name="file")])
    assert [run.name for run in trend.runs] == ["failed", "lower", "shard", "down", "file"]


def test_means_and_intervals_by_hand() -> None:
    values = (0.5, 0.6, 0.7, 0.6)
    rows = [a_row(f"q{n}", metrics={"f1": value}, thresholds={"f1": 0.1}) for n, value in enumerate(values)]
    failed, dark = a_row("q4", "F", metrics={"rouge_l": 0.2}), a_row("q5", "E")
    trend = trend_of([a_run(0, *rows, failed, dark), a_run(1, dark)])
    lines = {line.name: line for line in trend.lines}
    assert list(lines) == [PASS_RATE, "f1", "rouge_l"]
    assert [line.asserted for line in lines.values()] == [True, True, False]
    f1, none = lines["f1"].points
    assert f1 is not None
    # Mean 0.6, deviation sqrt(0.02 / 3) = 0.08165, over sqrt(4) 0.04082, times 3.1824 (3 degrees) 0.1299.
    assert [f1.mean, f1.low, f1.high, f1.n] == pytest.approx([0.6, 0.4701, 0.7299, 4], abs=3e-4)
    assert none is None, "a run with ERRORs only has no mean"
    passed, nothing = lines[PASS_RATE].points
    assert passed is not None
    # Wilson's interval of 4 of 5.
    assert [passed.mean, passed.low, passed.high, passed.n] == pytest.approx([0.8, 0.3755, 0.9638, 5], abs=1e-4)
    assert nothing is None


def test_an_interval_of_shares_stays_among_shares() -> None:
    metrics = [{"f1": value, "lost": 1 - value, "own": value * 10, "gain": value - 1} for value in (1.0, 1.0, 0.7)]
    rows = [a_row(f"q{n}", metrics=each) for n, each in enumerate(metrics)]
    ends = {line.name: (p.low, p.high) for line in trend_of([a_run(0, *rows)]).lines for p in line.points if p}
    # The mean of f1 is 0.9, and the half width 0.1732 over sqrt(3) times 4.3027 (2 degrees), 0.4303.
    assert ends["f1"] == pytest.approx((0.4697, 1.0), abs=1e-4)
    assert ends["lost"] == pytest.approx((0.0, 0.5303), abs=1e-4)
    assert ends["own"] == pytest.approx((4.697, 13.303), abs=1e-3)
    assert ends["gain"] == pytest.approx((-0.5303, 0.3303), abs=1e-4)


def judged(name: str, judge: str, letter: str = "P", served_by: str = "") -> BaselineRow:
    return a_row(name, letter, judge=JudgeIdentity(kind=judge), prompt_version="en-2", served_by=served_by)


def test_another_judge_is_named_once_even_if_a_question_was_an_error_then() -> None:
    trend = trend_of(
        [
            a_run(0, judged("a", "gpt-5"), judged("b", "gpt-5")),
            a_run(1, judged("a", "gpt-6"), judged("b", "gpt-6", "E")),
            a_run(2, judged("a", "gpt-6"), judged("b", "gpt-6"), judged("new", "gpt-6")),
            a_run(3, judged("a", "gpt-5"), judged("b", "gpt-5")),
            a_run(4, judged("a", "gpt-6"), judged("b", "gpt-6")),
        ]
    )
    there, back = ("judge: gpt-5 -> gpt-6",), ("judge: gpt-6 -> gpt-5",)
    assert trend.changes == ((), there, (), back, there)


def test_changes_from_several_agents_have_their_number_of_questions() -> None:
    runs = [
        a_run(0, a_row("a"), a_row("b"), a_row("c"), agent_name="v1"),
        a_run(1, a_row("a"), a_row("b", "E"), agent_name="v2"),
        a_run(2, a_row("a"), a_row("b"), a_row("c"), agent_name="v3"),
    ]
    assert trend_of(runs).changes == ((), ("agent: v1 -> v2",), ("agent: v2 -> v3 (1), v1 -> v3 (2)",))


def test_a_value_that_a_file_lacks_is_no_change() -> None:
    old, now = a_row("a"), a_row("a", prompt_version="en-2", tier="generation", top_k=5, thresholds={"f1": 0.5})
    assert trend_of([a_run(0, now), a_run(1, old), a_run(2, now)]).changes == ((), (), ())


def test_a_question_that_changes_a_run_later_than_others_is_named_then() -> None:
    minimums = [(0.5, 0.5), (0.7, 0.5), (0.7, 0.7)]
    rows = [[a_row(name, thresholds={"f1": each}) for name, each in zip("ab", run, strict=True)] for run in minimums]
    raised = ("minimum: f1 0.5 -> f1 0.7",)
    assert trend_of(a_run(n, *each) for n, each in enumerate(rows)).changes == ((), raised, raised)


def test_another_model_behind_the_same_judge_is_named_unless_some_are_as_before() -> None:
    served = ["m fp_1", "m fp_1", "", "m fp_2", "", "m fp_2"]
    runs = [a_run(n, judged("a", "gpt", served_by=each)) for n, each in enumerate(served)]
    mixed = a_run(9, judged("a", "gpt", served_by="m fp_3"), judged("b", "gpt", served_by="m fp_2"))
    found = trend_of([*runs, mixed]).changes
    assert found == ((), (), (), ("model of the judge's server: m fp_1 -> m fp_2",), (), (), ())


def test_a_run_without_any_question_of_the_run_before_is_marked() -> None:
    first, second = (a_row("a"), a_row("b")), (a_row("c"), a_row("d"))
    runs = [a_run(0, *first), a_run(1, *second), a_run(2, *second, *first), a_run(3, a_row("a"))]
    apart = ("questions: those before -> only others",)
    assert trend_of(runs).changes == ((), apart, (), ())
