from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from pytest_ragcheck.questions.question import Question


@pytest.mark.parametrize(
    ("expected", "listed", "union"),
    [
        (None, (), ()),
        ("a", (), ("a",)),
        ("a", ("b", "a", "b"), ("a", "b")),
        (None, ("b", "a"), ("b", "a")),
    ],
)
def test_every_accepted_answer_is_listed_once_the_expected_one_first(
    expected: str | None, listed: tuple[str, ...], union: tuple[str, ...]
) -> None:
    question = Question(
        dataset_name="d", id="q", question="Why?", expected_answer=expected, all_acceptable_answers=listed
    )

    assert question.acceptable_answers == question.all_acceptable_answers == union


def test_where_a_question_stands_does_not_make_it_another() -> None:
    bare = Question(dataset_name="d", id="q", question="Why?")
    placed = Question(dataset_name="d", id="q", question="Why?", path=Path("a.rag.yaml"), line=3)

    assert bare == placed
    assert (bare.location, placed.location) == ("", "a.rag.yaml:3")


def test_each_question_has_thresholds_of_its_own() -> None:
    given = {"f1": 0.9}
    one = Question(dataset_name="d", id="q", question="Why?", thresholds=given)
    other = replace(one, id="r")
    given["f1"] = 0.0
    other.thresholds["f1"] = 0.5  # type: ignore[index]
    assert one.thresholds == {"f1": 0.9}
