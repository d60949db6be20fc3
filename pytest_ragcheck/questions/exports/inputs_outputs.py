"""Reads datasets of inputs and outputs of any shape: LangSmith, Langfuse and OpenAI evals."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

from pytest_ragcheck.questions.exports.export import Export, Form, further, message_text, text_of, user_texts
from pytest_ragcheck.questions.exports.material import Material, texts_of, value_of

ASKED = ("question", "query", "input", "user_input", "user_query", "prompt", "message", "text")
"""Names of the text to ask, in the order of preference."""

_ANSWERED = (
    "expected_answer", "expected_output", "answer", "output", "reference", "reference_answer", "ground_truth",
    "correct_answer", "correct_label", "expected_response", "ideal", "expected", "response", "result", "content",
    "text",
)  # fmt: skip

_INPUTS, _OUTPUTS = ("inputs.", "inputs_", "input_"), ("outputs.", "outputs_", "output_")


def _is_langsmith(material: Material) -> bool:
    if material.have("inputs"):
        # MLflow has the expected answers in `expectations`, and recorded ones in `outputs`.
        return not material.have("expectations") and all(
            isinstance(value_of(row.get("inputs")), Mapping) for row in material.rows
        )
    return (
        material.is_csv
        and not material.have("input")
        and any(key.startswith(_INPUTS) for key in material.keys)
        and any(key.startswith(_OUTPUTS) for key in material.keys)
    )


def _is_langfuse(material: Material) -> bool:
    rows = _langfuse_rows(material)
    keys = {key for row in rows for key in row}
    return "input" in keys and (
        "expectedOutput" in keys
        or not keys.isdisjoint({"datasetId", "datasetName", "sourceTraceId", "source_trace_id", "dataset_id"})
    )


def _is_openai_evals(material: Material) -> bool:
    return material.have("input", "ideal") or (
        material.have("item") and all(isinstance(row.get("item"), Mapping) for row in material.rows)
    )


def _read_langsmith(material: Material, export: Export) -> None:
    for row in material.rows:
        inputs, outputs = _part(row, "inputs", _INPUTS), _part(row, "outputs", _OUTPUTS)
        columns = tuple(key for key in row if key.startswith((*_INPUTS, *_OUTPUTS)))
        metadata = further(row, "id", "inputs", "outputs", *columns)
        _add(export, inputs, outputs, given_id=row.get("id"), metadata=metadata)


def _part(row: Mapping[str, Any], name: str, prefixes: tuple[str, ...]) -> Any:
    if name in row:
        return value_of(row[name])
    return {
        key.removeprefix(prefix): value_of(cell)
        for key, cell in row.items()
        for prefix in prefixes
        if key.startswith(prefix)
    }


def _read_langfuse(material: Material, export: Export) -> None:
    for row in _langfuse_rows(material):
        if str(row.get("status") or "").upper() == "ARCHIVED":
            export.leave("archived items")
            continue
        name = "expectedOutput" if "expectedOutput" in row else "expected_output"
        metadata = further(row, "id", "input", name)
        _add(export, _json_text(row.get("input")), _json_text(row.get(name)), given_id=row.get("id"), metadata=metadata)


def _langfuse_rows(material: Material) -> Sequence[Mapping[str, Any]]:
    """The items; the API wraps them in `data`, the SDK's dataset in `items`."""
    document = material.document
    if isinstance(document, Mapping):
        for name in ("data", "items"):
            if isinstance(document.get(name), list):
                return [each for each in document[name] if isinstance(each, Mapping)]
    return material.rows


def _json_text(cell: Any) -> Any:
    if isinstance(cell, str) and cell.startswith('"') and cell.endswith('"') and len(cell) > 1:
        with suppress(ValueError):
            return json.loads(cell)
    return value_of(cell)


def _read_openai_evals(material: Material, export: Export) -> None:
    for row in material.rows:
        if "item" in row:
            _add(export, row["item"], row["item"], metadata=further(row, "item"), sole_answer=False)
            continue
        ideal = row.get("ideal")
        answers = texts_of(ideal)
        metadata = further(row, "input", "ideal")
        _add(export, row.get("input"), answers[0] if answers else ideal, metadata=metadata, accepted=answers)


def _add(
    export: Export,
    inputs: Any,
    outputs: Any,
    *,
    metadata: dict[str, Any],
    given_id: Any = None,
    accepted: tuple[str, ...] = (),
    sole_answer: bool = True,
) -> None:
    """Add the question in *inputs* with the answer in *outputs*; other values of both go to *metadata*."""
    messages = inputs.get("messages") if isinstance(inputs, Mapping) else inputs
    asked = user_texts(messages)
    if asked is not None and messages and any(each.get("role") in ("system", "developer") for each in messages):
        export.leave("system messages (the endpoint has its own)")
    text = asked[-1] if asked else _named(inputs, ASKED, sole=True)
    answer = _answer(outputs, sole=sole_answer)
    for name, part, carried in (("inputs", inputs, text), ("outputs", outputs, answer)):
        rest = part
        if isinstance(part, Mapping):
            rest = {key: value for key, value in part.items() if value not in (carried, answer) and key != "messages"}
        elif part == carried or name == "inputs":
            rest = None
        if rest not in (None, {}, [], "") and not (name == "outputs" and outputs is inputs):
            metadata.setdefault(name, rest)
    if text_of(text) is None:
        export.leave(f"rows whose inputs name no question (one of {', '.join(ASKED)}, or a single text)")
        return
    if outputs and answer is None:
        export.leave("outputs that name no answer (kept in metadata)")
    export.add(
        *(asked or [str(text)]),
        given_id=given_id,
        expected=answer,
        metadata=metadata,
        all_acceptable_answers=accepted,
    )


def _answer(outputs: Any, *, sole: bool) -> Any:
    messages = outputs.get("messages") if isinstance(outputs, Mapping) else outputs
    if isinstance(messages, list) and messages and isinstance(messages[-1], Mapping):
        return message_text(messages[-1])
    return _named(outputs, _ANSWERED, sole=sole)


def _named(value: Any, names: tuple[str, ...], *, sole: bool) -> Any:
    if not isinstance(value, Mapping):
        return value if text_of(value) is not None else None
    for name in names:
        if text_of(value.get(name)) is not None:
            return value[name]
    texts = [each for each in value.values() if isinstance(each, str) and each.strip()]
    return texts[0] if sole and len(texts) == 1 else None


FORMS = (
    Form(name="LangSmith dataset", recognises=_is_langsmith, read=_read_langsmith),
    Form(name="Langfuse dataset items", recognises=_is_langfuse, read=_read_langfuse),
    Form(name="OpenAI evals samples", recognises=_is_openai_evals, read=_read_openai_evals),
)
