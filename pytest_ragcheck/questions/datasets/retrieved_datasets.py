"""
Reads RAGBench, Qasper and MS MARCO, whose questions come with the passages of a retriever or of a paper.

RAGBench has questions from twelve sources: Friel, Belyi and Sanyal, "RAGBench: Explainable Benchmark for
Retrieval-Augmented Generation Systems" (2024). In Qasper, several readers answer each question about a research paper:
Dasigi et al., "A Dataset of Information-Seeking Questions and Answers Anchored in Research Papers" (2021). MS MARCO
v2.1 has questions of a search engine's users, each with ten passages of the web: Bajaj et al., "MS MARCO: A Human
Generated MAchine Reading COmprehension Dataset" (2016, v2.1 of 2018).
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator

from pytest_ragcheck.errors import DatasetError
from pytest_ragcheck.questions.datasets.standard_dataset import Dataset, Hub, Row, passages_of
from pytest_ragcheck.questions.question import END_TO_END, GENERATION, RETRIEVAL_ALONE, Question, text_digest
from pytest_ragcheck.questions.question_ids import derived_id

SUBSETS = (
    "covidqa", "cuad", "delucionqa", "emanual", "expertqa", "finqa",
    "hagrid", "hotpotqa", "msmarco", "pubmedqa", "tatqa", "techqa",
)  # fmt: skip

_NUMBER = re.compile(r"\s*([0-9]+)[a-z]")
"""The number of the document in a sentence's key, such as `0a` or `12ab.`."""

_Asked = tuple[str, tuple[str, ...]]
"""The text of a question, and its documents."""


def _read_ragbench(rows: Iterable[Row], dataset_name: str) -> Iterator[Question]:
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
            yield _ragbench_question(question_id, asked, answered, dataset_name)


def _ragbench_question(question_id: str, asked: _Asked, rows: list[Row], dataset_name: str) -> Question:
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


RAGBENCH = Dataset(
    name="ragbench",
    tests="retrieval and grounded answers in twelve domains",
    tiers=(GENERATION, RETRIEVAL_ALONE, END_TO_END),
    official="parquet with the columns id, question, documents, response, all_relevant_sentence_keys, "
    "adherence_score, ..., or JSON Lines of the same names",
    read=_read_ragbench,
    subsets=SUBSETS,
    split="test",
    hub=Hub(repository="galileo-ai/ragbench"),
)


_CAPTION = "FLOAT SELECTED"
"""Prefix of evidence that is the caption of a figure or table; the paper's paragraphs lack captions."""


def _unfold_qasper(document: Row) -> Iterator[Row] | None:
    # The official object has the papers by their arXiv ids.
    if "qas" in document:
        return None
    return (Row(f"{document.place}: {key!r}", {"id": key, **document.row(key).columns}) for key in document.columns)


def _read_qasper(rows: Iterable[Row], dataset_name: str) -> Iterator[Question]:
    for paper in rows:
        paragraphs = [text for section in paper.rows("full_text") for text in section.texts("paragraphs")]
        paragraphs.insert(0, paper.optional_text("abstract") or "")
        for qa in paper.rows("qas"):
            yield _qasper_question(paper, qa, paragraphs, dataset_name)


def _qasper_question(paper: Row, qa: Row, paragraphs: list[str], dataset_name: str) -> Question:
    readings = [answer.row("answer") for answer in qa.rows("answers")]
    unanswerable = sum(bool(reading.flag("unanswerable")) for reading in readings)
    answerable = 2 * unanswerable <= len(readings)  # most readers decide
    answers = tuple(dict.fromkeys(filter(None, map(answer_of, readings)))) if answerable else ()
    evidence = [text for reading in readings if not reading.flag("unanswerable") for text in reading.texts("evidence")]
    return Question(
        dataset_name=dataset_name,
        id=qa.text("question_id"),
        question=qa.text("question"),
        expected_answer=answers[0] if answers else None,
        all_acceptable_answers=answers,
        **passages_of(
            dataset_name,
            gold=(text for text in evidence if answerable and not text.startswith(_CAPTION)),
            others=paragraphs,
        ),
        answerable=answerable,
        metadata={"paper": paper.text("id"), "title": paper.text("title")},
    )


def answer_of(reading: Row) -> str | None:
    """
    One reader's answer; None if the reader found none.

    The order is from the dataset's own evaluator: unanswerable, spans, free form, yes or no.
    """
    if reading.flag("unanswerable"):
        return None
    if spans := [span for span in reading.texts("extractive_spans") if span.strip()]:
        return ", ".join(spans)
    if (written := reading.optional_text("free_form_answer")) is not None:
        return written
    yes = reading.flag("yes_no")
    return None if yes is None else ("Yes" if yes else "No")


QASPER = Dataset(
    name="qasper",
    tests="retrieval and answers within long research papers, some questions unanswerable",
    tiers=(RETRIEVAL_ALONE, END_TO_END),
    official='a JSON object of papers by arXiv id, each {"title", "abstract", "full_text", "qas"}, '
    "or the hub's columns",
    read=_read_qasper,
    unfold=_unfold_qasper,
    # The main branch holds a script, and current versions of the library run no scripts.
    hub=Hub(repository="allenai/qasper", revision="refs/convert/parquet"),
)


_NO_ANSWER = "No Answer Present."
"""The dataset's answer to a question that no passage answers."""


def _unfold_msmarco(document: Row) -> Iterator[Row]:
    # The official columns are objects keyed by row.
    if not isinstance(document.columns.get("query"), dict):
        yield document
        return
    columns = {name: document.row(name) for name in document.columns}
    for key in columns["query"].columns:
        # Rows of the public evaluation files lack some columns.
        yield Row(
            f"{document.place}: row {key!r}",
            {name: column.columns[key] for name, column in columns.items() if key in column.columns},
        )


def _read_msmarco(rows: Iterable[Row], dataset_name: str) -> Iterator[Question]:
    for row in rows:
        given = row.texts("answers")
        answerable = _NO_ANSWER not in given
        if row.columns.get("wellFormedAnswers") not in (None, "[]"):  # a text in place of an empty list
            given += row.texts("wellFormedAnswers")
        answers = tuple(dict.fromkeys(filter(str.strip, given))) if answerable else ()
        marked = [(passage.text("passage_text"), passage["is_selected"]) for passage in row.rows("passages")]
        kind = row.optional_text("query_type")
        yield Question(
            dataset_name=dataset_name,
            id=row.text("query_id"),
            question=row.text("query"),
            expected_answer=answers[0] if answers else None,
            all_acceptable_answers=answers,
            **passages_of(
                dataset_name,
                gold=(text for text, selected in marked if selected),
                others=(text for text, _ in marked),
            ),
            answerable=answerable,
            metadata={} if kind is None else {"query_type": kind},
        )


MSMARCO = Dataset(
    name="msmarco",
    tests="retrieval among ten web pages for what people type into a search engine",
    tiers=(RETRIEVAL_ALONE, END_TO_END),
    official="JSON of columns (query, query_id, query_type, passages, answers, wellFormedAnswers), each an object "
    "keyed by row, or rows of the same names",
    read=_read_msmarco,
    unfold=_unfold_msmarco,
    hub=Hub(repository="microsoft/ms_marco", config="v2.1"),
)
