"""The arithmetic of the four metrics, by hand."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_ragcheck.metrics.ragas.formulas import (
    answer_correctness,
    answer_relevancy,
    context_relevance,
    cosine_similarity,
    factuality,
    faithfulness,
)

SOME = st.integers(0, 50)
VECTORS = st.lists(st.floats(-1e3, 1e3), min_size=3, max_size=3).filter(lambda v: math.hypot(*v) > 1e-3)


def test_the_cosine_of_equal_opposite_and_unrelated_directions():
    assert cosine_similarity((3.0, 4.0), (6.0, 8.0)) == 1.0
    assert cosine_similarity((3.0, 4.0), (-3.0, -4.0)) == -1.0
    assert cosine_similarity((1.0, 0.0), (0.0, 7.0)) == 0.0
    assert cosine_similarity((1.0, 0.0), (3.0, 4.0)) == 0.6  # 3 / (1 * 5)


@given(VECTORS, VECTORS)
def test_a_cosine_is_never_out_of_its_range_and_the_same_both_ways(a, b):
    assert -1 <= cosine_similarity(a, b) <= 1
    assert cosine_similarity(a, b) == cosine_similarity(b, a)


def test_an_embedding_of_zeros_has_no_cosine():
    with pytest.raises(ValueError, match=r"^an embedding has no direction: all its numbers are 0$"):
        cosine_similarity((0.0, 0.0), (1.0, 0.0))


def test_relevancy_is_the_mean_cosine_to_the_questions_made_from_the_answer():
    generated = [(1.0, 0.0), (0.0, 1.0), (3.0, 4.0)]
    assert answer_relevancy((1.0, 0.0), generated) == pytest.approx((1 + 0 + 0.6) / 3)


@pytest.mark.parametrize(
    ("tp", "fp", "fn", "expected"),
    [
        (2, 0, 0, 1.0),
        (0, 3, 0, 0.0),
        (0, 0, 2, 0.0),
        (2, 1, 1, 2 / 3),  # precision 2/3, recall 2/3
        (1, 3, 0, 0.4),  # precision 1/4, recall 1: 2 * 0.25 / 1.25
    ],
)
def test_factuality_is_f1_of_statements(tp, fp, fn, expected):
    assert factuality(true_positives=tp, false_positives=fp, false_negatives=fn) == pytest.approx(expected, abs=1e-15)


def test_no_statements_at_all_are_no_perfect_factuality():
    with pytest.raises(ValueError, match=r"^neither the answer nor the expected answer makes a statement$"):
        factuality(true_positives=0, false_positives=0, false_negatives=0)


def test_correctness_is_three_parts_factuality_and_one_part_similarity():
    assert answer_correctness(0.4, 0.8) == pytest.approx(0.5)  # 0.75 * 0.4 + 0.25 * 0.8 = 0.3 + 0.2


@pytest.mark.parametrize(
    ("first", "second", "expected"), [(0, 0, 0.0), (2, 2, 1.0), (1, 2, 0.75), (0, 1, 0.25), (2, 0, 0.5)]
)
def test_context_relevance_is_the_mean_of_two_ratings_out_of_two(first, second, expected):
    assert context_relevance(first, second) == expected


@given(SOME, SOME)
def test_faithfulness_is_the_supported_share(supported, others):
    if supported + others:
        score = faithfulness(supported=supported, statements=supported + others)
        assert score == supported / (supported + others)
        assert 0 <= score <= 1
    else:
        with pytest.raises(ValueError, match=r"^the answer makes no statement$"):
            faithfulness(supported=0, statements=0)
