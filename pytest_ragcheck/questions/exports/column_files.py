"""Reads rows whose columns have the parts of a question, by the table `columns.json`."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from pytest_ragcheck.package_text import package_text
from pytest_ragcheck.questions.exports.export import Export, Form, further, passages, text_of, user_texts
from pytest_ragcheck.questions.exports.material import Material, value_of


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
            fields: dict[str, Any] = {}
            for key, column in others.items():
                fields[key] = tuple(filter(None, map(text_of, _items(row.get(column)))))
            answers = [*_items(row.get(expected)), *fields.pop("all_acceptable_answers", ())]
            # Giskard's out-of-scope questions have passages that seem to answer them.
            answerable = fields["answerable"] = (
                metadata.get("question_type") != "out of scope" and row.get(others.get("answerable")) is not False
            )
            found = passages(row.get(gold), separator="|" if joined else "")
            export.add(
                *(user_texts(value_of(row.get(before))) or []),
                *([asked] if messages is None else messages),
                given_id=row.get(given_id),
                expected=answers if len(answers) > 1 else next(iter(answers), None),
                gold=found if answerable else (),
                distractors=() if answerable else found,
                metadata=metadata,
                **fields,
            )
            export.leave_unasserted(row, *unasserted)

    return read


def _items(cell: Any) -> list[Any]:
    value = value_of(cell)
    if isinstance(value, list):
        return value
    return [] if value in (None, "nan") else [cell]  # a text may have brackets, and pandas writes nan


def _form(name: str, have: Iterable[str], one_of: Iterable[str], **columns: Any) -> Form:
    return Form(
        name=name, recognises=lambda each: each.have(*have) and each.have_one_of(*one_of), read=reader(**columns)
    )


GISKARD, RAGAS, RAGAS_DATASET, RAGAS_TESTSET, CONFIDENT_AI, AZURE, *DEEPEVAL = (
    _form(**each) for each in json.loads(package_text("questions/exports/columns.json"))
)
