"""Reads datasets of inputs and outputs of any shape, such as those of LangSmith, MLflow and Phoenix."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import partial
from typing import Any

from pytest_ragcheck.questions.exports.export import (
    NAMES,
    Export,
    Form,
    further,
    items_of,
    keep,
    message_text,
    passages,
    role_of,
    text_of,
    texts_among,
    user_texts,
)
from pytest_ragcheck.questions.exports.material import Material, lists_in, value_of

ASKED = NAMES["questions"]
"""Names of the text to ask, in the order of preference."""

_FLAT = re.compile(r"\A(input|output|expectation)s?[._](.+)", re.DOTALL)
_EXPECTED = ("expected_response", "expected_retrieved_context")
_SPAN_INPUT = "attributes.input.value"


def _is_mlflow(material: Material) -> bool:
    names = {key.partition(".")[0] for key in material.keys}
    # The second form is that of Databricks.
    return names >= {"inputs", "expectations"} or (
        "request" in names and material.have_one_of(*_EXPECTED, "expected_facts", "retrieved_context")
    )


def _is_langsmith(material: Material) -> bool:
    if material.have("inputs"):
        return isinstance(value_of(material.rows[0].get("inputs")), Mapping)
    names = _nested(dict.fromkeys(material.keys)).keys()
    return material.is_csv and not material.have("input") and names >= {"inputs", "outputs"}


def _is_langfuse(material: Material) -> bool:
    # `dataset_id` is Braintrust's too, whose query language writes only `input` and `expected`.
    return material.have("input") and (
        material.have_one_of(
            "expectedOutput", "datasetId", "datasetName", "sourceTraceId", "source_trace_id", "dataset_id"
        )
        or (material.have("expected") and isinstance(value_of(material.rows[0].get("input")), Mapping))
    )


def _is_openai_evals(material: Material) -> bool:
    return (material.have("ideal") and material.have_one_of("input", "messages")) or (
        material.have("item") and isinstance(material.rows[0].get("item"), Mapping)
    )


def _is_phoenix(material: Material) -> bool:
    return material.have(_SPAN_INPUT) or (
        material.have("input", "output") and material.have_one_of("reference", "updated_at", "node_id")
    )


def _read_mlflow(material: Material, export: Export) -> None:
    for flat in material.rows:
        row = _nested(flat)
        expected = value_of(row.get("expectations"))
        every = {**row, **(expected if isinstance(expected, Mapping) else {})}
        asked = "request" if "request" in row else "inputs"
        _add(
            export,
            value_of(row.get(asked)),
            value_of(every.get("expected_response")) or " ".join(texts_among(items_of(every.get("expected_facts")))),
            given_id=row.get("request_id"),
            gold=every.get("expected_retrieved_context"),
            metadata=further(every, "request_id", asked, "expectations", *_EXPECTED),
        )
        export.leave_unasserted(every, "guidelines")


def _read_langsmith(material: Material, export: Export) -> None:
    for flat in material.rows:
        row = _nested(flat)
        name = "id" if "id" in row else "example_id"  # of Phoenix
        metadata = further(row, name, "inputs", "outputs")
        inputs, outputs = value_of(row.get("inputs")), value_of(row.get("outputs"))
        _add(export, inputs, outputs, given_id=row.get(name), metadata=metadata)


def _nested(row: Mapping[str, Any]) -> dict[str, Any]:
    # The row with `inputs`, `outputs` and `expectations` from columns such as `inputs.question` and `input_question`.
    nested: dict[str, Any] = {}
    for key, cell in row.items():
        found = _FLAT.fullmatch(key)
        if found and f"{found[1]}s" not in row:
            nested.setdefault(f"{found[1]}s", {})[found[2]] = value_of(cell)
        else:
            nested[key] = cell
    return nested


def _read_langfuse(material: Material, export: Export) -> None:
    for row in material.rows:
        if str(row.get("status") or "").upper() == "ARCHIVED":
            export.leave("archived items")
            continue
        name = next((each for each in ("expectedOutput", "expected_output") if each in row), "expected")
        metadata = further(row, "id", "input", name)
        _add(export, _json_text(row.get("input")), _json_text(row.get(name)), given_id=row.get("id"), metadata=metadata)


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
        asked = "input" if "input" in row else "messages"  # of Phoenix
        metadata = further(row, asked, "ideal")
        _add(export, row.get(asked), value_of(row.get("ideal")), metadata=metadata)


def _read_phoenix(material: Material, export: Export) -> None:
    for row in material.rows:
        if value_of(row.get("parent_id")):
            export.leave("spans within a trace")
            continue
        asked = "input" if "input" in row else _SPAN_INPUT
        output = value_of(row.get("output"))
        # An example has an object; the text beside a `reference`, the retrieved documents, is the recorded answer.
        expected = output if isinstance(output, Mapping) else None
        metadata = further(row, "id", asked, *(["output"] if expected else []))
        _add(export, value_of(row.get(asked)), expected, given_id=row.get("id"), metadata=metadata)


def _read_bedrock(material: Material, export: Export) -> None:
    for row in material.rows:
        messages, expected = [], None
        for turn in lists_in(row).get("conversationTurns", ()):
            messages.append({"role": "user", "data": turn.get("prompt")})
            expected = turn.get("referenceResponses")
        # The responses of earlier turns are not judged.
        metadata = further(row) if len(messages) > 1 else further(row, "conversationTurns")
        _add(export, messages, expected, metadata=metadata)


def _add(
    export: Export,
    inputs: Any,
    outputs: Any,
    *,
    metadata: dict[str, Any],
    sole_answer: bool = True,
    given_id: Any = None,
    gold: Any = None,
) -> None:
    # Add the question in *inputs* with the answer in *outputs*; other values of both go to *metadata*.
    given = _column(export, "question", inputs, inputs, metadata)
    messages = given.get("messages", given.get("input")) if isinstance(given, Mapping) else given
    asked = user_texts(messages)
    if asked is not None and messages and {"system", "developer"} & set(map(str, map(role_of, messages))):
        export.leave("system messages (the endpoint has its own)")
    text = asked[-1] if asked else _named(given, ASKED, sole=True)
    answer = _column(export, "expected_answer", _answer(outputs, sole=sole_answer), outputs, inputs, metadata)
    given_id = _column(export, "id", given_id, inputs, outputs, metadata)
    gold = passages(export, _column(export, "gold_passages", gold, outputs, inputs, metadata))
    for name, part, carried in (("inputs", inputs, text), ("outputs", outputs, answer)):
        rest = part
        if isinstance(part, Mapping):
            rest = {
                key: value
                for key, value in part.items()
                if key != "messages" and value is not messages and _plain(value) not in (carried, answer)
            }
        elif part == carried or name == "inputs":
            rest = None
        if not (name == "outputs" and outputs is inputs):
            keep(metadata, name, rest)
    if text_of(text) is None:
        others = f"one of {', '.join(ASKED)}, or a single text; name another with --column question=NAME"
        export.leave(f"rows whose inputs name no question ({others})")
        return
    if outputs and answer is None:
        export.leave("outputs that name no answer (kept in metadata)")
    export.add(*(asked or [str(text)]), given_id=given_id, expected=answer, gold=gold, metadata=metadata)


def _column(export: Export, key: str, usual: Any, *places: Any) -> Any:
    # Take the value under the name that `--column` gives to *key*, which may begin with `inputs.`; else the usual one.
    if name := export.named.get(key):
        for place in places:
            for each in (name, _FLAT.sub(r"\2", name)):
                if isinstance(place, dict) and value_of(place.get(each)) is not None:
                    return _plain(value_of(place.pop(each)))
    return usual


def _names(material: Material) -> set[str]:
    # The keys of rows, and those of their objects alone and after the key of the object.
    cells = ((key, value_of(cell)) for row in material.rows for key, cell in row.items())
    inner = ((key, each) for key, value in cells if isinstance(value, Mapping) for each in value)
    return {*material.keys, *(name for key, each in inner for name in (each, f"{key}.{each}"))}


def _plain(value: Any) -> Any:
    # The text of a message, and any other value unchanged.
    return (message_text(value) if isinstance(value, Mapping) else None) or value


def _answer(outputs: Any, *, sole: bool) -> Any:
    messages = outputs.get("messages") if isinstance(outputs, Mapping) else outputs
    if isinstance(messages, list) and messages and isinstance(messages[-1], Mapping):
        return message_text(messages[-1])
    if isinstance(outputs, list):
        return outputs
    return _named(outputs, NAMES["answers"], sole=sole)


def _named(value: Any, names: Sequence[str], *, sole: bool) -> Any:
    if not isinstance(value, Mapping):
        return value if text_of(value) is not None else None
    for name in names:
        if text_of(text := _plain(value.get(name))) is not None:
            return text
    texts = [each for each in value.values() if isinstance(each, str) and each.strip()]
    return texts[0] if sole and len(texts) == 1 else None


_KEYS = ("question", "expected_answer", "id", "gold_passages")
_form = partial(Form, keys=_KEYS, names=_names)
FORMS = (
    _form(name="MLflow evaluation dataset", recognises=_is_mlflow, read=_read_mlflow),
    _form(name="LangSmith dataset", recognises=_is_langsmith, read=_read_langsmith),
    _form(name="Langfuse and Braintrust dataset items", recognises=_is_langfuse, read=_read_langfuse),
    _form(name="OpenAI evals samples", recognises=_is_openai_evals, read=_read_openai_evals),
    Form(
        name="Amazon Bedrock RAG evaluation",
        recognises=lambda material: material.have("conversationTurns"),
        read=_read_bedrock,
    ),
)
PHOENIX = _form(name="Phoenix examples and spans", recognises=_is_phoenix, read=_read_phoenix)
