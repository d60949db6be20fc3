"""The pages of the metrics list every metric, with the numbers of the program."""

from __future__ import annotations

import re
from importlib.util import find_spec

import pytest

from pytest_ragcheck.concurrency.search_process import SearchProcess
from pytest_ragcheck.metrics.citations import citation_validity
from pytest_ragcheck.metrics.mentions import mention_scores
from pytest_ragcheck.metrics.retrieval import average_precision, ndcg_at_k, precision_at_k, recall_at_k, reciprocal_rank
from pytest_ragcheck.metrics.similarity import chrf, exact_match, rouge_l, token_f1
from pytest_ragcheck.questions.question import Question
from pytest_ragcheck.rag.answer import RagAnswer
from pytest_ragcheck.rag.cited_answer import cited_answer
from pytest_ragcheck.scores import ASSERTABLE, CUTOFFS, DEFAULT_WEIGHTS, METRICS
from pytest_ragcheck.verdict.verdict import BLAMES
from tests.docs.pages import DOCS

PAGE = "".join(
    (DOCS / "reference" / name).read_text(encoding="utf-8")
    for name in ("metrics.md", "metrics-text.md", "metrics-retrieval.md", "metrics-sources.md")
)
CITATIONS = (DOCS / "reference" / "citations.md").read_text(encoding="utf-8")


def rows(heading: str, page: str = PAGE) -> list[list[str]]:
    """The cells of the table whose first heading this is."""
    (table,) = re.findall(rf"(?:^\| {heading} \|.*\n)(?:\|.*\n)+", page, re.MULTILINE)
    lines = table.splitlines()[2:]
    return [[cell.strip().replace(r"\|", "|") for cell in re.split(r"(?<!\\)\|", line)[1:-1]] for line in lines]


def with_cutoffs(cell: str) -> list[str]:
    """The metrics of a first cell, with each cutoff in place of `K`."""
    name = cell.strip("`")
    return [name.replace("_at_K", f"_at_{k}") for k in CUTOFFS] if name.endswith("_at_K") else [name]


def test_every_metric_has_its_row_and_says_how_it_is_asserted() -> None:
    by_metric = {
        name: asserted for metric, *_, asserted in rows(r"metric \| what it measures") for name in with_cutoffs(metric)
    }
    assert tuple(by_metric) == METRICS
    by_option = {metric for metric, asserted in by_metric.items() if "--rag-min" in asserted or "default" in asserted}
    assert by_option == set(ASSERTABLE)


def test_every_metric_has_its_formula_range_and_source() -> None:
    table = rows(r"metric \| formula")
    assert [name for row in table for name in with_cutoffs(row[0])] == list(METRICS)
    assert all(all(row) and len(row) == 5 for row in table)


@pytest.mark.skipif(find_spec("rapidfuzz") is None, reason="the extra lexical is not installed")
@pytest.mark.parametrize("row", rows(r"answer \| acceptable answers \| rouge_l"))
def test_the_lexical_overlap_is_as_shown(row: list[str]) -> None:
    answer, acceptable, *shown = row
    assert [f"{metric(answer, acceptable.split(', ')):.3f}" for metric in (rouge_l, chrf)] == shown


@pytest.mark.parametrize(("answer", "acceptable", "exact", "f1"), rows(r"answer \| acceptable answers \| exact_match"))
def test_the_overlap_is_as_shown(answer: str, acceptable: str, exact: str, f1: str) -> None:
    texts = acceptable.split(", ")
    assert (f"{exact_match(answer, texts):.3f}", f"{token_f1(answer, texts):.3f}") == (exact, f1)


@pytest.mark.parametrize("row", rows(r"gold passages held by the contexts \| R"))
def test_retrieval_is_as_shown(row: list[str]) -> None:
    held, count, *shown = row
    retrieved = [context.replace("-", "").split() for context in held.split(", ")]
    gold = "abc"[: int(count)]
    values = [function(retrieved, gold, 3) for function in (recall_at_k, precision_at_k, ndcg_at_k)]
    values += [reciprocal_rank(retrieved, gold), average_precision(retrieved, gold)]
    assert [f"{value:.3f}" for value in values] == shown


def test_the_parts_that_are_blamed_are_all_there_in_the_programs_words() -> None:
    assert {part.strip("`"): why for part, why in rows(r"blame \| what happened")} == BLAMES


def test_the_default_weights_are_those_of_the_program() -> None:
    (line,) = re.findall(r"^By default these are the four RAGAS metrics .*$", PAGE, re.MULTILINE)
    assert [float(weight) for weight in re.findall(r"`(0\.\d+)`", line)] == list(DEFAULT_WEIGHTS.values())


@pytest.mark.parametrize(("answer", "count", "score"), rows(r"answer \| citations", CITATIONS))
def test_the_citations_are_counted_and_resolved_as_shown(answer: str, count: str, score: str) -> None:
    contexts = ("terms.md", "fees.md", "api/limits.md")
    given = RagAnswer(text=answer, contexts=contexts, source_ids=contexts)
    cited = cited_answer(given)
    assert (str(len(cited.citations)), f"{citation_validity(given, cited).value:.3f}") == (count, score)


@pytest.mark.parametrize(("answer", "mentions", "score"), rows(r"answer \| must_mention"))
def test_the_mentions_are_found_as_shown(answer: str, mentions: str, score: str) -> None:
    question = Question(dataset_name="d", id="q", question="Why?", must_mention=tuple(mentions.split(", ")))
    assert f"{mention_scores(answer, question, SearchProcess())['must_mention'].value:.3f}" == score
