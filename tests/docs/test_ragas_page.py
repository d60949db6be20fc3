"""The page of the RAGAS metrics agrees with the code."""

from __future__ import annotations

import asyncio
import json
import re

import pytest

from pytest_ragcheck.judging.judge_prompt import task_prompt
from pytest_ragcheck.judging.model.reply_object import strict_schema
from pytest_ragcheck.metrics.ragas.formulas import answer_correctness, factuality
from pytest_ragcheck.metrics.ragas.model_ragas import AnswerFacts
from pytest_ragcheck.metrics.ragas.stand_ins import RagasStandIns
from pytest_ragcheck.rag.answer import RagAnswer
from pytest_ragcheck.scores import RAGAS, RAGAS_STAND_INS
from tests.docs.pages import DOCS
from tests.making import a_question

PAGE = (DOCS / "reference" / "metrics-ragas.md").read_text(encoding="utf-8")
QUESTION = a_question(question="How long is the refund window?", expected_answer="30 days")
CONTEXT = "Our office is in Berlin. The refund window is 30 days."


def rows(heading: str) -> list[list[str]]:
    """The cells of the table whose first heading this is."""
    (table,) = re.findall(rf"(?:^\| {heading} \|.*\n)(?:\|.*\n)+", PAGE, re.MULTILINE)
    return [[cell.strip() for cell in line.split("|")[1:-1]] for line in table.splitlines()[2:]]


def test_the_schema_on_the_page_is_the_one_that_is_sent() -> None:
    (schema,) = re.findall(r"(?ms)^```json\n(.*?)\n```$", PAGE)
    assert json.loads(schema) == strict_schema(AnswerFacts)
    assert f"version is `{task_prompt('ragas').version}`" in PAGE


def test_every_metric_and_every_stand_in_has_its_row() -> None:
    assert tuple(row[0].strip("`") for row in rows("metric")) == RAGAS
    assert tuple(row[0].strip("`") for row in rows("stand-in")) == RAGAS_STAND_INS


@pytest.mark.parametrize(("tp", "fp", "fn", "similarity", "score"), rows("tp"))
def test_the_correctness_is_as_shown(tp: str, fp: str, fn: str, similarity: str, score: str) -> None:
    factual = factuality(true_positives=int(tp), false_positives=int(fp), false_negatives=int(fn))
    assert f"{answer_correctness(factual, float(similarity)):.3f}" == score


@pytest.mark.parametrize(("answer", "shown"), [(answer, shown) for answer, *shown in rows("the answer")])
def test_the_stand_ins_are_as_shown(answer: str, shown: list[str]) -> None:
    assert f'question "{QUESTION.question}"' in PAGE
    assert f'context "{CONTEXT}"' in PAGE
    scores = asyncio.run(RagasStandIns().score(QUESTION, RagAnswer(text=answer, contexts=(CONTEXT,))))
    values = [scores[metric].value for metric in RAGAS_STAND_INS]
    assert ["" if value is None else f"{value:.3f}" for value in values] == shown
