"""The pages of question-file mistakes show the real text of every kind of mistake."""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

import pytest

from pytest_ragcheck.errors import QuestionFileError
from pytest_ragcheck.questions.collected_questions import asked_in
from pytest_ragcheck.questions.reader import read_question_file
from tests.docs.error_pages import shown_on

ERRORS = Path(__file__).parents[2] / "docs" / "reference" / "errors"
SHOWN = {
    heading: text
    for name in ("question-files.md", "question-syntax.md", "question-values.md")
    for heading, text in shown_on(ERRORS / name).items()
}
METRICS = ("answer_correctness", "groundedness", "exact_match", "f1")
CSV = "billing.rag.csv"
MARKERS = ("parametrize", "skip", "slow", "xfail")


class Case(NamedTuple):
    content: str | bytes | None
    """None: there is no such file."""

    name: str = "billing.rag.yaml"


BOMB = "\n".join(["a0: &a0 [x, x, x, x, x]"] + [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 9)])
CASES = {
    # The file
    "The file cannot be read": Case(None),
    "The file has an unknown extension": Case("Who pays?", "billing.rag.xlsx"),
    "The file is empty": Case("# nothing but a comment\n"),
    "The file is not UTF-8": Case("- Qué?\n".encode("latin-1")),
    "The file is a workbook": Case(b"PK\x03\x04", "billing.rag.csv"),
    "The file has NUL characters": Case(b"- What\0?\n"),
    "The file has a merge conflict": Case("- Who pays?\n<<<<<<< HEAD\n- How?\n=======\n- When?\n>>>>>>> new\n"),
    "The file has control characters": Case("- What\x07?\n"),
    "The file is not JSON": Case('{\n  "questions": [\n    "Who pays for returns?",\n  ]\n}\n', "billing.rag.json"),
    "A JSON escape is unknown": Case(r'["Where is C:\data?"]', "billing.rag.json"),
    "The file is not YAML": Case("- question: 'What is the refund window?\n"),
    "The file holds two YAML documents": Case("- Who pays for returns?\n---\n- What is the refund window?\n"),
    "A YAML tag is not read": Case("- !question What is the refund window?\n"),
    "A YAML alias has no anchor": Case("- question: Who pays for returns?\n  tags: *common\n"),
    "A YAML alias is inside its own anchor": Case("- question: Who pays for returns?\n  tags: &common [*common]\n"),
    "YAML aliases expand too much": Case(BOMB),
    "A merge key merges no mapping": Case("- question: Who pays for returns?\n  <<: [billing]\n"),
    "A key is a list or a mapping": Case("- {[question]: Who pays for returns?}\n"),
    "Values are nested too deep": Case("- question: Who pays for returns?\n  tags: " + "[" * 101 + "]" * 101),
    "The file is neither a list nor a mapping": Case("What is the refund window?\n"),
    # JSON Lines
    "A line is not JSON": Case('{"question": "Who pays?"}\n{"question": "When?"\n', "billing.rag.jsonl"),
    "A JSON file has the extension of JSON Lines": Case('[\n  "Who pays?"\n]\n', "billing.rag.jsonl"),
    # CSV
    "The first row names no key": Case("What is the refund window?,30 days\n", CSV),
    "The header has no question": Case("id,expected_answer\nrefund-window,30 days\n", CSV),
    "The header names an unknown key": Case("question,expected answer\nWho pays?,Ann\n", CSV),
    "The file has only a header": Case("question,expected_answer\n", CSV),
    "A row has too many cells": Case("question,id\nWho pays, and when?,who\n", CSV),
    "A row has too few cells": Case("question,id\nWho pays?\n", CSV),
    "A row repeats the header": Case("question,id\nWho pays?,who\nquestion,id\n", CSV),
    "A cell has no column": Case("question,\nWho pays?,Ann\n", CSV),
    "A cell in quotes is not closed": Case('question,id\n"Who pays?,who\n', CSV),
    "Text follows a closing quote": Case('question,id\n"Who" pays?,who\n', CSV),
    "A cell is not JSON": Case("question,tags\nWho pays?,[refunds]\n", CSV),
    # The top of the file
    "There are no questions": Case("dataset_name: billing\n"),
    "The list of questions is empty": Case("questions: []\n"),
    "The questions are not a list": Case("questions:\n  refund-window: What is the refund window?\n"),
    "The number of questions is wrong": Case("num_questions: 2\nquestions:\n  - Who pays for returns?\n"),
    "The schema version is newer": Case('schema_version: "2"\nquestions: [Who pays for returns?]\n'),
    "A question has no passages": Case("tier: generation\nquestions: [Who pays for returns?]\n"),
    "The tier is unknown": Case("tier: end-to-end\nquestions: [Who pays for returns?]\n"),
    "The dataset's name cannot be used": Case("dataset_name: 'billing '\nquestions: [Who pays for returns?]\n"),
    "A key of a question is at the top": Case("must_mention: 30\nquestions: [What is the refund window?]\n"),
    # Keys
    "A question is neither text nor mapping": Case("- [What is the refund window?]\n"),
    "A question has no text": Case("- id: refund-window\n  expected_answer: 30 days\n"),
    "A key is misspelt": Case("- question: What is the refund window?\n  expcted_answer: 30 days\n"),
    "A key is unknown": Case("- question: What is the refund window?\n  owner: payments\n"),
    "A key is given twice": Case("- question: Who pays for returns?\n  tags: [billing]\n  tags: [returns]\n"),
    "Two names of one key are given": Case("- question: Who?\n  expected_answer: Ann\n  reference: Bob\n"),
    "`answer` may mean two things": Case("- question: What is the refund window?\n  answer: 30 days\n"),
    "`answers` may mean two things": Case("- question: What is the refund window?\n  answers: [30 days]\n"),
    "`context` may mean two things": Case("- question: What is the refund window?\n  context: Within 30 days.\n"),
    "A key has the answer of a system": Case("- question: What is the refund window?\n  prediction: 30 days\n"),
    "A key has retrieved contexts": Case("- question: Who pays for returns?\n  retrieved_contexts: [We do.]\n"),
    # Conversations
    "The turns are not a list": Case("- id: refund\n  turns: How long?\n"),
    "There are no turns": Case("- id: refund\n  turns: []\n"),
    "A key of a turn is outside of the turns": Case("- id: refund\n  question: Who?\n  turns: [How long?]\n"),
    "A turn has an id": Case("- id: refund\n  turns:\n    - question: How long?\n      id: long\n"),
    "A turn has turns": Case("- id: refund\n  turns:\n    - question: How long?\n      turns: [Who?]\n"),
    # Values
    "A value is of the wrong type": Case("- question: [What is the refund window?]\n"),
    "A text is blank": Case('- question: What is the refund window?\n  expected_answer: ""\n'),
    "A JSON text lacks its quotes": Case('[{"question": "Is it free?", "expected_answer": true}]', "billing.rag.json"),
    "A text holds half a character": Case('[{"id": "smile", "question": "\\ud83d?"}]', "billing.rag.json"),
    "A question has several expected answers": Case("- question: Who?\n  expected_answer: [Ann, Bob]\n"),
    "An unanswerable question has an answer": Case("- question: Who?\n  expected_answer: Ann\n  answerable: false\n"),
    "A number is out of its range": Case("- question: Who pays for returns?\n  top_k: 0\n"),
    "A threshold is out of its range": Case("- question: Who pays for returns?\n  thresholds: {groundedness: 70}\n"),
    "A threshold names a misspelt metric": Case("- question: Who?\n  thresholds: {groundednes: 0.7}\n"),
    "A threshold names an unknown metric": Case("- question: Who?\n  thresholds: {politeness: 0.7}\n"),
    "A regular expression is invalid": Case("- question: Who?\n  must_mention: /(Ann|Bob/\n"),
    "A regular expression has unknown flags": Case("- question: Who?\n  must_mention: /ann/gi\n"),
    "A regular expression is too large": Case("- question: Who?\n  must_mention: '/x{99999999999}/'\n"),
    "A passage has no text": Case("- question: Who?\n  gold_passages:\n    - text:\n"),
    "A document has two texts": Case(
        "ingest: true\nquestions:\n  - question: Who?\n    gold_passages:\n"
        "      - {doc_id: staff, text: Ann pays.}\n      - {doc_id: staff, text: Bob pays.}\n"
    ),
    "A tag cannot be a marker": Case("- question: Who?\n  tags: [pay back]\n"),
    "A tag is the name of a marker": Case("- question: Who?\n  tags: [slow]\n"),
    "A number in the metadata is not finite": Case("- question: Who?\n  metadata: {weight: .inf}\n"),
    # Ids
    "An id has two colons": Case("- {id: 'billing::who', question: Who pays?}\n"),
    "An id has a square bracket": Case("- {id: 'who[1]', question: Who pays?}\n"),
    "An id has white space around it": Case("- {id: 'who ', question: Who pays?}\n"),
    "An id has an unprintable character": Case('- {id: "wh\\u200bo", question: Who pays?}\n'),
    "Two questions have one id": Case(
        "- {id: who, question: Who pays?}\n- {id: who, question: Who pays for returns?}\n"
    ),
    "Two questions without ids have one text": Case("- Who pays?\n- Who pays?\n"),
}


def collect(path: Path, root: Path) -> None:
    questions = read_question_file(path, root=root, known_metrics=METRICS, reserved_tags=MARKERS)
    asked_in(questions, tier="end_to_end", ingest=False, root=root)


def produced(case: Case, folder: Path) -> str:
    """The error about the case's file."""
    path = folder / "tests" / case.name
    path.parent.mkdir()
    if case.content is not None:
        path.write_bytes(case.content.encode("utf-8") if isinstance(case.content, str) else case.content)
    with pytest.raises(QuestionFileError) as caught:
        collect(path, folder)
    return str(caught.value)


def test_every_block_of_the_page_has_its_case_and_every_case_its_block() -> None:
    assert sorted(SHOWN) == sorted(CASES)


@pytest.mark.parametrize("heading", CASES)
def test_the_page_shows_what_a_user_sees(heading: str, tmp_path: Path) -> None:
    assert SHOWN.get(heading) == produced(CASES[heading], tmp_path)


@pytest.mark.parametrize("heading", CASES)
def test_every_mistake_is_reported_in_one_line_that_says_where_and_what_to_do(heading: str, tmp_path: Path) -> None:
    line = produced(CASES[heading], tmp_path)

    assert "\n" not in line
    subject = "(the (file|line|header|row)|question|conversation)"
    assert re.match(rf"tests/billing\.rag\.(yaml|jsonl?|csv|xlsx):(\d+:)? {subject} .+[.?] ?.*\.$", line)
