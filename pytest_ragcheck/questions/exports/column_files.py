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
    unasserted: Iterable[str] = (),
    mapping: str = "metadata",
    lacking: str = "",
    rows: Callable[[Material], Iterable[Mapping[Any, Any]]] = lambda material: material.rows,
) -> Callable[[Material, Export], None]:
    """The reader of these columns; *before* has earlier turns, and *lacking* is the name of rows without turns."""

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
            metadata = further(row, question, expected, gold, given_id, before, mapping=mapping)
            # Giskard's out-of-scope questions have passages that seem to answer them.
            answerable = metadata.get("question_type") != "out of scope"
            found = passages(row.get(gold), separator="|" if joined else "")
            export.add(
                *(user_texts(value_of(row.get(before))) or []),
                *([asked] if messages is None else messages),
                given_id=row.get(given_id),
                expected=row.get(expected),
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


def _is_ragas_01(material: Material) -> bool:
    return material.have("question") and (
        material.have("evolution_type")
        or (material.have("contexts") and material.have_one_of("ground_truth", "ground_truths", "answer"))
    )


def _read_ragas_01(material: Material, export: Export) -> None:
    is_testset = not material.have("answer")
    for row in material.rows:
        truths = texts_of(row.get("ground_truths"))
        expected = row.get("ground_truth") or (truths[0] if truths else None)
        metadata = further(row, "question", "ground_truth", "ground_truths")
        contexts = metadata.pop("contexts", None)
        if contexts and not is_testset:
            metadata["retrieved_contexts"] = contexts
        export.add(
            row.get("question"),
            expected=None if expected == "nan" else expected,
            all_acceptable_answers=truths,
            gold=passages(contexts) if is_testset else (),
            metadata=metadata,
        )


GISKARD, RAGAS, CONFIDENT_AI, AZURE, *DEEPEVAL = (
    _form(**each) for each in json.loads(package_text("questions/exports/columns.json"))
)
RAGAS_01 = Form(name="ragas 0.1 testset and dataset", recognises=_is_ragas_01, read=_read_ragas_01)
