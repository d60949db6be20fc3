"""`golden` reads a user's own questions: a JSON array of questions with their answers and contexts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from pytest_ragcheck.questions.datasets.standard_dataset import Dataset, Row, passages_of
from pytest_ragcheck.questions.question import GENERATION, Question
from pytest_ragcheck.questions.question_ids import derived_id


def read(rows: Iterable[Row], dataset_name: str) -> Iterator[Question]:
    """Yield the questions of rows with `question`, `answer` and `context`; `id` and `document` are optional."""
    for row in rows:
        text, answer, context = row.text("question"), row.text("answer"), row.text("context")
        for name, value in (("answer", answer), ("context", context)):
            if not value.strip():
                raise row.unexpected(name, "a text that is not blank", value)
        document = row.optional_text("document")
        # One document may hold the contexts of several questions, so its name does not identify a passage.
        prefix = dataset_name if document is None else f"{dataset_name}:{document}"
        yield Question(
            dataset_name=dataset_name,
            id=row.optional_text("id") or derived_id(text),
            question=text,
            expected_answer=answer,
            **passages_of(prefix, gold=(context,)),
            metadata={} if document is None else {"document": document},
        )


DATASET = Dataset(
    name="golden",
    tests="answers from the right text: questions of one's own, with answer and context",
    tiers=(GENERATION,),
    official='a JSON list of {"id"?, "question", "answer", "context", "document"?}',
    read=read,
)
