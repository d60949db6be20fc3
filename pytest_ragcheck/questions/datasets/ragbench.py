"""
RAGBench has questions from twelve sources, each with the documents that a retriever found.

Friel, Belyi and Sanyal, "RAGBench: Explainable Benchmark for Retrieval-Augmented Generation Systems" (2024).
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator

from pytest_ragcheck.errors import DatasetError
from pytest_ragcheck.questions.datasets.standard_dataset import Dataset, Hub, Row, passages_of
from pytest_ragcheck.questions.passages import text_digest
from pytest_ragcheck.questions.question import END_TO_END, GENERATION, RETRIEVAL_ALONE, Question
from pytest_ragcheck.questions.question_ids import derived_id

SUBSETS = (
    "covidqa", "cuad", "delucionqa", "emanual", "expertqa", "finqa",
    "hagrid", "hotpotqa", "msmarco", "pubmedqa", "tatqa", "techqa",
)  # fmt: skip

_NUMBER = re.compile(r"\s*([0-9]+)[a-z]")
"""The number of the document in a sentence's key, such as `0a` or `12ab.`."""

_Asked = tuple[str, tuple[str, ...]]
"""The text of a question, and its documents."""


def read(rows: Iterable[Row], dataset_name: str) -> Iterator[Question]:
    """
    Yield the questions; the rows of one question, one for each model that answered it, are merged.

    The dataset has no reference answers. Responses whose `adherence_score` is true replace them, and `metadata` names
    their models. Gold passages are the documents with a relevant sentence.
    """
    by_id: dict[str, dict[_Asked, list[Row]]] = {}
    for row in rows:
        _check_subset(row, dataset_name)
        asked = row.text("question"), row.texts("documents")
        row_id = row.optional_text("id") or derived_id(asked[0])
        by_id.setdefault(row_id, {}).setdefault(asked, []).append(row)
    for row_id, questions in by_id.items():
        for asked, answered in questions.items():
            question_id = row_id if len(questions) == 1 else f"{row_id}-{text_digest(json.dumps(asked))[:8]}"
            yield _question(question_id, asked, answered, dataset_name)


def _question(question_id: str, asked: _Asked, rows: list[Row], dataset_name: str) -> Question:
    text, documents = asked
    relevant = {number for row in rows for number in _relevant(row) if number < len(documents)}
    supported = [row for row in rows if row.flag("adherence_score") and row.optional_text("response")]
    answers = tuple(dict.fromkeys(row.text("response") for row in supported))
    authors = [row.optional_text("generation_model_name") or "a model" for row in supported]
    return Question(
        dataset_name=dataset_name,
        id=question_id,
        question=text,
        expected_answer=answers[0] if answers else None,
        all_acceptable_answers=answers,
        **passages_of(
            dataset_name,
            gold=(document for number, document in enumerate(documents) if number in relevant),
            others=documents,
        ),
        metadata={"expected_answer_from": f"supported response of {' and '.join(authors)}"} if answers else {},
    )


def _relevant(row: Row) -> set[int]:
    keys = row.texts("all_relevant_sentence_keys") if "all_relevant_sentence_keys" in row else ()
    return {int(match[1]) for key in keys if (match := _NUMBER.match(key))}


def _check_subset(row: Row, dataset_name: str) -> None:
    _, _, wanted = dataset_name.partition(":")
    found = (row.optional_text("dataset_name") or "").partition("_")[0]
    if wanted and found in SUBSETS and found != wanted:
        raise DatasetError(
            f"{row.place}: expected the subset {wanted!r}, found {found!r}. Write ragbench:{found}=PATH."
        )


DATASET = Dataset(
    name="ragbench",
    tests="retrieval and grounded answers in twelve domains",
    tiers=(GENERATION, RETRIEVAL_ALONE, END_TO_END),
    official="parquet with the columns id, question, documents, response, all_relevant_sentence_keys, "
    "adherence_score, ..., or JSON Lines of the same names",
    read=read,
    subsets=SUBSETS,
    split="test",
    hub=Hub(repository="galileo-ai/ragbench"),
)
