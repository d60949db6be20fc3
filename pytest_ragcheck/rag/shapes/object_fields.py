"""`readable` converts a returned object to the mappings and lists that expressions read."""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Mapping, Sequence
from typing import Any


class ObjectFields(Mapping[str, Any]):
    """
    The attributes and properties of an object, without its methods, as a mapping.

    Each attribute is read when an expression needs it, because a property may be slow.
    """

    def __init__(self, value: object) -> None:
        self._value = value

    def __getitem__(self, name: str) -> Any:
        try:
            found = getattr(self._value, name)
        except AttributeError:
            raise KeyError(name) from None
        if inspect.isroutine(found):
            raise KeyError(name)
        return readable(found)

    def __iter__(self) -> Iterator[str]:
        kind = type(self._value)
        own = (*getattr(self._value, "__dict__", ()), *getattr(kind, "__dataclass_fields__", ()))
        of_kind = (name for name in dir(kind) if not callable(getattr(kind, name, None)))
        return (name for name in dict.fromkeys((*own, *of_kind)) if not name.startswith("_"))

    def __len__(self) -> int:
        return len(list(iter(self)))


def readable(value: Any) -> Any:
    """The value with mappings as dicts, sequences as lists, and other objects as `ObjectFields`."""
    if value is None or isinstance(value, str | int | float):
        return value
    if isinstance(value, Mapping):
        return {key: readable(each) for key, each in value.items()}
    if isinstance(value, tuple) and (fields := getattr(value, "_asdict", None)):  # a named tuple
        return readable(fields())
    if isinstance(value, Sequence) and not isinstance(value, bytes):
        return list(map(readable, value))
    return ObjectFields(value)
