"""Reads rows whose columns have the parts of a question, by the table `columns.json`."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from pytest_ragcheck.package_text import package_text
from pytest_ragcheck.questions.exports.export import Export, Form, further, passages, user_texts
from pytest_ragcheck.questions.exports.material import Material, texts_of, value_of


def reader(
    question: str,
    expected: str | None = None,
    gold: str | None = None,
    *,
    given_id: str | None = None,
    before: str | None = None,
    others: Mapping[str, str] = {},
    unasserted: Iterable[str] = (),
    mapping: str = "metadata",
    lacking: str = "",
    rows: Callable[[Material], Iterable[Mapping[Any, Any]]] = lambda material: material.rows,
) -> Callable[[Material, Export], None]:
    """
    The reader of these columns.

    *before* has earlier turns, *others* the columns of further keys of a question, and *lacking* is the name of rows
    without turns.
    """

    def read(material: Material, export: Export) -> None:
        # deepeval's `save_as` joins the contexts of CSV and JSON Lines.
        joined = mapping == "additional_metadata" and not isinstance(material.document, list)
        for row in rows(material):
            # A list of messages has several turns. A text is one turn, even if it has brackets.
            asked = row.get(question)
            messages = user_texts(value_of(asked))
            if lacking and not messages:
                export.leave(lacking)
                continue
            metadata = further(row, question, expected, gold, given_id, before, *others.values(), mapping=mapping)
            answer = row.get(expected)
            if accepted := texts_of(row.get(others.get("all_acceptable_answers"))):
                answer = [answer, *accepted]
            # Giskard's out-of-scope questions have passages that seem to answer them.
            answerable = metadata.get("question_type") != "out of scope"
            found = passages(row.get(gold), separator="|" if joined else "")
            export.add(
                *(user_texts(value_of(row.get(before))) or []),
                *([asked] if messages is None else messages),
                given_id=row.get(given_id),
                expected=None if answer == "nan" else answer,
                gold=found if answerable else (),
                distractors=() if answerable else found,
                answerable=answerable,
                metadata=metadata,
            )
            export.leave_unasserted(row, *unasserted)

    return read


def _form(name: str, have: Iterable[str], one_of: Iterable[str], **columns: Any) -> Form:
    return Form(
        name=name, recognises=lambda each: each.have(*have) and each.have_one_of(*one_of), read=reader(**columns)
    )


GISKARD, RAGAS, RAGAS_DATASET, RAGAS_TESTSET, CONFIDENT_AI, AZURE, *DEEPEVAL = (
    _form(**each) for each in json.loads(package_text("questions/exports/columns.json"))
)
