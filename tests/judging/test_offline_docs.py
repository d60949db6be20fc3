"""The pages of the offline judge show what the judge says."""

from __future__ import annotations

import asyncio
import re
from pathlib import Path

import pytest

from pytest_ragcheck.judging.offline.offline_judge import OfflineJudge
from pytest_ragcheck.questions.question import Question
from pytest_ragcheck.rag.answer import RagAnswer

REFERENCE = Path(__file__).parents[2] / "docs" / "reference"
PAGE = REFERENCE / "judge-offline.md"
RULES = REFERENCE / "judge-offline-rules.md"
READING = REFERENCE / "judge-offline-reading.md"


def shown_rows() -> list[list[str]]:
    section = PAGE.read_text(encoding="utf-8").partition("## Example verdicts\n")[2].partition("\n## ")[0]
    lines = [line for line in section.splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in line[1:-1].split("|")] for line in lines[2:]]


@pytest.mark.parametrize("row", shown_rows(), ids=lambda row: row[2])
def test_the_page_shows_what_the_judge_says(row: list[str]):
    expected, context, text, correctness, groundedness, reason = row
    question = Question(
        dataset_name="page", id="row", question="What is the refund window?", expected_answer=expected or None
    )
    answer = RagAnswer(text=text, contexts=(context,) if context else ())
    judgement = asyncio.run(OfflineJudge().judge(question, answer))
    scored = judgement.answer_correctness
    assert ("" if scored is None else f"{scored:.2f}", f"{judgement.groundedness:.2f}") == (correctness, groundedness)
    assert judgement.error_message == reason


def test_the_judge_reads_as_much_of_an_answer_as_the_page_says():
    (shown,) = re.findall(r"the first ([\d,]+) characters of an answer", READING.read_text(encoding="utf-8"))
    limit, sentence, wrong = int(shown.replace(",", "")), "Refunds are possible within 30 days. ", "You have 60 days. "
    right = sentence * (limit // len(sentence) + 1)

    def groundedness(text: str) -> float | None:
        question = Question(dataset_name="page", id="row", question="What is the refund window?")
        return asyncio.run(OfflineJudge().judge(question, RagAnswer(text=text, contexts=(sentence,)))).groundedness

    assert groundedness(right + wrong) == 1.0
    assert groundedness(wrong + right) != 1.0


GARAGE = (
    "The garage opens at 7. The deposit for the 12 boxes beside the river is paid in March. Lorries may not park there."
)


@pytest.mark.parametrize(
    ("row", "score", "answer", "expected"),
    [
        (
            "a number that no context has",
            "groundedness",
            "The garage has 14 boxes beside the river, and the deposit for them is paid in March.",
            None,
        ),
        ("a third of its words in such sentences", "groundedness", "Lorries may park there.", None),
        ("none of the expected numbers", "answer_correctness", "60 days before the end", "30 days before the end"),
        ("one item of an expected list", "answer_correctness", "red and green", "red, blue and green"),
        ("a negation of the expected answer", "answer_correctness", "It is not Paris.", "Paris"),
    ],
)
def test_the_page_has_the_most_that_such_an_answer_scores(
    row: str, score: str, answer: str, expected: str | None
) -> None:
    (line,) = (line for line in RULES.read_text(encoding="utf-8").splitlines() if line.startswith(f"| {row}"))
    question = Question(dataset_name="page", id="row", question="What is told?", expected_answer=expected)
    judged = asyncio.run(OfflineJudge().judge(question, RagAnswer(text=answer, contexts=(GARAGE,))))
    assert f"{getattr(judged, score):.2f}" == f"{float(line.split('|')[2]):.2f}"
