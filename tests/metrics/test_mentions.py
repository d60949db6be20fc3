from __future__ import annotations

import unicodedata

import pytest

from pytest_ragcheck.metrics.mentions import (
    forbidden_mentions,
    missing_mentions,
    must_mention_score,
    must_not_mention_score,
)
from pytest_ragcheck.questions.question import Question


def asked(*, must: tuple[str, ...] = (), must_not: tuple[str, ...] = ()) -> Question:
    return Question(dataset_name="d", id="q", question="When?", must_mention=must, must_not_mention=must_not)


def test_the_share_of_demanded_mentions_is_measured_and_the_missing_ones_are_named() -> None:
    question = asked(must=("30 days", "/refunds?/i", "receipt", "form"))
    answer = "Refunds are given within 30 days."

    assert must_mention_score(answer, question) == 0.5  # 2 of 4
    assert missing_mentions(answer, question) == ("receipt", "form")


def test_the_share_of_absent_forbidden_mentions_is_measured_and_the_present_ones_are_named() -> None:
    question = asked(must_not=("14 days", "/never/i", "Mars", "Venus"))
    answer = "Never: it takes 14 days."

    assert must_not_mention_score(answer, question) == 0.5  # 2 of 4 are absent
    assert forbidden_mentions(answer, question) == ("14 days", "/never/i")


@pytest.mark.parametrize(("answer", "score"), [("a b", 1.0), ("", 0.0)])
def test_scores_reach_both_ends(answer: str, score: float) -> None:
    assert must_mention_score(answer, asked(must=("a", "b"))) == score
    assert must_not_mention_score(answer, asked(must_not=("a", "b"))) == 1 - score


def test_without_mentions_there_is_no_score() -> None:
    assert must_mention_score("x", asked()) is None
    assert must_not_mention_score("x", asked()) is None
    assert missing_mentions("x", asked()) == forbidden_mentions("x", asked()) == ()


@pytest.mark.parametrize("form", ["NFC", "NFD"])
def test_composed_and_decomposed_letters_are_the_same(form: str) -> None:
    question = asked(must=(unicodedata.normalize("NFD", "Zürich"), "/^in Zürich$/i"))

    assert must_mention_score(unicodedata.normalize(form, "In Zürich"), question) == 1.0  # type: ignore[arg-type]
