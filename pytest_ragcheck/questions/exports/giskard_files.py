"""Reads a QATestset of giskard."""

from __future__ import annotations

from pytest_ragcheck.questions.exports.export import Export, Form, further, passages, user_texts
from pytest_ragcheck.questions.exports.material import Material, value_of


def _is_testset(material: Material) -> bool:
    return material.have("question", "reference_answer", "reference_context")


def _read(material: Material, export: Export) -> None:
    for row in material.rows:
        before = user_texts(value_of(row.get("conversation_history"))) or []
        export.add(
            *before,
            str(row.get("question") or ""),
            given_id=row.get("id"),
            expected=row.get("reference_answer"),
            gold=passages(row.get("reference_context")),
            metadata=further(row, "id", "question", "reference_answer", "reference_context", "conversation_history"),
        )


FORMS = (Form(name="giskard QATestset", recognises=_is_testset, read=_read),)
