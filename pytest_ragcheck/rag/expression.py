"""Expressions that lead into a reply, in JMESPath, and where one of them leads nowhere."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from pytest_ragcheck.rag.excerpt import excerpt
from pytest_ragcheck.rag.vocabulary import keys_of, named

if TYPE_CHECKING:
    from collections.abc import Iterator

_KEY = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_SYNTAX = frozenset(" \t\r\n.,:[]{}()*|&!<>=?@'\"`\\")


class Expression:
    """
    One expression; a key of the reply itself, such as `answer`, needs no JMESPath library to be found.

    Args:
        text: Such as `result.text` or `references[].content[]`.

    Raises:
        ValueError: It is no JMESPath; the text goes on from the expression.
    """

    __slots__ = ("_compiled", "is_key", "text")

    def __init__(self, text: str) -> None:
        self.text = text
        self.is_key = _KEY.fullmatch(text) is not None
        """Whether it is nothing but a key of the reply itself."""

        self._compiled: Any = None if self.is_key else _compiled(text)

    def find(self, reply: object) -> Any:
        """
        What it leads to; None where it leads nowhere.

        Raises:
            ValueError: A function in it refuses what the reply has.
        """
        if self.is_key:
            return reply.get(self.text) if isinstance(reply, Mapping) else None
        return self._compiled.search(reply)

    def dead_end(self, reply: object) -> str:
        """
        Where in the reply it leads nowhere, as a clause such as `result has no "text" (found "answer")`.

        Empty where it leads on everywhere, elements of arrays included, and where it does more than lead (filters,
        functions): what those leave out is left out on purpose.
        """
        try:
            if self.is_key:
                _Place("", reply).key(self.text)
            else:
                _follow(self._compiled.parsed, [_Place("", reply)])
        except _DeadEnd as end:
            return end.clause
        except _DoesMore:
            return ""
        return ""


def written(key: str) -> str:
    """The key as an expression has it: in double quotes unless it is a plain name."""
    return key if _KEY.fullmatch(key) else json.dumps(key, ensure_ascii=False)


def _compiled(text: str) -> Any:
    import jmespath  # noqa: PLC0415 - the contract's own shape does without
    from jmespath.exceptions import JMESPathError  # noqa: PLC0415 - as above
    from jmespath.functions import Functions  # noqa: PLC0415 - as above

    if not text:
        raise ValueError("is empty")
    try:
        compiled = jmespath.compile(text)
    except JMESPathError as error:
        raise ValueError(_mistake(text, getattr(error, "lex_position", 0))) from None
    for node in _nodes(compiled.parsed):
        if node["type"] == "function_expression" and node["value"] not in Functions.FUNCTION_TABLE:
            raise ValueError(f"calls {node['value']}(), which is no function of JMESPath")
    return compiled


def _mistake(text: str, position: int) -> str:
    if position >= len(text):
        return "ends too early"
    what = f"cannot be read from character {position + 1} on, {excerpt(text[position:], 20)!r}"
    odd = text[position] not in _SYNTAX and not re.match(r"[A-Za-z0-9_]", text[position])
    return f'{what}; a key that is no plain name stands in double quotes, such as "page-content"' if odd else what


def _nodes(node: Any) -> Iterator[dict[str, Any]]:
    if isinstance(node, dict):  # the bounds of a slice are numbers
        yield node
        for child in node["children"]:
            yield from _nodes(child)


class _DeadEnd(Exception):
    def __init__(self, clause: str, depth: int) -> None:
        super().__init__(clause)
        self.clause = clause
        self.depth = depth


class _DoesMore(Exception):
    """The expression has a part that does more than lead on."""


class _Place:
    """A value within the reply, and the path that leads to it."""

    __slots__ = ("depth", "path", "value")

    def __init__(self, path: str, value: object, depth: int = 0) -> None:
        self.path = path
        self.value = value
        self.depth = depth

    def key(self, name: str) -> _Place:
        path = f"{self.path}.{written(name)}" if self.path else written(name)
        if not isinstance(self.value, Mapping):
            raise self._end(f"is {named(self.value)}" + (f', without "{name}"' if self.path else ""))
        if name not in self.value:
            raise self._end(f'has no "{excerpt(name, 60)}" (found {keys_of(self.value)})')
        return self._next(path, self.value[name])

    def index(self, number: int) -> _Place:
        values = self.value
        if not isinstance(values, list | tuple) or not -len(values) <= number < len(values):
            raise self._end(f"is {named(values)}, without [{number}]")
        return self._next(f"{self.path}[{number}]", values[number])

    def elements(self) -> list[_Place]:
        if not isinstance(self.value, list | tuple):
            raise self._end(f"is {named(self.value)}, not an array")
        return [self._next(f"{self.path}[{index}]", value) for index, value in enumerate(self.value)]

    def _next(self, path: str, value: object) -> _Place:
        place = _Place(path, value, self.depth + 1)
        if value is None:
            raise place._end("is null")
        return place

    def _end(self, clause: str) -> _DeadEnd:
        return _DeadEnd(f"{self.path or 'the reply'} {clause}", self.depth)


def _follow(node: dict[str, Any], places: list[_Place]) -> list[_Place]:
    """
    The places that the part of an expression leads to from these.

    Raises:
        _DeadEnd: One of the places does not have what the part names.
        _DoesMore: The part is not one that only leads on.
    """
    children, what = node["children"], node["type"]
    if what == "field":
        return [place.key(node["value"]) for place in places]
    if what == "index":
        return [place.index(node["value"]) for place in places]
    if what in {"subexpression", "index_expression"}:
        for child in children:
            places = _follow(child, places)
    elif what == "projection":
        left = _follow(children[0], places)
        flat = children[0]["type"] == "flatten"
        places = _follow(children[1], left if flat else [each for place in left for each in place.elements()])
    elif what == "flatten":
        places = _flattened(children[0], places)
    elif what == "function_expression" and node["value"] == "not_null":
        places = [found for place in places for found in _first(children, place)]
    elif what not in {"identity", "current"}:
        raise _DoesMore
    return places


def _flattened(node: dict[str, Any], places: list[_Place]) -> list[_Place]:
    inner = _follow(node, places)
    if node["type"] != "projection":  # one array; else the places are its elements already
        inner = [each for place in inner for each in place.elements()]
    return [
        each for place in inner for each in (place.elements() if isinstance(place.value, list | tuple) else [place])
    ]


def _first(choices: list[dict[str, Any]], place: _Place) -> list[_Place]:
    """Where the first choice leads that leads anywhere; else the dead end of the one that came farthest."""
    farthest = None
    for choice in choices:
        try:
            return _follow(choice, [place])
        except _DeadEnd as end:  # noqa: PERF203 - one or two choices
            farthest = end if farthest is None or end.depth > farthest.depth else farthest
    raise farthest or _DoesMore
