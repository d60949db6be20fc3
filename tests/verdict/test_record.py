from __future__ import annotations

import json
from dataclasses import fields, replace
from pathlib import Path
from types import MappingProxyType

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_ragcheck.judging.judgement import JudgeIdentity
from pytest_ragcheck.questions.question import GoldPassage, Question
from pytest_ragcheck.scores import Score
from pytest_ragcheck.verdict.record import QuestionErrored, QuestionFailed, Record, sharing
from pytest_ragcheck.verdict.verdict import Verdict
from tests.making import a_question, a_record, an_error

FULL = Record(
    question=Question(
        dataset_name="billing",
        id="refunds",
        question="How long?",
        expected_answer="30 days",
        all_acceptable_answers=("a month",),
        must_mention=("30",),
        must_not_mention=("/forever/i",),
        must_cite=("terms.md",),
        gold_passages=(GoldPassage(text="30 days.", doc_id="b:1"), GoldPassage(text="A month.")),
        distractors=(GoldPassage(text="14 days."),),
        thresholds=MappingProxyType({"f1": 0.5}),
        top_k=3,
        tags=("slow",),
        skip="no",
        xfail="known",
        metadata=MappingProxyType({"team": {"name": "billing", "people": [1, 2.5, None, True]}}),
        path=Path("tests/billing.rag.yaml"),
        line=7,
    ),
    verdict=Verdict.FAIL,
    answer="14 \ud800 days 😀",
    contexts=("a", "b"),
    source_ids=("1", "2"),
    latency_seconds=0.25,
    scores={"groundedness": Score(0.1), "f1": Score.unscored("broken")},
    overall_lacks=("ragas_faithfulness",),
    blame="grounding",
    thresholds={"groundedness": 0.7},
    dropped=MappingProxyType({"answer_correctness": "no expected answer"}),
    reason="It is 30 days.",
    error_kind="",
    unsupported_claims=("14 days",),
    repeated={"groundedness": ((0.1, 0.4), (0.1, 0.1))},
    unstable={"groundedness": 0.3},
    judge=JudgeIdentity(kind="openai", model="m", url="http://j/v1", prompt_version="en-1"),
    endpoint="http://localhost/query",
)


@pytest.mark.parametrize("record", [FULL, a_record(), an_error("x"), a_record(judge=None, source_ids=None)], ids=repr)
def test_a_record_crosses_processes_whole_as_one_ascii_text(record: Record) -> None:
    text = record.to_json()
    assert text.isascii()
    back = Record.from_json(text)
    assert back == record
    assert (back.question.path, back.question.line) == (record.question.path, record.question.line)


TEXTS = st.text(max_size=20)
SCORES = st.floats(0, 1).map(Score) | TEXTS.map(Score.unscored)


RECORDS = st.builds(
    lambda metadata, **said: a_record(question=a_question(metadata=metadata), **said),
    answer=st.none() | TEXTS,
    contexts=st.lists(TEXTS, max_size=3).map(tuple),
    source_ids=st.none() | st.lists(TEXTS, max_size=3).map(tuple),
    scores=st.dictionaries(TEXTS, SCORES, max_size=3),
    reason=TEXTS,
    latency_seconds=st.none() | st.floats(0, 1e9),
    metadata=st.dictionaries(TEXTS, st.none() | st.integers() | TEXTS | st.lists(st.booleans()), max_size=3),
)


@given(RECORDS)
def test_any_record_comes_back_as_it_went(record: Record) -> None:
    assert Record.from_json(record.to_json()) == record


def test_metadata_that_json_has_no_type_for_crosses_as_text() -> None:
    metadata = {"path": Path("a/b"), "inside": MappingProxyType({"set": {1}})}
    crossed = Record.from_json(a_record(question=a_question(metadata=metadata)).to_json())
    assert crossed.question.metadata == {"path": "a/b", "inside": {"set": "{1}"}}


def test_a_record_has_nothing_but_builtin_types_on_its_way() -> None:
    def types(value: object) -> set[type]:
        inside = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
        return {type(value)}.union(*map(types, inside))

    assert types(json.loads(FULL.to_json())) <= {dict, list, str, int, float, bool, type(None)}


def test_its_repr_is_short_since_pytest_shows_it_beside_the_failure_text() -> None:
    assert repr(FULL) == "<Record billing::refunds FAIL>"


def test_a_record_is_true_if_it_is_a_pass_since_tests_assert_it() -> None:
    failed = replace(a_record("a"), verdict=Verdict.FAIL)
    assert [bool(record) for record in (a_record("a"), failed, an_error("a"))] == [True, False, False]


def test_a_pass_raises_nothing() -> None:
    a_record().assert_passed()
    a_record().assert_measured()


def test_a_fail_raises_with_its_numbers_first_but_is_measured() -> None:
    FULL.assert_measured()
    with pytest.raises(QuestionFailed, match=r"\Agroundedness 0\.10 < 0\.70: It is 30 days\.\n") as caught:
        FULL.assert_passed()
    assert caught.value.record is FULL
    assert str(caught.value) == FULL.text()
    assert FULL.shortfalls == {"groundedness": 0.1}


def test_an_error_raises_either_way() -> None:
    record = an_error("x")
    for check in (record.assert_passed, record.assert_measured):
        with pytest.raises(QuestionErrored, match=r"\Ano reply within 60 s\n") as caught:
            check()
        assert caught.value.record is record


def test_json_leaves_out_what_is_the_default() -> None:
    document = json.loads(a_record("a", answer=None).to_json())
    assert document.keys().isdisjoint({"answer", "evidence", "maximums", "verdict_cached"})
    assert document["question"].keys().isdisjoint({"tags", "skip", "earlier"})


def test_json_with_every_field_is_read_too() -> None:
    whole = {each.name: None for each in fields(Record)} | json.loads(a_record("a").to_json())
    assert Record.from_json(json.dumps(whole)) == Record.from_json(a_record("a").to_json())


def test_of_two_records_what_is_alike_can_be_in_memory_once() -> None:
    other = Record.from_json(FULL.to_json())
    shared = sharing(other, FULL)
    assert shared == other
    assert shared.judge is FULL.judge
    assert shared.thresholds is FULL.thresholds
    assert shared.cost is FULL.cost


def test_a_number_that_is_written_otherwise_is_not_shared() -> None:
    whole = replace(FULL, thresholds={"groundedness": 1}, dropped={})
    shared = sharing(replace(FULL, thresholds={"groundedness": 1.0}), whole)
    assert repr(shared.thresholds) == "{'groundedness': 1.0}"
    assert shared.dropped == FULL.dropped
