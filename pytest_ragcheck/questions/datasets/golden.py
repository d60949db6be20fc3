"""Golden questions of one's own: a JSON array of questions, each with its answer and the text that it is in."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_ragcheck.questions.datasets.dataset import Dataset
from pytest_ragcheck.questions.datasets.passages import passages_of
from pytest_ragcheck.questions.ids import derived_id
from pytest_ragcheck.questions.question import GENERATION, Question

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from pytest_ragcheck.questions.datasets.row import Row


def read(rows: Iterable[Row], dataset_name: str) -> Iterator[Question]:
    """The questions of rows of `id` (optional), `question`, `answer`, `context` and `document` (optional)."""
    for row in rows:
        text, answer, context = row.text("question"), row.text("answer"), row.text("context")
        for name, value in (("answer", answer), ("context", context)):
            if not value.strip():
                raise row.unexpected(name, "a text that is not blank", value)
        document = row.optional_text("document")
        # One document may give several questions their contexts, so its name alone is not a passage's.
        prefix = dataset_name if document is None else f"{dataset_name}:{document}"
        yield Question(
            dataset_name=dataset_name,
            id=row.optional_text("id") or derived_id(text),
            question=text,
            expected_answer=answer,
            gold_passages=passages_of(prefix, gold=(context,)).gold,
            metadata={} if document is None else {"document": document},
        )


DATASET = Dataset(
    name="golden",
    tests="answers from the right text: questions of one's own, with answer and context",
    tiers=(GENERATION,),
    official='a JSON list of {"id"?, "question", "answer", "context", "document"?}',
    read=read,
)
