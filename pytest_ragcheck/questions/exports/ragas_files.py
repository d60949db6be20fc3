"""Reads the files of ragas: a testset and an EvaluationDataset, with the columns of 0.1 and of later versions."""

from __future__ import annotations

from pytest_ragcheck.questions.exports.export import Export, Form, further, passages, user_texts
from pytest_ragcheck.questions.exports.material import Material, texts_of, value_of


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
        # A list of messages has several turns. A text is one turn, even if it has brackets.
        asked = row.get("user_input")
        messages = user_texts(value_of(asked))
        export.add(
            *([asked] if messages is None else messages),
            expected=row.get("reference"),
            gold=passages(row.get("reference_contexts")),
            metadata=further(row, "user_input", "reference", "reference_contexts"),
        )
        export.leave_unasserted(row, "rubrics", "reference_tool_calls")


def _read_01(material: Material, export: Export) -> None:
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


FORMS = (
    Form(name="ragas testset and EvaluationDataset", recognises=_is_ragas, read=_read),
    Form(name="ragas 0.1 testset and dataset", recognises=_is_ragas_01, read=_read_01),
)
