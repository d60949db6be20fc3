"""
SQuAD v2 has questions about one paragraph each, and half of the questions have no answer in their paragraph.

Rajpurkar, Jia and Liang, "Know What You Don't Know: Unanswerable Questions for SQuAD" (2018).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from pytest_ragcheck.questions.datasets.standard_dataset import Dataset, Hub, Row, passages_of
from pytest_ragcheck.questions.question import GENERATION, Question


def unfold(document: Row) -> Iterator[Row]:
    """Yield the rows of the official articles, which nest paragraphs and questions, or a single row as it is."""
    if "data" not in document:
        yield document
        return
    for article in document.rows("data"):
        for paragraph in article.rows("paragraphs"):
            shared = {"title": article.columns.get("title"), "context": paragraph["context"]}
            for qa in paragraph.rows("qas"):
                yield Row(qa.place, {**qa.columns, **shared})


def read(rows: Iterable[Row], dataset_name: str) -> Iterator[Question]:
    """
    Yield the questions of the official form or of the hub's columns.

    `is_impossible` marks an unanswerable question in the official form; on the hub such a question has no answers. The
    `plausible_answers` of an unanswerable question are wrong, and its paragraph is sent as a distractor.
    """
    for row in rows:
        answers = tuple(dict.fromkeys(answer.text("text") for answer in row.rows("answers")))
        impossible = row.flag("is_impossible")
        answerable = bool(answers) if impossible is None else not impossible
        if answerable and not answers:
            raise row.unexpected("answers", "at least one answer of a question that is not is_impossible", ())
        context = row.text("context")
        title = row.optional_text("title")
        yield Question(
            dataset_name=dataset_name,
            id=row.text("id"),
            question=row.text("question"),
            expected_answer=answers[0] if answerable else None,
            all_acceptable_answers=answers if answerable else (),
            **passages_of(dataset_name, gold=(context,) if answerable else (), others=(context,)),
            answerable=answerable,
            metadata={} if title is None else {"title": title},
        )


DATASET = Dataset(
    name="squad_v2",
    tests="abstention: questions with and without an answer in their paragraph",
    tiers=(GENERATION,),
    official='JSON of {"version", "data": [{"title", "paragraphs": [{"context", "qas"}]}]}, or the hub\'s columns '
    "id, title, context, question, answers",
    read=read,
    unfold=unfold,
    hub=Hub(repository="rajpurkar/squad_v2"),
)
