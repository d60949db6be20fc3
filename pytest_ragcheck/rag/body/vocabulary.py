"""Describes JSON values in words."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from pytest_ragcheck.rag.body.excerpt import excerpt

_MOST_KEYS = 6
"""Most keys of an object in a text."""


def named(value: object) -> str:
    """The kind of the value in the words of a sentence, such as `the number 3` or `an empty array`."""
    if value is None or isinstance(value, bool):
        return json.dumps(value)
    if isinstance(value, (int, float)):
        return f"the number {value}"
    if isinstance(value, str):
        return f'the string "{excerpt(value, 60)}"'
    if isinstance(value, Mapping):
        return f"an object with {keys_of(value)}"
    if isinstance(value, (list, tuple)):
        return f"an array of {len(value)}" if value else "an empty array"
    return instance(value)


def instance(value: object) -> str:
    name = type(value).__qualname__
    return f"{'an' if name[0] in 'AEIOaeio' else 'a'} {name}"


def named_error(error: object) -> str:
    """The message of an error, or the first of an array; the kind of the error without a message."""
    if isinstance(error, list) and error:
        error = error[0]
    if isinstance(error, Mapping):
        error = error.get("message") or error.get("detail") or error.get("reason") or error
    return f'"{excerpt(error)}"' if isinstance(error, str) else named(error)


def keys_of(value: Mapping[Any, Any]) -> str:
    if not value:
        return "no keys"
    keys = ", ".join(f'"{excerpt(str(key), 40)}"' for key in list(value)[:_MOST_KEYS])
    return keys if len(value) <= _MOST_KEYS else f"{keys} and {len(value) - _MOST_KEYS} more"
