"""
MS MARCO v2.1 question answering has questions of a search engine's users, each with ten passages of the web.

Bajaj et al., "MS MARCO: A Human Generated MAchine Reading COmprehension Dataset" (2016, v2.1 of 2018).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from pytest_ragcheck.questions.datasets.standard_dataset import Dataset, Hub, Row, passages_of
from pytest_ragcheck.questions.question import END_TO_END, RETRIEVAL_ALONE, Question

NO_ANSWER = "No Answer Present."
"""The dataset's answer to a question that no passage answers."""


def unfold(document: Row) -> Iterator[Row]:
    """Yield the rows of the official columns, each an object keyed by row, or a single row as it is."""
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


def read(rows: Iterable[Row], dataset_name: str) -> Iterator[Question]:
    """Yield the questions of the official columns, of JSON Lines or of the hub's columns."""
    for row in rows:
        given = [answer for answer in row.texts("answers") if answer.strip()]
        answers = tuple(dict.fromkeys((*given, *_well_formed(row))))
        answerable = NO_ANSWER not in given
        marked = [(passage.text("passage_text"), passage["is_selected"]) for passage in row.rows("passages")]
        kind = row.optional_text("query_type")
        yield Question(
            dataset_name=dataset_name,
            id=row.text("query_id"),
            question=row.text("query"),
            expected_answer=answers[0] if answers and answerable else None,
            all_acceptable_answers=answers if answerable else (),
            **passages_of(
                dataset_name,
                gold=(text for text, selected in marked if selected),
                others=(text for text, _ in marked),
            ),
            answerable=answerable,
            metadata={} if kind is None else {"query_type": kind},
        )


def _well_formed(row: Row) -> tuple[str, ...]:
    if "wellFormedAnswers" not in row or row["wellFormedAnswers"] == "[]":  # a text in place of an empty list
        return ()
    return tuple(answer for answer in row.texts("wellFormedAnswers") if answer.strip())


DATASET = Dataset(
    name="msmarco",
    tests="retrieval among ten web pages for what people type into a search engine",
    tiers=(RETRIEVAL_ALONE, END_TO_END),
    official="JSON of columns (query, query_id, query_type, passages, answers, wellFormedAnswers), each an object "
    "keyed by row, or rows of the same names",
    read=read,
    unfold=unfold,
    hub=Hub(repository="microsoft/ms_marco", config="v2.1"),
)
