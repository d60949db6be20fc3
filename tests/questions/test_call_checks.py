"""Questions of Python code have the values that a question file could give them."""

from __future__ import annotations

from typing import Any, cast

import pytest

from pytest_ragcheck.errors import UsageError
from pytest_ragcheck.questions.call import check_values
from pytest_ragcheck.questions.question import GoldPassage, Question, in_conversation
from tests.making import a_question

KNOWN = ("groundedness", "f1")


def check(question: Question) -> None:
    check_values(question, known_metrics=KNOWN, given_as="evaluate")


def test_lists_are_as_good_as_tuples() -> None:
    lists: dict[str, Any] = {"must_mention": ["/a/i"], "tags": ["smoke"], "gold_passages": [GoldPassage(text="a")]}
    check(a_question(expected_answer=None, thresholds={"f1": 1, "cost_usd": 2}, top_k=1, skip="", **lists))


def test_a_turn_of_a_conversation_may_have_brackets_in_its_id() -> None:
    for turn in in_conversation("refunds", [a_question("a"), a_question("b")]):
        check(turn)


@pytest.mark.parametrize(
    ("values", "problem"),
    [
        ({"dataset_name": ""}, "question 'a': dataset_name is ''; give a text."),
        ({"id": 3}, "question 3: id is 3; give a text."),
        ({"id": "a::b"}, "question 'a::b' has '::' in its id, where pytest separates file and test. "),
        ({"question": None}, "question 'a': question is None; give a text."),
        ({"expected_answer": 30}, "question 'a': expected_answer is 30; give a text or None."),
        ({"expected_answer": ""}, "question 'a': expected_answer is ''; give a text or None."),
        ({"all_acceptable_answers": (30,)}, "question 'a': all_acceptable_answers is (30,); give a tuple of texts."),
        ({"must_mention": "30"}, "question 'a': must_mention is '30'; give a tuple of texts."),
        ({"must_not_mention": ("/(/",)}, "question 'a': must_not_mention: the regular expression /(/ is invalid: "),
        ({"must_cite": (None,)}, "question 'a': must_cite is (None,); give a tuple of texts."),
        ({"tags": {"smoke"}}, "question 'a': tags is {'smoke'}; give a tuple of texts."),
        (
            {"gold_passages": ("x",)},
            "question 'a': gold_passages is ('x',); give a tuple of GoldPassage objects, with text='' for none.",
        ),
        (
            {"gold_passages": (GoldPassage(text=cast("str", None), doc_id="a"),)},
            (
                "question 'a': gold_passages is (GoldPassage(text=None, doc_id='a', identity=''),); "
                "give a tuple of GoldPassage objects, with text='' for none."
            ),
        ),
        (
            {"distractors": (GoldPassage(text="a", doc_id=cast("str", 5)),)},
            (
                "question 'a': distractors is (GoldPassage(text='a', doc_id=5, identity=''),); "
                "give a tuple of GoldPassage objects, with text='' for none."
            ),
        ),
        ({"answerable": "no"}, "question 'a': answerable is 'no'; give True or False."),
        ({"top_k": 0}, "question 'a': top_k is 0; give a whole number from 1."),
        ({"skip": True}, "question 'a': skip is True; give a text or None."),
        ({"tier": "all"}, "question 'a': tier is 'all'; give one of generation, retrieval, end_to_end."),
        ({"metadata": 3}, "question 'a': metadata is 3; give a mapping."),
        ({"thresholds": 0.9}, "question 'a': thresholds is 0.9; give a mapping."),
        ({"thresholds": {"f1": 7}}, "question 'a': thresholds: f1 is 7; give a number from 0 to 1."),
        (
            {"thresholds": {"f2": 0.5}},
            "question 'a': thresholds: there is no metric 'f2'; the metrics are groundedness, f1, ",
        ),
    ],
)
def test_a_value_that_no_question_file_could_give_is_refused(values: dict[str, Any], problem: str) -> None:
    with pytest.raises(UsageError) as caught:
        check(a_question("a", **values))
    assert str(caught.value).startswith(f"evaluate: {problem}")


def test_one_text_is_not_taken_for_the_letters_of_several_answers() -> None:
    answers: Any = "thirty days"
    with pytest.raises(UsageError) as caught:
        a_question(all_acceptable_answers=answers)
    assert str(caught.value) == "Question: all_acceptable_answers is 'thirty days'; give a tuple of texts."


def test_several_expected_answers_are_no_single_one() -> None:
    answers: Any = ["30 days", "a month"]
    with pytest.raises(UsageError) as caught:
        a_question(expected_answer=answers)
    assert str(caught.value) == (
        "Question: expected_answer is ['30 days', 'a month']; give them as all_acceptable_answers."
    )
