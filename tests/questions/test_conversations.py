"""A question file may hold conversations, whose turns are questions."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from tests.questions.reading import problems, read

if TYPE_CHECKING:
    from pathlib import Path

REFUND = """
dataset_name: billing
defaults: {top_k: 5, tags: [billing], thresholds: {f1: 0.2}}
questions:
  - question: Who pays?
  - id: refund
    tags: [talk]
    thresholds: {groundedness: 0.8}
    xfail: new
    turns:
      - question: How long can I send it back?
        expected_answer: 30 days
        gold_passages: [{doc_id: terms.md, text: 30 days.}]
      - And in the sale?
      - question: Who pays for it?
        thresholds: {groundedness: 0.9}
        top_k: 2
        tags: [cost]
        xfail: false
"""


def test_each_turn_is_a_question_with_its_own_keys_and_those_of_its_conversation(tmp_path: Path) -> None:
    plain, *turns = read(tmp_path, REFUND).questions

    assert (plain.conversation, plain.turn, plain.earlier) == ("", None, ())
    assert [(turn.id, turn.conversation, turn.turn, turn.line) for turn in turns] == [
        ("refund[turn1]", "refund", 1, 11),
        ("refund[turn2]", "refund", 2, 14),
        ("refund[turn3]", "refund", 3, 15),
    ]
    assert [turn.question for turn in turns] == ["How long can I send it back?", "And in the sale?", "Who pays for it?"]
    assert [turn.top_k for turn in turns] == [5, 5, 2]
    assert [turn.tags for turn in turns] == [("billing", "talk"), ("billing", "talk"), ("billing", "talk", "cost")]
    assert [turn.thresholds for turn in turns] == [
        {"f1": 0.2, "groundedness": 0.8},
        {"f1": 0.2, "groundedness": 0.8},
        {"f1": 0.2, "groundedness": 0.9},
    ]
    assert [turn.xfail for turn in turns] == ["new", "new", None]
    assert [[each.id for each in turn.earlier] for turn in turns] == [
        [],
        ["refund[turn1]"],
        ["refund[turn1]", "refund[turn2]"],
    ]


def test_a_line_of_json_lines_is_a_conversation_too(tmp_path: Path) -> None:
    lines = [{"id": "refund", "turns": ["How long?", {"question": "And abroad?"}]}, {"turns": ["Only one?"]}]

    content = "\n".join(map(json.dumps, lines))
    first, second, alone = read(tmp_path, content, "billing.rag.jsonl").questions

    assert (first.id, second.id, second.earlier) == ("refund[turn1]", "refund[turn2]", (first,))
    assert alone.id == f"{alone.conversation}[turn1]"
    assert alone.conversation.startswith("only-one-")


@pytest.mark.parametrize(
    ("entry", "problem"),
    [
        ("turns: []", " has an empty list of 'turns'. Write at least one."),
        ("turns: Why?", " has the text 'Why?' under 'turns'. Write a list of questions, one for each turn."),
        (
            "turns: [Why?], question: Who?",
            " has 'question', which is a key of a turn. Write it into an entry under 'turns'.",
        ),
        (
            "turns: [{question: Why?, id: a}]",
            ", turn 1 has 'id', which belongs to the conversation, whose turns are named by their numbers. Delete it.",
        ),
        (
            "turns: [Why?, {question: Who?, turns: [How?]}]",
            ", turn 2 has 'turns', which a turn cannot have. Write its turns into the list of the conversation.",
        ),
        (
            "turns: [Why?, {expected_answer: b}]",
            ", turn 2 has no 'question' (found: 'expected_answer'). Write the text to ask under 'question'.",
        ),
        ("turns: [Why?, [Who?]]", ", turn 2 is a list. Write a mapping with 'question', or just the text to ask."),
    ],
)
def test_a_mistake_names_the_file_the_line_and_the_turn(entry: str, problem: str, tmp_path: Path) -> None:
    assert problems(tmp_path, f"- Where?\n- {{id: refund, {entry}}}\n") == [
        f"billing.rag.yaml:2: conversation 'refund'{problem}"
    ]


@pytest.mark.parametrize("key", ["turn", "Turns", "messages", "conversation", "dialogue"])
def test_another_name_of_the_turns_is_a_mistake_that_names_the_key(key: str, tmp_path: Path) -> None:
    assert (
        f"billing.rag.yaml:1: question 'refund' has '{key}', which begins no conversation. "
        "Write its questions as a list under 'turns'."
    ) in problems(tmp_path, f"- {{id: refund, {key}: [Why?]}}\n")


def test_turns_outside_of_an_entry_are_a_mistake_that_says_where_they_go(tmp_path: Path) -> None:
    (top,) = problems(tmp_path, "turns: [Why?]\nquestions: [Who?]\n")
    (header,) = problems(tmp_path, "question,turns\nWhy?,Who?\n", "billing.rag.csv")

    assert top.endswith("has 'turns', a key of a question, at its top. Write it into an entry under 'questions'.")
    assert header == (
        "billing.rag.csv:1: the header has 'turns', which a CSV file cannot hold. "
        "Write conversations in YAML, JSON or JSON Lines."
    )


def test_a_conversation_and_a_question_cannot_share_an_id(tmp_path: Path) -> None:
    content = "- {id: refund, question: Why?}\n- {id: refund, turns: [Who?]}\n- {id: 'refund[turn1]', question: How?}\n"

    shared, bracket = problems(tmp_path, content)

    assert shared == (
        "billing.rag.yaml:2: conversation 'refund' has the id of the question on line 1. Give it another."
    )
    assert "question 'refund[turn1]' has a square bracket in its id" in bracket


def test_the_number_of_questions_counts_the_turns(tmp_path: Path) -> None:
    assert len(read(tmp_path, {"num_questions": 3, "questions": ["Why?", {"turns": ["Who?", "How?"]}]}).questions) == 3
    (problem,) = problems(tmp_path, {"num_questions": 2, "questions": ["Why?", {"turns": ["Who?", "How?"]}]})
    assert problem.endswith("says 2 under 'num_questions', and has 3. Correct the number, or delete it.")
