"""Reads rows whose columns have the parts of a question: files of giskard, ragas, deepeval and Azure AI evaluation."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from pytest_ragcheck.questions.exports.export import Export, Form, further, passages, user_texts
from pytest_ragcheck.questions.exports.material import Material, texts_of, value_of


def reader(
    question: str,
    expected: str | None = None,
    gold: str | None = None,
    *,
    given_id: str | None = None,
    before: str | None = None,
    unasserted: tuple[str, ...] = (),
    mapping: str = "metadata",
    rows: Callable[[Material], Iterable[Mapping[Any, Any]]] = lambda material: material.rows,
) -> Callable[[Material, Export], None]:
    """The reader of these columns; messages in *question* are turns, and *before* has earlier ones."""

    def read(material: Material, export: Export) -> None:
        for row in rows(material):
            # A list of messages has several turns. A text is one turn, even if it has brackets.
            asked = row.get(question)
            messages = user_texts(value_of(asked))
            export.add(
                *(user_texts(value_of(row.get(before))) or []),
                *([asked] if messages is None else messages),
                given_id=row.get(given_id),
                expected=row.get(expected),
                gold=passages(row.get(gold), separator=_separator(material) if mapping == _DEEPEVAL else ""),
                metadata=further(row, question, expected, gold, given_id, before, mapping=mapping),
            )
            export.leave_unasserted(row, *unasserted)

    return read


_DEEPEVAL = "additional_metadata"


def _separator(material: Material) -> str:
    # deepeval's `save_as` joins the contexts of CSV and JSON Lines.
    return "" if isinstance(material.document, list) else "|"


def _is_ragas(material: Material) -> bool:
    return material.have("user_input") and material.have_one_of(
        "reference", "reference_contexts", "retrieved_contexts", "response", "synthesizer_name"
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
            metadata=further(row, "name", "turns", "context", mapping=_DEEPEVAL),
        )
        export.leave_unasserted(row, "expected_outcome")


FIRST_FORMS = (
    Form(
        name="giskard QATestset",
        recognises=lambda material: material.have("question", "reference_answer", "reference_context"),
        read=reader("question", "reference_answer", "reference_context", given_id="id", before="conversation_history"),
    ),
    Form(
        name="ragas testset and EvaluationDataset",
        recognises=_is_ragas,
        read=reader("user_input", "reference", "reference_contexts", unasserted=("rubrics", "reference_tool_calls")),
    ),
    Form(name="ragas 0.1 testset and dataset", recognises=_is_ragas_01, read=_read_ragas_01),
)
LAST_FORMS = (
    Form(
        name="Azure AI evaluation data",
        recognises=lambda rows: rows.have("query", "ground_truth") or rows.have("query", "response", "context"),
        read=reader("query", "ground_truth"),
    ),
    Form(
        name="deepeval goldens",
        recognises=lambda rows: (
            rows.have("input") and rows.have_one_of("expected_output", "actual_output", "retrieval_context")
        ),
        read=reader(
            "input",
            "expected_output",
            "context",
            given_id="name",
            unasserted=("expected_tools", "expectations"),
            mapping=_DEEPEVAL,
        ),
    ),
    Form(
        name="deepeval conversational goldens",
        recognises=lambda rows: rows.have("scenario") and rows.have_one_of("turns", "expected_outcome"),
        read=_read_conversations,
    ),
)
