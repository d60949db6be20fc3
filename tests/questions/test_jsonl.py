"""JSON Lines: a question a line."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from .reading import problems, read

if TYPE_CHECKING:
    from pathlib import Path

ONE_VALUE = (
    "the file holds one JSON value, and JSON Lines have a question on each line. "
    "Rename it to end in '.rag.json', or write each question on one line."
)


def test_each_line_is_a_question_with_its_own_line_number(tmp_path: Path) -> None:
    content = (
        '\ufeff{"id": "terms", "question": "What is the refund window?", "tags": ["billing"]}\r\n'
        "\r\n"
        '"Who pays for the return?"\n'
        "  \t\n"
        '{"query": "When?", "reference": 1972}'
    )
    questions = read(tmp_path, content, "billing.rag.jsonl")

    assert questions.dataset_name == "billing"
    assert [(question.question, question.line) for question in questions.questions] == [
        ("What is the refund window?", 1),
        ("Who pays for the return?", 3),
        ("When?", 5),
    ]
    assert questions.questions[2].expected_answer == "1972"


def test_only_line_feeds_end_a_line(tmp_path: Path) -> None:
    rows = ["a\u2028b", "c\x85d"]
    content = "\n".join(json.dumps(row, ensure_ascii=False) for row in rows)

    assert [question.question for question in read(tmp_path, content, "x.rag.jsonl").questions] == rows


def test_the_mistakes_of_all_lines_are_reported_at_once(tmp_path: Path) -> None:
    content = (
        '{"question": "one", "top_k": 0}\n{"question": "two"\n\n{question: "three"}\n["four"]\nnull\n"six", "seven"\n'
    )

    assert problems(tmp_path, content, "x.rag.jsonl") == [
        "x.rag.jsonl:1: question 'one-7692' has 0 under 'top_k'. Write a whole number from 1 to 999999999.",
        (
            "x.rag.jsonl:2: the line is not JSON: found the end of the line, expected ',' or '}'. "
            "Correct it there or shortly before."
        ),
        (
            "x.rag.jsonl:4: the line is not JSON: found 'question', expected a key in quotes or '}'. "
            "Correct it there or shortly before."
        ),
        "x.rag.jsonl:5: question number 2 is a list. Write a mapping with 'question', or just the text to ask.",
        "x.rag.jsonl:6: question number 3 is nothing. Write a mapping with 'question', or just the text to ask.",
        (
            "x.rag.jsonl:7: the line is not JSON: found ',', expected the end of the line. "
            "Correct it there or shortly before."
        ),
    ]


@pytest.mark.parametrize(
    ("content", "line"),
    [
        ('["Who?", "Why?"]\n', 1),
        ('\n{"dataset_name": "billing", "questions": ["Who?"]}\n', 2),
        ('[\n"Who?"\n]\n', 1),
        ('{\n"question": "Who?"\n}\n', 1),
    ],
)
def test_a_json_file_by_the_name_of_json_lines_is_reported_as_one(tmp_path: Path, content: str, line: int) -> None:
    assert problems(tmp_path, content, "x.rag.jsonl") == [f"x.rag.jsonl:{line}: {ONE_VALUE}"]


def test_two_lines_with_one_id_are_reported_by_their_lines(tmp_path: Path) -> None:
    content = '{"id": "a", "question": "Who?"}\n\n{"id": "a", "question": "Why?"}\n'

    assert problems(tmp_path, content, "x.rag.jsonl") == [
        "x.rag.jsonl:3: question 'a' has the id of the question on line 1. Give it another."
    ]


def test_what_only_a_whole_file_has_is_an_unknown_key_of_a_line(tmp_path: Path) -> None:
    rows: list[Any] = [{"dataset_name": "billing"}, {"question": "Who?"}]
    content = "\n".join(map(json.dumps, rows))

    assert [problem.partition(" (")[0] for problem in problems(tmp_path, content, "x.rag.jsonl")] == [
        "x.rag.jsonl:1: question number 1 has the unknown key 'dataset_name'",
        "x.rag.jsonl:1: question number 1 has no 'question'",
    ]
