from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from typing import Any

from pytest_ragcheck.package_text import package_text
from pytest_ragcheck.scores import LARGEST
from pytest_ragcheck.summary.predictions_reader import shown


def result_schema(kind: str) -> Any:
    return json.loads(package_text(f"summary/schemas/{kind}.schema.json"))


def kind_of_document(document: object) -> str | None:
    """The kind of a result file, given its JSON value; None for another file."""
    if not isinstance(document, dict):
        return None
    if "overall_metrics" in document or "metric_statistics" in document:
        return "summary"
    if "predictions" not in document:
        return None
    return "baseline" if is_compact(document) else "predictions"


def is_compact(document: Mapping[str, Any]) -> bool:
    """True if a document with predictions is a baseline with the answers of several runs."""
    found = document["predictions"]
    rows = found if isinstance(found, list) else ()
    return "runs" in document or any(
        isinstance(row, dict) and not row.keys().isdisjoint(("answers", "history")) for row in rows
    )


def schema_mistakes(kind: str, document: object, *, of_any_version: bool = False) -> Iterator[str]:
    """
    Yield each mistake as `place: mistake`, such as `predictions[3].verdict: ...`, in document order.

    *kind* is `predictions`, `summary`, `baseline` or `shard`. With *of_any_version*, missing and unknown keys are
    accepted, as in files of earlier and later versions.
    """
    errors = sorted(_validator(kind).iter_errors(document), key=lambda error: list(map(str, error.absolute_path)))
    for error in errors:
        is_by_version = error.validator in {"required", "additionalProperties"}
        # The findings of a gate are read as a whole.
        if not (of_any_version and is_by_version and "gate" not in error.absolute_path):
            yield f"{_place(error.absolute_path)}: {_mistake(error)}"
    for path in _numbers_out_of_range(document, ()):
        yield f"{_place(path)}: the number is beyond {LARGEST}"


@cache
def _validator(kind: str) -> Any:
    from jsonschema import Draft202012Validator

    schema = result_schema(kind)
    if kind == "shard":
        # A record has the evidence of its gate in the form of the predictions file.
        schema["$defs"] |= result_schema("predictions")["$defs"]
    # Following a reference takes as long as checking a value.
    return Draft202012Validator({**_expanded(schema, schema["$defs"]), "$defs": schema["$defs"]})


def _expanded(part: Any, definitions: Mapping[str, Any]) -> Any:
    # A part of a schema with each `$ref` replaced by its definition, except within that definition itself.
    if isinstance(part, list):
        return [_expanded(item, definitions) for item in part]
    if not isinstance(part, dict):
        return part
    name = part.get("$ref", "").removeprefix("#/$defs/")
    if name in definitions:
        return _expanded(definitions[name], {key: value for key, value in definitions.items() if key != name})
    return {key: _expanded(value, definitions) for key, value in part.items()}


def _place(path: Iterable[Any]) -> str:
    place = ""
    for part in path:
        place += f"[{part}]" if isinstance(part, int) else f".{part}" if place else str(part)
    return place or "the file"


def _mistake(error: Any) -> str:
    # The mistake in one line; jsonschema's message repeats the whole value.
    wanted = error.validator_value
    match error.validator:
        case "required":
            return f"no {', '.join(repr(key) for key in wanted if key not in error.instance)}"
        case "additionalProperties":
            unknown = [key for key in error.instance if key not in error.schema.get("properties", {})]
            return f"unknown {', '.join(map(repr, unknown[:5]))}"
        case "type":
            expected = wanted if isinstance(wanted, str) else " or ".join(wanted)
        case "enum":
            expected = f"one of {', '.join(map(shown, wanted))}"
        case "const":
            expected = shown(wanted)
        case "minimum" | "maximum":
            expected = f"at {'least' if error.validator == 'minimum' else 'most'} {wanted}"
        case keyword:
            return f"found {shown(error.instance)}, which breaks {keyword!r}: {shown(wanted)}"
    return f"found {shown(error.instance)}, expected {expected}"


def _numbers_out_of_range(value: object, path: tuple[Any, ...]) -> Iterator[tuple[Any, ...]]:
    if isinstance(value, dict | list):
        for key, item in value.items() if isinstance(value, dict) else enumerate(value):
            yield from _numbers_out_of_range(item, (*path, key))
    elif isinstance(value, int | float) and not abs(value) <= LARGEST:
        yield path
