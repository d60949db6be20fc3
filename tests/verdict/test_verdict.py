from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_ragcheck.scores import Score
from pytest_ragcheck.verdict.verdict import ScoredVerdict, Thresholds, Verdict, decide, shortfalls, wanted_thresholds
from tests.making import a_question

JUDGED = Thresholds(judge_minimum=0.7, minimums={})
UNJUDGED = Thresholds(judge_minimum=0.7, minimums={}, judged=False, lenient=True)
GOOD = {"answer_correctness": Score(0.9), "groundedness": Score(0.8), "abstained": Score(0.0)}


def decided(scores: dict[str, Any], run: Thresholds = JUDGED, **question: Any) -> ScoredVerdict:
    given = {metric: score if isinstance(score, Score) else Score(score) for metric, score in scores.items()}
    return decide(a_question(**question), given, run)


def test_both_scores_of_the_judge_are_asserted_by_default() -> None:
    decision = decide(a_question(expected_answer="30 days"), GOOD, JUDGED)
    assert decision.verdict is Verdict.PASS
    assert decision.thresholds == {"answer_correctness": 0.7, "groundedness": 0.7}
    assert decision.dropped == {}


@pytest.mark.parametrize(
    ("score", "verdict"),
    [(0.7, Verdict.PASS), (0.699999, Verdict.FAIL), (0.0, Verdict.FAIL), (1.0, Verdict.PASS)],
)
def test_a_score_at_its_threshold_passes_and_one_just_below_fails(score: float, verdict: Verdict) -> None:
    assert decided({**GOOD, "groundedness": score}).verdict is verdict


@pytest.mark.parametrize(("score", "minimum"), [(2 / 3, 0.666667), (0.666667, 2 / 3), (math.nextafter(0.7, 0), 0.7)])
def test_a_score_passes_the_threshold_that_result_files_show_for_it(score: float, minimum: float) -> None:
    decision = decided({**GOOD, "groundedness": score}, thresholds={"groundedness": minimum})
    assert decision.verdict is Verdict.PASS


def test_a_question_threshold_overrides_the_run_minimum_which_overrides_the_common_one() -> None:
    run = Thresholds(judge_minimum=0.7, minimums={"groundedness": 0.8, "f1": 0.5})
    assert wanted_thresholds(a_question(), run) == {"answer_correctness": 0.7, "groundedness": 0.8, "f1": 0.5}
    own = a_question(thresholds={"groundedness": 0.95, "exact_match": 1.0})
    assert wanted_thresholds(own, run) == {
        "answer_correctness": 0.7, "groundedness": 0.95, "f1": 0.5, "exact_match": 1.0,
    }  # fmt: skip


def test_mentions_are_asserted_with_every_judge() -> None:
    question: dict[str, Any] = {"must_mention": ("30 days",), "must_not_mention": ("forever",), "must_cite": ("a.md",)}
    scores = {"must_mention": 1.0, "must_not_mention": 0.0, "must_cite": 1.0}
    decision = decided(scores, UNJUDGED, **question)
    assert decision.thresholds == {"must_mention": 1.0, "must_not_mention": 1.0, "must_cite": 1.0}
    assert decision.verdict is Verdict.FAIL
    assert decided({**GOOD, **scores}, **question).verdict is Verdict.FAIL


@pytest.mark.parametrize(("abstained", "verdict"), [(1.0, Verdict.PASS), (0.0, Verdict.FAIL)])
def test_an_unanswerable_question_passes_if_and_only_if_the_system_abstains(abstained: float, verdict: Verdict) -> None:
    scores = {"groundedness": 0.0, "abstained": abstained}
    decision = decided(scores, Thresholds(judge_minimum=0.7, minimums={"groundedness": 0.9}), answerable=False)
    assert decision.verdict is verdict
    assert decision.thresholds == {"abstained": 1.0}


def test_what_has_no_meaning_for_an_unanswerable_question_is_dropped() -> None:
    run = Thresholds(judge_minimum=0.7, minimums={"f1": 0.5})
    decision = decided({"abstained": 1.0}, run, answerable=False)
    assert decision.verdict is Verdict.PASS
    assert decision.dropped == {"f1": "the question is unanswerable"}


def test_a_score_that_does_not_apply_is_dropped_with_its_reason() -> None:
    run = Thresholds(judge_minimum=0.7, minimums={"f1": 0.5})
    decision = decided({"groundedness": 0.9, "abstained": 0.0}, run)
    assert decision.verdict is Verdict.PASS
    assert decision.thresholds == {"groundedness": 0.7}
    assert decision.dropped == {"answer_correctness": "no expected answer", "f1": "no expected answer"}


def test_a_score_that_the_judge_does_not_give_is_not_put_down_to_the_question() -> None:
    assert decided({"answer_correctness": 0.9}).dropped == {"groundedness": "the judge does not score it"}
    assert decided({"groundedness": 0.9}, expected_answer="30 days").dropped == {
        "answer_correctness": "the judge does not score it"
    }


def test_a_score_that_applies_but_could_not_be_measured_is_an_error() -> None:
    decision = decided({**GOOD, "groundedness": Score.unscored("the judge ran out of tokens")})
    assert decision.verdict is Verdict.ERROR
    assert decision.error == "groundedness could not be measured: the judge ran out of tokens"
    assert decision.error_kind == "unscored"


def test_a_percentage_does_not_pass_every_minimum() -> None:
    decision = decided({**GOOD, "groundedness": Score(85.0)})
    assert (decision.verdict, decision.error_kind) == (Verdict.ERROR, "unscored")
    assert decision.error == (
        "groundedness could not be measured: it is 85, and a metric with a threshold is from 0 to 1"
    )
    assert decided({**GOOD, "groundedness": Score(1 + 1e-9)}).verdict is Verdict.PASS


def test_a_score_without_a_threshold_may_be_unmeasured() -> None:
    assert decided({**GOOD, "f1": Score.unscored("broken")}).verdict is Verdict.PASS


def test_nothing_left_to_assert_is_an_error() -> None:
    decision = decided({"abstained": 0.0})
    assert decision.verdict is Verdict.ERROR
    assert decision.error_kind == "nothing_to_assert"
    assert decision.error == (
        "nothing is left to assert (answer_correctness: no expected answer; groundedness: the judge does not score it)."
        " Give the question an expected_answer, or assert another metric."
    )


def test_a_judge_without_scores_is_named_rather_than_the_question() -> None:
    assert decided({"abstained": 0.0}, expected_answer="30 days").error == (
        "nothing is left to assert (answer_correctness: the judge does not score it; "
        "groundedness: the judge does not score it). Return a Judgement with a score, or assert another metric."
    )


def test_without_a_judge_a_question_with_nothing_to_assert_is_measured_and_passes() -> None:
    decision = decided({"exact_match": 0.0, "f1": 0.1, "abstained": 0.0}, UNJUDGED, expected_answer="30 days")
    assert decision.verdict is Verdict.PASS
    assert decision.thresholds == {}


def test_without_a_judge_judged_metrics_are_dropped_and_the_rest_is_asserted() -> None:
    run = Thresholds(judge_minimum=0.7, minimums={"groundedness": 0.9, "f1": 0.5}, judged=False)
    decision = decided({"f1": 0.4, "abstained": 0.0}, run, expected_answer="30 days")
    assert decision.verdict is Verdict.FAIL
    assert decision.dropped == {"groundedness": "there is no judge"}
    assert decided({"abstained": 1.0}, UNJUDGED, answerable=False).thresholds == {}


def test_a_threshold_that_is_no_number_lets_nothing_pass() -> None:
    assert decided(GOOD, thresholds={"groundedness": math.nan}).verdict is Verdict.FAIL


def test_shortfalls_are_in_the_order_of_the_thresholds() -> None:
    scores = {"f1": Score(0.1), "groundedness": Score(0.2), "exact_match": Score.unscored("broken")}
    thresholds = {"groundedness": 0.7, "f1": 0.5, "exact_match": 1.0, "answer_correctness": 0.7}
    assert list(shortfalls(scores, thresholds).items()) == [("groundedness", 0.2), ("f1", 0.1)]


SHARE = st.floats(0, 1)


@given(st.dictionaries(st.sampled_from(["answer_correctness", "groundedness", "f1"]), SHARE, min_size=1), SHARE)
def test_a_verdict_is_a_pass_if_and_only_if_no_asserted_score_is_below_its_threshold(
    scores: dict[str, float], both: float
) -> None:
    decision = decided(scores, Thresholds(judge_minimum=both, minimums={"f1": 0.5}))
    below = [metric for metric, minimum in decision.thresholds.items() if round(scores[metric], 6) < round(minimum, 6)]
    assert decision.verdict is (Verdict.FAIL if below else Verdict.PASS)
    assert set(decision.thresholds) | set(decision.dropped) == {"answer_correctness", "groundedness", "f1"}
