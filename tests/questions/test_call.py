from __future__ import annotations

from pathlib import Path
from typing import Any, cast

import pytest

from pytest_ragcheck.errors import UsageError
from pytest_ragcheck.questions.call import question_of_call
from pytest_ragcheck.questions.question import GoldPassage, Question
from pytest_ragcheck.questions.question_ids import id_mistake

ROOT = Path("/project")


A_B, A_C = (GoldPassage(doc_id="a", text=text) for text in "bc")


def called(question: Any = "How long?", **arguments: Any) -> Question:
    default: dict[str, Any] = {
        "test_file": ROOT / "tests" / "test_billing.py",
        "root": ROOT,
        "line": 12,
        "id": "test_refunds-1",
        "expected": None,
        "answerable": True,
        "must_mention": (),
        "must_not_mention": (),
        "must_cite": (),
        "must_not_retrieve": (),
        "thresholds": None,
        "top_k": None,
        "gold_passages": (),
        "tier": "end_to_end",
        "identity": "",
        "known_metrics": ("answer_correctness", "groundedness", "f1"),
    }
    return question_of_call(question, **{**default, **arguments})


def test_a_bare_call_is_a_question_of_the_tests_own_dataset() -> None:
    question = called()
    assert question == Question(dataset_name="tests__test_billing", id="test_refunds-1", question="How long?")
    assert (question.path, question.line) == (ROOT / "tests" / "test_billing.py", 12)


@pytest.mark.parametrize(
    ("expected", "first", "acceptable"),
    [
        (None, None, ()),
        ("30 days", "30 days", ("30 days",)),
        (["30 days", "a month", "30 days"], "30 days", ("30 days", "a month")),
        ([], None, ()),
    ],
)
def test_expected_is_one_answer_or_all_acceptable_ones(expected: Any, first: str | None, acceptable: Any) -> None:
    question = called(expected=expected)
    assert (question.expected_answer, question.acceptable_answers) == (first, acceptable)


def test_mentions_are_one_text_or_several() -> None:
    question = called(must_mention="30 days", must_not_mention=["/forever/i", "14"], answerable=False, top_k=3)
    assert (question.must_mention, question.must_not_mention) == (("30 days",), ("/forever/i", "14"))
    assert (question.answerable, question.top_k) == (False, 3)


@pytest.mark.parametrize(
    ("given", "thresholds"),
    [
        (None, {}),
        (0.8, {"answer_correctness": 0.8, "groundedness": 0.8}),
        (1, {"answer_correctness": 1.0, "groundedness": 1.0}),
        ({"f1": 0}, {"f1": 0.0}),
    ],
)
def test_thresholds_are_a_number_for_both_scores_or_numbers_by_metric(given: Any, thresholds: dict[str, float]) -> None:
    found = called(thresholds=given).thresholds
    assert found == thresholds
    assert all(type(value) is float for value in found.values())


@pytest.mark.parametrize(
    ("given", "passages"),
    [
        ("Within 30 days.", (GoldPassage(text="Within 30 days."),)),
        ({"doc_id": "terms.md"}, (GoldPassage(doc_id="terms.md"),)),
        ([{"id": "a", "page_content": "b"}, {"doc_id": "a", "text": "c"}], (A_B, A_C)),
        ([{"doc_id": None, "text": "b"}, A_C], (GoldPassage(text="b"), A_C)),
        ({"text": "b", "as": "alice"}, (GoldPassage(text="b", identity="alice"),)),
    ],
)
def test_gold_passages_are_written_as_in_question_files(given: Any, passages: tuple[GoldPassage, ...]) -> None:
    assert called(gold_passages=given).gold_passages == passages


@pytest.mark.parametrize(
    "given",
    [
        {},
        {"doc_id": ""},
        {"text": "a", "page": "3"},
        {"doc_id": 7},
        {"text": None},
        {"as": "a"},
        7,
        GoldPassage(text=cast("str", None), doc_id="a"),
    ],
)
def test_no_other_gold_passage_is_taken(given: Any) -> None:
    with pytest.raises(UsageError, match="rag_check: gold_passages: found"):
        called(gold_passages=[given])


@pytest.mark.parametrize("given", ["TestA::test_b-1", "test_b[Paris]-1", "test_b[a::b-[c]]-2"])
def test_an_id_is_one_that_a_question_file_may_have(given: str) -> None:
    assert id_mistake(called(id=given).id) is None


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        ({"question": " "}, "rag_check: the question is ' '; give a text."),
        ({"question": 5}, "rag_check: the question is 5; give a text."),
        ({"expected": ""}, "rag_check: expected is ''; give a text, or leave it out."),
        ({"expected": 30}, "rag_check: expected is 30; give a text, or leave it out."),
        ({"expected": ["30", None]}, "rag_check: expected is None; give a text, or leave it out."),
        ({"must_mention": [1]}, "rag_check: must_mention is 1; give a text, or leave it out."),
        ({"must_not_mention": " "}, "rag_check: must_not_mention is ' '; give a text, or leave it out."),
        (
            {"must_mention": "/a/x"},
            "rag_check: must_mention: the regular expression /a/x has the flags 'x'. Use 'i' or none.",
        ),
        ({"thresholds": True}, "rag_check: thresholds: answer_correctness is True; give a number from 0 to 1."),
        ({"thresholds": float("nan")}, "rag_check: thresholds: answer_correctness is nan; give a number from 0 to 1."),
        ({"thresholds": {"f1": "1"}}, "rag_check: thresholds: f1 is '1'; give a number from 0 to 1."),
        (
            {"thresholds": {"f2": 1}},
            (
                "rag_check: thresholds: there is no metric 'f2'; the metrics are answer_correctness, groundedness, f1, "
                "latency_seconds, first_token_seconds, cost_usd."
            ),
        ),
        ({"top_k": 0}, "rag_check: top_k is 0; give a whole number from 1."),
        ({"top_k": True}, "rag_check: top_k is True; give a whole number from 1."),
        ({"top_k": "5"}, "rag_check: top_k is '5'; give a whole number from 1."),
        ({"answerable": "no"}, "rag_check: answerable is 'no'; give True or False."),
    ],
)
def test_an_argument_that_cannot_be_used_is_refused(arguments: dict[str, Any], problem: str) -> None:
    with pytest.raises(UsageError) as caught:
        called(**arguments)
    assert str(caught.value) == problem
