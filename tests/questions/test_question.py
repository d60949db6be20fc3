from __future__ import annotations

import json
import pickle
from copy import deepcopy
from dataclasses import FrozenInstanceError, asdict, replace
from pathlib import Path
from typing import Any

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


@pytest.mark.parametrize("change", ["thresholds['f1'] = 0.0", "thresholds.clear()", "thresholds.update(f1=0.0)"])
def test_the_thresholds_of_a_question_cannot_be_changed(change: str) -> None:
    given = {"f1": 0.9}
    question = Question(dataset_name="d", id="q", question="Why?", thresholds=given)
    with pytest.raises(FrozenInstanceError, match=r"^cannot change the thresholds of a question; its file or "):
        exec(change, {"thresholds": question.thresholds})
    given["f1"] = 0.0
    assert question.thresholds == {"f1": 0.9}


def test_the_thresholds_of_a_question_can_be_copied_and_written() -> None:
    question = Question(dataset_name="d", id="q", question="Why?", thresholds={"f1": 0.9})
    copies: list[Any] = [pickle.loads(pickle.dumps(question)), deepcopy(question), replace(question, line=3)]
    assert copies == [question] * 3
    assert json.dumps(question.thresholds) == '{"f1": 0.9}'
    assert asdict(question)["thresholds"] == {"f1": 0.9}
