"""Reads the files of ragas: a testset and an EvaluationDataset, with the columns of 0.1 and of later versions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pytest_ragcheck.questions.exports.export import Export, Form, further, passages, user_texts
from pytest_ragcheck.questions.exports.material import Material, texts_of, value_of

_CARRIED = ("user_input", "reference", "reference_contexts")


def _is_ragas(material: Material) -> bool:
    return material.have("user_input") and material.have_one_of(
        "reference", "reference_contexts", "retrieved_contexts", "response", "synthesizer_name"
    )


def _is_ragas_01(material: Material) -> bool:
    return material.have("question") and (
        material.have("evolution_type")
        or (material.have("contexts") and material.have_one_of("ground_truth", "ground_truths", "answer"))
    )


def _read(material: Material, export: Export) -> None:
    for row in material.rows:
        asked = _messages(row["user_input"])
        carried: dict[str, Any] = {
            "expected": row.get("reference"),
            "gold": passages(texts_of(row.get("reference_contexts"))),
            "metadata": further(row, *_CARRIED),
        }
        if asked is None:
            export.add(row.get("user_input"), **carried)
        else:
            export.add_conversation(asked, **carried)
        if value_of(row.get("rubrics")):
            export.leave("rubrics (kept in metadata, not asserted)")
        if value_of(row.get("reference_tool_calls")):
            export.leave("reference_tool_calls (kept in metadata, not asserted)")


def _messages(cell: Any) -> list[str] | None:
    """Return the user's texts of a sample with several turns; None for a text, brackets in it included."""
    return user_texts(value_of(cell))


def _read_01(material: Material, export: Export) -> None:
    is_testset = not material.have("answer")
    for row in material.rows:
        truths = texts_of(row.get("ground_truths"))
        expected = row.get("ground_truth") or (truths[0] if truths else None)
        kept = ("question", "ground_truth", "ground_truths", *(["contexts"] if is_testset else []))
        export.add(
            row.get("question"),
            expected=None if expected == "nan" else expected,
            all_acceptable_answers=truths,
            gold=passages(texts_of(row.get("contexts"))) if is_testset else (),
            metadata=_without_answers(further(row, *kept)),
        )


def _without_answers(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return *values* with `contexts` under its later name, so that they are not taken for gold passages."""
    return {"retrieved_contexts" if key == "contexts" else key: value for key, value in values.items()}


FORMS = (
    Form(
        name="ragas testset and EvaluationDataset",
        files="JSON Lines, JSON, CSV",
        sign="`user_input` with `reference`, `reference_contexts`, `retrieved_contexts` or `response`",
        carried="`user_input` → `question`, or a conversation of its human messages; `reference` → `expected_answer`; "
        "`reference_contexts` → `gold_passages`",
        left="metadata: `response`, `retrieved_contexts`, `synthesizer_name` and the other columns",
        recognises=_is_ragas,
        read=_read,
    ),
    Form(
        name="ragas 0.1 testset and dataset",
        files="JSON Lines, JSON, CSV",
        sign="`question` with `evolution_type`, or with `contexts` and `ground_truth`, `ground_truths` or `answer`",
        carried="`question`; `ground_truth` → `expected_answer`; `ground_truths` → `all_acceptable_answers`; "
        "`contexts` of a testset → `gold_passages`",
        left="metadata: `answer`, the retrieved `contexts` beside it, `evolution_type` and the other columns",
        recognises=_is_ragas_01,
        read=_read_01,
    ),
)
