"""Side by side: an exact test, in a fair order, with no more judgements than the decision needs."""

from __future__ import annotations

from statistics import fmean
from typing import TYPE_CHECKING

import pytest

from pytest_ragcheck.summary.gate.procedure.candidate import alternating, judge_side_by_side, worse_p
from pytest_ragcheck.summary.gate.procedure.compared_question import (
    ComparedQuestion,
    JudgeAnew,
    Look,
    Reply,
    Request,
    drive,
)
from tests.summary.gate.procedure.outside import look, question

if TYPE_CHECKING:
    from pytest_ragcheck.summary.gate.procedure.compared_question import SideBySide

QUESTION = question(1, before=look("old", 0.9), now=look("new", 0.2))


class Judge:
    """A judge with a list of scores for each answer, given one after the other."""

    def __init__(self, **scores: list[float]) -> None:
        self.scores = {answer: iter(values) for answer, values in scores.items()}
        self.order: list[str] = []

    def __call__(self, request: Request) -> Reply:
        assert isinstance(request, JudgeAnew)
        self.order += request.answers
        return tuple({"answer_correctness": next(self.scores[answer])} for answer in request.answers)


def judged(judge: Judge, *, deterministic: bool = False) -> SideBySide | None:
    return drive(judge_side_by_side(QUESTION, ["old"], ["new"], deterministic=deterministic), judge)


def test_five_against_five_without_overlap_are_enough() -> None:
    judge = Judge(old=[0.8, 0.9, 0.85, 0.7, 0.95], new=[0.6, 0.1, 0.69, 0.5, 0.3])
    found = judged(judge)
    assert found is not None
    assert found.worse
    assert found.p == pytest.approx(1 / 252)
    assert judge.order == ["old", "new", "new", "old", "old", "new", "new", "old", "old", "new"]


def test_three_more_of_each_decide_a_close_case() -> None:
    judge = Judge(old=[0.9, 0.9, 0.9, 0.9, 0.5, 0.9, 0.9, 0.9], new=[0.6, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1])
    found = judged(judge)
    assert found is not None
    assert found.worse
    assert len(judge.order) == 16


@pytest.mark.parametrize(
    ("new", "worse"),
    [
        ([0.71, 0.72, 0.69, 0.73, 0.72], False),
        ([0.71, 0.72, 0.69, 0.68, 0.72], False),
        ([0.69, 0.72, 0.68, 0.69, 0.72], True),
    ],
)
def test_new_answers_that_the_judge_mostly_passes_are_no_failure(new: list[float], *, worse: bool) -> None:
    # A failure that an earlier run recorded keeps its verdict of then, however often the answer is given again.
    found = judged(Judge(old=[0.9, 0.91, 0.92, 0.9, 0.9], new=new))
    assert found is not None
    assert found.p == pytest.approx(1 / 252)
    assert found.worse is worse


def test_alike_answers_take_one_round_and_are_not_worse() -> None:
    judge = Judge(old=[0.6, 0.7, 0.8, 0.7, 0.6], new=[0.7, 0.6, 0.7, 0.7, 0.8])
    found = judged(judge)
    assert found is not None
    assert not found.worse
    assert len(judge.order) == 10


def test_a_second_round_must_be_clear() -> None:
    judge = Judge(old=[0.9, 0.9, 0.9, 0.9, 0.5, 0.6, 0.6, 0.6], new=[0.6, 0.6, 0.6, 0.6, 0.4, 0.6, 0.6, 0.6])
    found = judged(judge)
    assert found is not None
    # Of the 252 choices of five 5 have a sum as low (p = 0.02), and of the 12,870 of all eight 330.
    assert len(judge.order) == 16
    assert found.p == pytest.approx(330 / 12_870)
    assert max(found.new) < 0
    assert not found.worse


@pytest.mark.parametrize(("new", "worse"), [(0.59, True), (0.6, False), (0.65, False)])
def test_a_deterministic_judge_must_find_each_new_answer_worse_than_each_recorded_one(
    new: float, *, worse: bool
) -> None:
    judge = Judge(old=[0.8], older=[0.6], new=[new], newer=[0.2])
    steps = judge_side_by_side(QUESTION, ["old", "older"], ["new", "newer"], deterministic=True)
    found = drive(steps, judge)
    assert found is not None
    assert found.worse is worse


def test_a_deterministic_judge_judges_each_answer_once() -> None:
    judge = Judge(old=[0.9], new=[0.2])
    found = judged(judge, deterministic=True)
    assert found is not None
    assert found.worse
    assert fmean(found.new) - fmean(found.recorded) == pytest.approx(-0.7)
    assert judge.order == ["old", "new"]


def test_the_least_margin_over_the_asserted_metrics_decides() -> None:
    asserted = ComparedQuestion(
        key=("set", "1"),
        thresholds={"a": 0.7, "b": 0.5},
        known=QUESTION.known,
        now=Look(answer="new", scores={}, passed=False),
    )
    assert asserted.margin({"a": 0.9, "b": 0.6, "c": 0.0}) == pytest.approx(0.1)


@pytest.mark.parametrize("reply", [None, ({"answer_correctness": 0.1},)], ids=["failed", "to another request"])
def test_a_reply_without_all_judgements_leaves_it_open(reply: Reply) -> None:
    assert drive(judge_side_by_side(QUESTION, ["old"], ["new"], deterministic=False), lambda request: reply) is None


@pytest.mark.parametrize(("lacking", "worse"), [("b", True), ("a", False)])
def test_a_metric_that_is_not_always_scored_is_left_out(lacking: str, *, worse: bool) -> None:
    asserted = ComparedQuestion(
        key=("set", "1"), thresholds={"a": 0.7, "b": 0.7}, known=QUESTION.known, now=look("", 0)
    )
    old, new = {"a": 0.9, "b": 0.9}, {"a": 0.3, "b": 0.9}
    partly = {metric: score for metric, score in new.items() if metric != lacking}

    def judge(request: Request) -> Reply:
        assert isinstance(request, JudgeAnew)
        return tuple(old if answer == "old" else partly for answer in request.answers)

    found = drive(judge_side_by_side(asserted, ["old"], ["new"], deterministic=True), judge)
    assert found is not None
    assert found.worse is worse
    assert found.recorded == pytest.approx((0.2,))


def test_answers_without_a_score_leave_it_open() -> None:
    assert (
        drive(
            judge_side_by_side(QUESTION, ["old"], ["new"], deterministic=True),
            lambda request: tuple({} for _ in request.answers) if isinstance(request, JudgeAnew) else None,
        )
        is None
    )


def test_the_chance_counts_equal_sums() -> None:
    # Of the six choices of 2 from 1, 1, 0, 0 only 0 + 0 is as low as 0.
    assert worse_p([1, 1], [0, 0]) == pytest.approx(1 / 6)
    # 0 + 1 is reached by four choices, 0 + 0 by one.
    assert worse_p([1, 0], [0, 1]) == pytest.approx(5 / 6)


def test_the_sides_take_turns_to_begin() -> None:
    assert alternating(3, 2) == [(0, 0), (1, 0), (1, 1), (0, 1), (0, 2)]
