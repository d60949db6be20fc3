"""Checks result files against their JSON Schemas."""

from __future__ import annotations

import json
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from pytest_ragcheck.scores.score import LARGEST
from pytest_ragcheck.summary.predictions_reader import shown

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

RESULT_KINDS = ("predictions", "summary")
"""The result files with a schema; questions files have the schema of question files."""


def result_schema_text(kind: str) -> str:
    """Return the JSON Schema of one of `RESULT_KINDS`."""
    return files("pytest_ragcheck.summary").joinpath(f"schemas/{kind}.schema.json").read_text(encoding="utf-8")


def kind_of_document(document: object) -> str | None:
    """Return the kind of a result file, given its JSON value; None for another file."""
    if not isinstance(document, dict):
        return None
    if "overall_metrics" in document or "metric_statistics" in document:
        return "summary"
    return "predictions" if "predictions" in document else None


def schema_mistakes(kind: str, document: object) -> Iterator[str]:
    """Yield each mistake as `place: mistake`, such as `predictions[3].verdict: ...`, in document order."""
    errors = sorted(_validator(kind).iter_errors(document), key=lambda error: list(map(str, error.absolute_path)))
    for error in errors:
        yield f"{_place(error.absolute_path)}: {_what(error)}"
    for path in _numbers_out_of_range(document, ()):
        yield f"{_place(path)}: the number is beyond {LARGEST}"


@cache
def _validator(kind: str) -> Any:
    from jsonschema import Draft202012Validator

    return Draft202012Validator(json.loads(result_schema_text(kind)))


def _place(path: Iterable[Any]) -> str:
    place = ""
    for part in path:
        place += f"[{part}]" if isinstance(part, int) else f".{part}" if place else str(part)
    return place or "the file"


def _what(error: Any) -> str:
    """Return the mistake in one line; jsonschema's message repeats the whole value."""
    found = shown(error.instance)
    match error.validator:
        case "required":
            missing = [key for key in error.validator_value if key not in error.instance]
            return f"no {', '.join(map(repr, missing))}"
        case "additionalProperties":
            unknown = [key for key in error.instance if key not in error.schema.get("properties", {})]
            return f"unknown {', '.join(map(repr, unknown[:5]))}"
        case "type":
            kinds = error.validator_value
            wanted = kinds if isinstance(kinds, str) else " or ".join(kinds)
            return f"found {found}, expected {wanted}"
        case "enum":
            return f"found {found}, expected one of {', '.join(map(shown, error.validator_value))}"
        case "const":
            return f"found {found}, expected {shown(error.validator_value)}"
        case keyword:
            return f"found {found}, which breaks {keyword!r}: {shown(error.validator_value)}"


def _numbers_out_of_range(value: object, path: tuple[Any, ...]) -> Iterator[tuple[Any, ...]]:
    if isinstance(value, dict | list):
        for key, item in value.items() if isinstance(value, dict) else enumerate(value):
            yield from _numbers_out_of_range(item, (*path, key))
    elif isinstance(value, int | float) and not abs(value) <= LARGEST:
        yield path
