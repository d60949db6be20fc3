"""Reads rows whose columns have the parts of a question, by the table `columns.json`."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from pytest_ragcheck.package_text import package_text
from pytest_ragcheck.questions.exports.export import Export, Form, further, passages, texts_among, user_texts
from pytest_ragcheck.questions.exports.material import Material, value_of
from pytest_ragcheck.questions.nodes.node_values import FLAGS


def read_columns(
    material: Material,
    export: Export,
    columns: Mapping[str, str],
    *,
    unasserted: Iterable[str] = (),
    mapping: str = "metadata",
    lacking: str = "",
) -> None:
    """
    Read questions from *columns* by their keys; `before` has earlier turns, and `unanswerable` is a flag.

    *lacking* is the name of rows without turns.
    """
    # deepeval's `save_as` joins the contexts of CSV and JSON Lines.
    joined = mapping == "additional_metadata" and not isinstance(material.document, list)
    for row in material.rows:
        cells = dict(zip(columns, map(row.get, columns.values()), strict=True)).get
        asked = cells("question")
        # A list of messages has several turns. A text is one turn, even if it has brackets.
        messages = user_texts(value_of(asked))
        if asked == columns["question"] or (lacking and not messages):
            export.leave(lacking or "repeated headers")
            continue
        metadata = further(row, *columns.values(), mapping=mapping)
        # Giskard's out-of-scope questions have passages that seem to answer them.
        answerable = metadata.get("question_type") != "out of scope"
        for key in ("answerable", "unanswerable"):
            flag = str(cells(key, "")).strip().lower()
            if flag in FLAGS:
                answerable = FLAGS[flag] == (key == "answerable")
            elif flag not in ("", "none"):
                export.leave("rows that are answerable by neither yes nor no")
        found = passages(cells("gold_passages"), separator="|" if joined else "")
        export.add(
            *(user_texts(value_of(cells("before"))) or []),
            *([asked] if messages is None else messages),
            given_id=cells("id"),
            expected=[*_items(cells("expected_answer")), *_items(cells("all_acceptable_answers"))],
            gold=found if answerable else (),
            distractors=() if answerable else found,
            answerable=answerable,
            must_mention=texts_among(_items(cells("must_mention"))),
            must_not_mention=texts_among(_items(cells("must_not_mention"))),
            metadata=metadata,
        )
        export.leave_unasserted(row, *unasserted)


def _items(cell: Any) -> list[Any]:
    value = value_of(cell)
    if isinstance(value, list):
        return value
    return [] if value in (None, "nan") else [cell]  # a text may have brackets, and pandas writes nan


def _form(name: str, have: Iterable[str], one_of: Iterable[str], **columns: Any) -> Form:
    return Form(
        name=name,
        recognises=lambda each: each.have(*have) and each.have_one_of(*one_of),
        read=lambda *given: read_columns(*given, **columns),
    )


COLUMN_FORMS = [_form(**each) for each in json.loads(package_text("questions/exports/columns.json"))]
