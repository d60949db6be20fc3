"""The page of the offline judge shows what the judge says."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from pytest_ragcheck.judging.offline.offline_judge import OfflineJudge
from pytest_ragcheck.questions.question import Question
from pytest_ragcheck.rag.answer import RagAnswer

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "judge-offline.md"


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
