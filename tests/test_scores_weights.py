from __future__ import annotations

import math
import re
from decimal import Decimal
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_ragcheck.scores import DEFAULT_WEIGHTS, Overall, Score, weighted

RELEVANCY, CORRECTNESS, CONTEXT, FAITHFULNESS = DEFAULT_WEIGHTS


def test_the_weights_are_those_of_the_design() -> None:
    assert DEFAULT_WEIGHTS == {
        "ragas_answer_relevancy": 0.30,
        "ragas_answer_correctness": 0.30,
        "ragas_context_relevance": 0.25,
        "ragas_faithfulness": 0.15,
    }


def test_all_four_are_taken_by_their_weights() -> None:
    scores = {RELEVANCY: Score(0.9), CORRECTNESS: Score(0.8), CONTEXT: Score(0.5), FAITHFULNESS: Score(1.0)}
    # 0.27 + 0.24 + 0.125 + 0.15
    assert weighted(scores, DEFAULT_WEIGHTS) == Overall(score=Score(0.785), lacks=())


def test_it_is_over_the_metrics_that_have_results_and_says_which_have_none() -> None:
    scores = {CORRECTNESS: Score(0.8), CONTEXT: Score.unscored("no reply"), FAITHFULNESS: Score(0.5)}
    # (0.30 * 0.8 + 0.15 * 0.5) / 0.45
    overall = weighted(scores, DEFAULT_WEIGHTS)
    assert overall is not None
    assert overall.score.value == pytest.approx(0.7)
    assert overall.lacks == (RELEVANCY, CONTEXT)


def test_a_combined_metric_is_unmeasured_or_not_applicable_if_all_its_parts_are() -> None:
    unscored = {CONTEXT: Score.unscored("a"), FAITHFULNESS: Score.unscored("b")}
    overall = weighted(unscored, DEFAULT_WEIGHTS)
    assert overall is not None
    assert overall.score == Score.unscored(f"none of {CONTEXT}, {FAITHFULNESS} could be measured")
    assert overall.lacks == tuple(DEFAULT_WEIGHTS)
    assert weighted({"f1": Score(1.0)}, DEFAULT_WEIGHTS) is None


@given(
    st.dictionaries(st.sampled_from("abcd"), st.floats(0, 1), min_size=1), st.floats(1e-6, 1e6), st.floats(0.01, 100)
)
def test_it_lies_among_its_values_and_the_sum_of_the_weights_does_not_matter(
    values: dict[str, float], first: float, factor: float
) -> None:
    weights = {"a": first, "b": 1.0, "c": 0.5, "d": 3.0}
    scores = {name: Score(value) for name, value in values.items()}
    overall = weighted(scores, weights)
    scaled = weighted(scores, {name: weight * factor for name, weight in weights.items()})
    assert overall is not None
    assert scaled is not None
    assert overall.score.value is not None
    assert min(values.values()) <= overall.score.value <= max(values.values())
    assert scaled.score.value == pytest.approx(overall.score.value, abs=1e-12)
    assert set(overall.lacks) == weights.keys() - values.keys()


def test_a_score_of_zero_has_no_sign() -> None:
    assert f"{Score(-0.0).value:.2f}" == "0.00"


@pytest.mark.parametrize("value", [Decimal("0.25"), Fraction(1, 4)])
def test_a_score_of_any_kind_of_number_has_a_plain_one(value: Any) -> None:
    assert type(Score(value).value) is float
    assert Score(value) == Score(0.25)


@pytest.mark.parametrize("value", [math.nan, math.inf, 10**400, "0.5"])
def test_a_score_that_is_no_finite_number_is_refused(value: Any) -> None:
    with pytest.raises(ValueError, match=re.escape(f"a score is a number from -1e+100 to 1e+100, not {value!r}")):
        Score(value)
