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


def shown_rows() -> list[list[str]]:
    section = PAGE.read_text(encoding="utf-8").partition("## What it says\n")[2].partition("\n## ")[0]
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
    (shown,) = re.findall(r"the first ([\d,]+) characters of an answer", RULES.read_text(encoding="utf-8"))
    limit, sentence, wrong = int(shown.replace(",", "")), "Refunds are possible within 30 days. ", "You have 60 days. "
    right = sentence * (limit // len(sentence) + 1)

    def groundedness(text: str) -> float | None:
        question = Question(dataset_name="page", id="row", question="What is the refund window?")
        return asyncio.run(OfflineJudge().judge(question, RagAnswer(text=text, contexts=(sentence,)))).groundedness

    assert groundedness(right + wrong) == 1.0
    assert groundedness(wrong + right) != 1.0
