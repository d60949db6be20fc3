"""Reads the goldens of deepeval as `EvaluationDataset.save_as` writes them."""

from __future__ import annotations

from pytest_ragcheck.questions.exports.export import Export, Form, further, passages, user_texts
from pytest_ragcheck.questions.exports.material import Material, value_of


def _is_goldens(material: Material) -> bool:
    return material.have("input") and material.have_one_of("expected_output", "actual_output", "retrieval_context")


def _is_conversational(material: Material) -> bool:
    return material.have("scenario") and material.have_one_of("turns", "expected_outcome")


def _separator(material: Material) -> str:
    # `save_as` joins the contexts of CSV and JSON Lines.
    return "" if isinstance(material.document, list) else "|"


def _read(material: Material, export: Export) -> None:
    for row in material.rows:
        export.add(
            row.get("input"),
            given_id=row.get("name"),
            expected=row.get("expected_output"),
            gold=passages(row.get("context"), separator=_separator(material)),
            metadata=further(row, "input", "name", "expected_output", "context", mapping="additional_metadata"),
        )
        export.leave_unasserted(row, "expected_tools", "expectations")


def _read_conversations(material: Material, export: Export) -> None:
    for row in material.rows:
        asked = user_texts(value_of(row.get("turns")))
        if not asked:
            export.leave("scenarios without turns of the user, which deepeval's simulator would play")
            continue
        export.add(
            *asked,
            given_id=row.get("name"),
            gold=passages(row.get("context"), separator=_separator(material)),
            metadata=further(row, "name", "turns", "context", mapping="additional_metadata"),
        )
        export.leave_unasserted(row, "expected_outcome")


FORMS = (
    Form(name="deepeval goldens", recognises=_is_goldens, read=_read),
    Form(name="deepeval conversational goldens", recognises=_is_conversational, read=_read_conversations),
)
