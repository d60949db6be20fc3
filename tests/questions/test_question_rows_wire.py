from __future__ import annotations

import json
from dataclasses import fields
from pathlib import Path

from pytest_ragcheck.questions.question import EarlierTurn, GoldPassage, Question, QuestionSet
from pytest_ragcheck.questions.question_rows import question_from_wire, question_to_wire, set_from_wire, set_to_wire

FULL = Question(
    dataset_name="billing",
    id="refunds",
    question="Wie lange? \ud800 😀",
    expected_answer="30 days",
    all_acceptable_answers=("30 days", "a month"),
    must_mention=("30",),
    must_not_mention=("/forever/i",),
    must_cite=("terms.md",),
    must_not_retrieve=("salaries.md",),
    identity="alice",
    lacks_gold=True,
    tier="generation",
    ingest=True,
    gold_passages=(GoldPassage(text="30 days.", doc_id="b:1"), GoldPassage(text="A month.")),
    distractors=(GoldPassage(text="14 days.", identity="bob"),),
    answerable=False,
    thresholds={"f1": 0.5},
    top_k=3,
    tags=("slow",),
    skip="no",
    xfail="known",
    quarantine="flaky",
    metadata={"team": {"people": [1, None]}},
    conversation="refunds",
    turn=2,
    earlier=(Question(dataset_name="billing", id="refunds[turn1]", question="A?", conversation="refunds", turn=1),),
    history=(EarlierTurn(question="A?", answer="30 days", contexts=("30 days.",)),),
    path=Path("tests/billing.rag.yaml"),
    line=7,
)
BARE = Question(dataset_name="billing", id="a", question="A?")


def test_the_full_question_leaves_no_field_at_its_default() -> None:
    assert not [
        f.name
        for f in fields(Question)
        if getattr(FULL, f.name) == getattr(BARE, f.name) != "billing" and f.name != "session"
    ]


def test_a_question_crosses_whole_its_file_and_line_too() -> None:
    for question in (FULL, BARE):
        back = question_from_wire(json.loads(json.dumps(question_to_wire(question))))
        assert back == question
        assert (back.path, back.line) == (question.path, question.line)
        assert back.history == question.history
        assert back.location == question.location


def test_a_set_crosses_whole() -> None:
    questions = QuestionSet(
        dataset_name="billing",
        path=Path("b.rag.yaml"),
        questions=(FULL, BARE),
        tier="generation",
        ingest=False,
    )
    assert set_from_wire(json.loads(json.dumps(set_to_wire(questions)))) == questions
