from __future__ import annotations

import json
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from pytest_ragcheck.questions.fields.question_file_schema import question_file_schema
from pytest_ragcheck.questions.mention import is_regex
from pytest_ragcheck.questions.question import GoldPassage, Question, in_conversation
from pytest_ragcheck.questions.question_ids import id_mistake
from pytest_ragcheck.questions.question_rows import question_row, questions_document
from tests.questions.reading import METRICS, read

VALIDATOR = Draft202012Validator(question_file_schema())

METRIC: st.SearchStrategy[str] = st.sampled_from(METRICS)
ANY = st.text(st.characters(exclude_categories=["Cs"]))
TEXT = ANY.filter(str.strip)
MANY = st.lists(TEXT, max_size=3).map(tuple)
MENTIONS = st.lists(TEXT.filter(lambda text: not is_regex(text)) | st.just("/a+/i"), max_size=3).map(tuple)
TAGS = st.lists(st.from_regex(r"\A[A-Za-z][A-Za-z0-9_]{0,8}\Z"), max_size=3, unique=True).map(tuple).filter(
    lambda tags: not {"and", "or", "not", "slow", "skipif"} & set(tags)
)  # fmt: skip
METADATA = st.dictionaries(
    ANY,
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | ANY,
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(ANY, inner, max_size=3),
        max_leaves=5,
    ),
    max_size=3,
)


@st.composite
def passages(draw: st.DrawFn) -> tuple[GoldPassage, ...]:
    # One text for a document's id, as a file demands: here the text is made from the id.
    ids = draw(st.lists(st.none() | TEXT, max_size=3))
    return tuple(GoldPassage(doc_id=doc_id, text=f"text of {doc_id}") for doc_id in ids)


@st.composite
def questions(draw: st.DrawFn, question_id: str) -> Question:
    answerable = draw(st.booleans())
    return Question(
        dataset_name="a dataset",
        id=question_id,
        question=draw(TEXT),
        expected_answer=draw(st.none() | TEXT) if answerable else None,
        all_acceptable_answers=draw(MANY) if answerable else (),
        must_mention=draw(MENTIONS),
        must_not_mention=draw(MENTIONS),
        must_cite=draw(MENTIONS),
        gold_passages=draw(passages()),
        distractors=draw(passages()),
        answerable=answerable,
        thresholds=draw(st.dictionaries(METRIC, st.floats(0, 1))),
        top_k=draw(st.none() | st.integers(1, 999_999_999)),
        tags=draw(TAGS),
        skip=draw(st.none() | TEXT),
        xfail=draw(st.none() | TEXT),
        metadata=draw(METADATA),
    )


@st.composite
def question_lists(draw: st.DrawFn) -> tuple[Question, ...]:
    valid = TEXT.filter(lambda text: id_mistake(text) is None)
    ids = draw(st.lists(valid, min_size=1, max_size=3, unique=True))
    made = [draw(questions(question_id)) for question_id in ids]
    if draw(st.booleans()):
        return (made[0], *in_conversation("a conversation", made[1:]))
    return tuple(made)


@given(question_lists(), st.booleans())
def test_what_is_written_keeps_the_schema_and_reads_back_as_the_same_questions(
    written: tuple[Question, ...], ensure_ascii: bool
) -> None:
    text = json.dumps(questions_document("a dataset", written), ensure_ascii=ensure_ascii)

    VALIDATOR.validate(json.loads(text))
    with TemporaryDirectory() as folder:
        read_back = read(Path(folder), text, "a dataset_questions.json")
    assert read_back.questions == written
    assert read_back.dataset_name == "a dataset"


def test_a_plain_question_is_written_as_the_four_keys_that_reading_scripts_expect() -> None:
    question = Question(
        dataset_name="natural_questions",
        id="0",
        question="when was the last time anyone was on the moon",
        expected_answer="14 December 1972 UTC",
        all_acceptable_answers=("December 1972", "1972"),
    )

    document = questions_document("natural_questions", [question])

    assert list(document) == ["schema_version", "dataset_name", "num_questions", "questions"]
    assert document["num_questions"] == 1
    assert list(document["questions"][0].items()) == [
        ("id", "0"),
        ("question", "when was the last time anyone was on the moon"),
        ("expected_answer", "14 December 1972 UTC"),
        ("all_acceptable_answers", ["14 December 1972 UTC", "December 1972", "1972"]),
    ]


def test_a_question_without_answers_keeps_the_four_keys() -> None:
    assert question_row(Question(dataset_name="d", id="q", question="Why?", answerable=False)) == {
        "id": "q",
        "question": "Why?",
        "expected_answer": None,
        "all_acceptable_answers": [],
        "answerable": False,
    }


def test_keys_come_in_one_order_and_only_where_they_say_something() -> None:
    row = question_row(
        Question(
            dataset_name="d",
            id="q",
            question="Why?",
            must_mention=("a",),
            must_not_mention=("b",),
            must_cite=("a.md",),
            gold_passages=(GoldPassage(text="t"), GoldPassage(text="u", doc_id="1")),
            distractors=(GoldPassage(text="v"),),
            thresholds={"f1": 0.5},
            top_k=3,
            tags=("x",),
            skip="later",
            xfail="weak",
            metadata={"n": 0},
        )
    )

    assert list(row)[4:] == [
        "must_mention", "must_not_mention", "must_cite", "gold_passages", "distractors", "thresholds", "top_k",
        "tags", "skip",
        "xfail", "metadata",
    ]  # fmt: skip
    assert row["gold_passages"] == [{"text": "t"}, {"doc_id": "1", "text": "u"}]
    assert row["metadata"] == {"n": 0}


def test_metadata_from_a_call_becomes_json_whatever_it_holds() -> None:
    metadata: dict[Any, Any] = {1: (1, 2.5), "nan": float("nan"), "path": Path("a"), "none": None, "yes": True}

    row = question_row(Question(dataset_name="d", id="q", question="Why?", metadata=metadata))

    assert row["metadata"] == {"1": [1, 2.5], "nan": "nan", "path": "a", "none": None, "yes": True}
