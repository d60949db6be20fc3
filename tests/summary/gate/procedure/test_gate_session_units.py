"""Units of noise: questions, or the documents that they share."""

from __future__ import annotations

import random

import pytest

from pytest_ragcheck.summary.gate.procedure.gate_session import are_correlated, by_document, units_of
from tests.summary.gate.procedure.outside import broke, look, question, steady


def test_questions_that_share_a_document_directly_or_by_others_are_one_unit() -> None:
    questions = [steady(0, document="a"), steady(1, document="b"), steady(2, document="a"), steady(3)]
    unit = by_document(questions)
    assert unit["set", "0"] == unit["set", "2"]
    assert len(set(unit.values())) == 3


def test_a_lost_document_is_counted_by_question() -> None:
    questions = [(broke if n < 10 else steady)(n, document=f"page {n // 10}") for n in range(50)]
    kind, unit = units_of(questions, [("set", str(n)) for n in range(10)])
    assert kind == "question"
    assert len(set(unit.values())) == 50


def test_other_words_everywhere_make_the_document_the_unit() -> None:
    questions = [
        question(n, before=look(f"{n} a", 0.9), now=look(f"{n} b", 0.9), document=f"page {n // 10}") for n in range(50)
    ]
    kind, unit = units_of(questions, [])
    assert kind == "document"
    assert len(set(unit.values())) == 5


@pytest.mark.parametrize(("changed", "kind"), [(5, "question"), (6, "document")])
def test_other_words_in_a_tenth_of_the_answers_leave_the_question_the_unit(changed: int, kind: str) -> None:
    before, now = look("a", 0.9), look("b", 0.9)
    questions = [
        question(n, before=before, now=now if n < changed else before, document=f"page {n // 10}") for n in range(50)
    ]
    assert units_of(questions, [])[0] == kind


def test_without_shared_documents_the_question_is_the_unit() -> None:
    questions = [
        question(n, before=look(f"{n} a", 0.9), now=look(f"{n} b", 0.9), document=f"page {n}") for n in range(50)
    ]
    assert units_of(questions, [])[0] == "question"


def test_differences_that_go_together_within_documents_are_noticed() -> None:
    chance = random.Random(1)
    shared = [chance.gauss(0, 0.1) for _ in range(20)]
    noise = [(chance.gauss(0, 0.05), [f"page {n // 10}"]) for n in range(200)]
    assert not are_correlated(noise)
    assert are_correlated((value + shared[n // 10], pages) for n, (value, pages) in enumerate(noise))


def test_equal_differences_of_six_questions_of_a_document_correlate_and_of_five_do_not() -> None:
    # The products of n equal differences are n(n-1)/2 squares, as is their variance: its root is above 3.5 from n = 6.
    assert not are_correlated([(0.1, ["page"])] * 5)
    assert are_correlated([(0.1, ["page"])] * 6)
    assert are_correlated([(-0.1, ["page"])] * 6)
    assert not are_correlated((0.1 if n % 2 else -0.1, ["page"]) for n in range(6))
    assert not are_correlated((0.1, [f"page {n}"]) for n in range(100))
