"""The page of the metrics has them all, and its numbers are those of the program."""

from __future__ import annotations

import re

import pytest

from pytest_ragcheck.metrics.catalogue import ASSERTABLE, METRICS
from pytest_ragcheck.metrics.mentions import must_mention_score
from pytest_ragcheck.metrics.overlap import exact_match, token_f1
from pytest_ragcheck.questions.question import Question
from tests.docs.pages import DOCS

PAGE = (DOCS / "reference" / "metrics.md").read_text(encoding="utf-8")


def rows(heading: str) -> list[list[str]]:
    """The cells of the table whose first heading this is."""
    (table,) = re.findall(rf"(?:^\| {heading} \|.*\n)(?:\|.*\n)+", PAGE, re.MULTILINE)
    lines = table.splitlines()[2:]
    return [[cell.strip().replace(r"\|", "|") for cell in re.split(r"(?<!\\)\|", line)[1:-1]] for line in lines]


def test_every_metric_has_its_row_and_says_how_it_is_asserted() -> None:
    by_metric = {metric.strip("`"): asserted for metric, *_, asserted in rows(r"metric")}
    assert tuple(by_metric) == METRICS
    by_option = {metric for metric, asserted in by_metric.items() if "--rag-min" in asserted or "default" in asserted}
    assert by_option == set(ASSERTABLE)


@pytest.mark.parametrize(("answer", "acceptable", "exact", "f1"), rows(r"answer \| acceptable answers"))
def test_the_overlap_is_as_shown(answer: str, acceptable: str, exact: str, f1: str) -> None:
    texts = acceptable.split(", ")
    assert (f"{exact_match(answer, texts):.3f}", f"{token_f1(answer, texts):.3f}") == (exact, f1)


@pytest.mark.parametrize(("answer", "mentions", "score"), rows(r"answer \| must_mention"))
def test_the_mentions_are_found_as_shown(answer: str, mentions: str, score: str) -> None:
    question = Question(dataset_name="d", id="q", question="Why?", must_mention=tuple(mentions.split(", ")))
    assert f"{must_mention_score(answer, question):.3f}" == score
