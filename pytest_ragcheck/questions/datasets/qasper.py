"""
Qasper has questions about research papers, each answered by several readers.

Dasigi et al., "A Dataset of Information-Seeking Questions and Answers Anchored in Research Papers" (2021).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from pytest_ragcheck.questions.datasets.standard_dataset import Dataset, Hub, Row, passages_of
from pytest_ragcheck.questions.question import END_TO_END, RETRIEVAL_ALONE, Question

_CAPTION = "FLOAT SELECTED"
"""Prefix of evidence that is the caption of a figure or table; the paper's paragraphs lack captions."""


def unfold(document: Row) -> Iterator[Row] | None:
    """The rows of the official object of papers, keyed by their arXiv ids; None for a single row."""
    if "qas" in document:
        return None
    return (Row(f"{document.place}: {key!r}", {"id": key, **document.row(key).columns}) for key in document.columns)


def read(rows: Iterable[Row], dataset_name: str) -> Iterator[Question]:
    """
    Yield the questions of the official form or of the hub's columns.

    Every reader's answer is acceptable. A question is unanswerable only if most of its readers marked it so.
    """
    for paper in rows:
        paragraphs = [text for section in paper.rows("full_text") for text in section.texts("paragraphs")]
        paragraphs.insert(0, paper.optional_text("abstract") or "")
        for qa in paper.rows("qas"):
            yield _question(paper, qa, paragraphs, dataset_name)


def _question(paper: Row, qa: Row, paragraphs: list[str], dataset_name: str) -> Question:
    readings = [answer.row("answer") for answer in qa.rows("answers")]
    unanswerable = sum(bool(reading.flag("unanswerable")) for reading in readings)
    answerable = 2 * unanswerable <= len(readings)
    answers = tuple(dict.fromkeys(answer for reading in readings if (answer := answer_of(reading)) is not None))
    evidence = [text for reading in readings if not reading.flag("unanswerable") for text in reading.texts("evidence")]
    return Question(
        dataset_name=dataset_name,
        id=qa.text("question_id"),
        question=qa.text("question"),
        expected_answer=answers[0] if answers and answerable else None,
        all_acceptable_answers=answers if answerable else (),
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


DATASET = Dataset(
    name="qasper",
    tests="retrieval and answers within long research papers, some questions unanswerable",
    tiers=(RETRIEVAL_ALONE, END_TO_END),
    official='a JSON object of papers by arXiv id, each {"title", "abstract", "full_text", "qas"}, '
    "or the hub's columns",
    read=read,
    unfold=unfold,
    # The main branch holds a script, and current versions of the library run no scripts.
    hub=Hub(repository="allenai/qasper", revision="refs/convert/parquet"),
)
