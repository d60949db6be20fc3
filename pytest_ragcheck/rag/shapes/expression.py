"""`Expression` finds values in a reply by JMESPath, and explains where in the reply a path ends."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from pytest_ragcheck.rag.body.event_parsers import is_failure
from pytest_ragcheck.rag.body.json_body import excerpt, keys_of, named, named_error, parse_json

_KEY = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_LIMIT, _FILTER, _TOOL = "the token limit was reached", "a filter blocked it", "the model ended with a tool call"
UNFINISHED = {
    "length": _LIMIT, "max_tokens": _LIMIT, "content_filter": _FILTER, "safety": _FILTER,
    "tool_calls": _TOOL, "tool_use": _TOOL,
}  # fmt: skip
"""By the reason of OpenAI, Anthropic and Gemini."""

_CONTENT = re.compile(r"^(.*choices\[0\]\.\w+\.)content$")
_DELTA = re.compile(r"(\w+ *== *)'response\.output_text\.delta'")
STATUSES = ("success", "ok", "status", "state", "code", "statusCode", "status_code")
FLAGS = ("timed_out", "errorMessage", "error_message", "hasErrors", "has_errors", "isError", "is_error")
ENDS = ("finish_reason", "finishReason", "stop_reason")
_NOT_DONE = re.compile(
    r"stat(?:us|e): (?:pending|queued|waiting|scheduled|submitted|starting|initiali[sz]ing|loading|running|processing|"
    r"in[ _-]?progress|not[ _-]?ready|partial|incomplete)|partial: true"
)
_ODD = re.compile(r"[-#%+/;^~]|[^\x00-\x7f]")
_SEE = " (ragcheck docs how-to/own-endpoint-shape)"


class Expression:
    """
    One JMESPath expression of a shape; a top-level key, such as `answer`, works without the JMESPath library.

    The function `from_json` reads a text of the reply that is JSON.

    Raises:
        ValueError: The text is not JMESPath; the message continues a sentence that starts with the expression.
    """

    __slots__ = ("_compiled", "is_key", "text")

    def __init__(self, text: str) -> None:
        self.text = text
        self.is_key = _KEY.fullmatch(text) is not None
        """True if the expression is a single top-level key of the reply."""

        self._compiled: Any = None if self.is_key else _compiled(text)
        # OpenAI puts a refusal beside the content, or into events of its own.
        wider = _DELTA.sub(r"(\g<0> || \1'response.refusal.delta')", _CONTENT.sub(r"not_null(\g<0>, \1refusal)", text))
        if wider != text:
            self._compiled = _compiled(wider)

    def find(self, reply: object) -> Any:
        """The value in the reply; None without a match. A function that rejects a value raises a ValueError."""
        if self.is_key:
            return reply.get(self.text) if isinstance(reply, Mapping) else None
        return self._compiled.search(reply, _options())

    def error_in(self, reply: object, *, beside_text: bool = False, unfinished: bool = False) -> str:
        """
        The message of an error in the reply or in an object on the path of the expression; empty without one.

        With *beside_text* an error may be a warning, and counts only if the status is "failed". With *unfinished* the
        reason of an unfinished answer, and a failure, count too.
        """
        for place in self.objects(reply):
            failed = str(place.get("status")).lower() == "failed"
            if (failed or not beside_text) and (error := place.get("error") or place.get("errors")):
                return named_error(error)
            if unfinished and (reason := self._unfinished(place)):
                return reason
        return self.failure_in(reply) if unfinished else ""

    def _unfinished(self, place: Mapping[str, Any]) -> str:
        if details := place.get("incomplete_details"):  # of OpenAI's Responses API
            return named_error(details)
        parts = (place, place.get("response_metadata"), place.get("meta"))  # of LangChain, of Haystack
        reasons = [(key, str(part.get(key))) for part in parts if isinstance(part, Mapping) for key in ENDS]
        if ("content" in place or "role" in place) and place.get("tool_calls"):
            reasons.append(("message with", "tool_calls"))
        for key, reason in reasons:
            why = UNFINISHED.get(reason.lower().replace("-", "_"), "")
            # The answer may be an argument of the tool.
            if why and not (why is _TOOL and "tool_" in self.text):
                return f'{key} "{reason}" ({why})'
        return ""

    def failure_in(self, reply: object) -> str:
        """As `error_in`: the message beside a mark of a failure, or the mark, such as `status: failed`."""
        for place in self.objects(reply):
            if mark := next(_marks(place), ""):
                return named_error(place.get("message") or place.get("msg") or mark)
        return ""

    def pending_in(self, reply: object) -> str:
        """As `error_in`: the mark of a job that is not done, such as `status: pending`."""
        for place in self.objects(reply):
            for key in ("status", "state", "partial"):
                if _NOT_DONE.fullmatch(mark := f"{key}: {place.get(key)}".lower()):
                    return mark
        return ""

    def objects(self, reply: object) -> list[Mapping[str, Any]]:
        path = [] if self.is_key else _read_objects(self._compiled.parsed, reply)
        return [place for place in (reply, *path) if isinstance(place, Mapping)]

    def dead_end(self, reply: object) -> str:
        """
        The point where the path ends in the reply, as a clause: `result has no "text" (found "answer")`.

        The clause is empty if the path exists, in every element of arrays too, and for an expression with filters or
        functions, which leave out values on purpose.
        """
        try:
            if self.is_key:
                _Place("", reply).key(self.text)
            else:
                _follow(self._compiled.parsed, [_Place("", reply)])
        except _DeadEnd as end:
            return end.clause
        except _HasFilter:
            pass
        return ""


def written(key: str) -> str:
    return key if _KEY.fullmatch(key) else json.dumps(key, ensure_ascii=False)


def _compiled(text: str) -> Any:
    import jmespath
    from jmespath.exceptions import JMESPathError

    if not text:
        raise ValueError("is empty")
    try:
        compiled = jmespath.compile(text)
    except JMESPathError as error:
        raise ValueError(_mistake(text, getattr(error, "lex_position", 0))) from None
    for node in _nodes(compiled.parsed):
        known = _options().custom_functions.FUNCTION_TABLE
        if node["type"] == "function_expression" and node["value"] not in known:
            raise ValueError(f"calls {node['value']}(), which is not a JMESPath function")
    return compiled


@lru_cache(maxsize=1)
def _options() -> Any:
    from jmespath import Options
    from jmespath.functions import Functions, signature

    class WithJson(Functions):
        @signature({"types": ["string", "null"]})
        def _func_from_json(self, text: str | None) -> Any:
            return None if text is None else parse_json(text.encode())

    return Options(custom_functions=WithJson())


def _read_objects(node: Any, reply: object) -> list[object]:
    from jmespath.visitor import TreeInterpreter

    values: list[object] = []

    class Reader(TreeInterpreter):
        def visit_field(self, node: Any, value: Any) -> Any:
            values.append(value)
            return super().visit_field(node, value)

    with suppress(ValueError):  # raised by a function
        Reader(_options()).visit(node, reply)
    return values


def _marks(place: Mapping[str, Any]) -> Iterator[str]:
    # `timed_out` and `_shards` are of Elasticsearch, which may find nothing because of them.
    shards = place.get("_shards")
    failed = shards.get("failed") if isinstance(shards, Mapping) else 0
    # Not by truth: a status of 0 is a success.
    for key in (*STATUSES, *ENDS):
        value = place.get(key)
        text = str(value).lower() if isinstance(value, str | int) else ""
        if is_failure(text):
            yield f"{key}: {text}"
    for key in FLAGS:
        value = place.get(key)
        if value is True:
            yield f"{key}: true"
        elif isinstance(value, str) and value.strip() and key.endswith("essage"):
            yield value
    if failed:
        yield f"_shards.failed: {failed}"


def _mistake(text: str, position: int) -> str:
    if position >= len(text):
        return f"ends too early for JMESPath{_SEE}"
    what = f"is not JMESPath from character {position + 1} on, {excerpt(text[position:], 20)!r}{_SEE}"
    odd = _ODD.match(text, position)
    return f'{what}; write a key that is not a plain name in double quotes, such as "page-content"' if odd else what


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


class _HasFilter(Exception):
    """The expression has a filter or a function."""


@dataclass(frozen=True, slots=True)
class _Place:
    """A value within the reply and its path, as `_follow` visits them."""

    path: str
    value: object
    depth: int = 0

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
    # The places that a node selects, starting from *places*; raises the two exceptions above.
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
    elif what == "function_expression" and node["value"] == "from_json":
        found = _follow(children[0], places)
        places = [_Place(f"from_json({each.path})", parse_json(str(each.value).encode()), each.depth) for each in found]
    elif what not in {"identity", "current"}:
        raise _HasFilter
    return places


def _flattened(node: dict[str, Any], places: list[_Place]) -> list[_Place]:
    inner = _follow(node, places)
    if node["type"] != "projection":  # a single array; places of a projection are elements already
        inner = [each for place in inner for each in place.elements()]
    return [
        each for place in inner for each in (place.elements() if isinstance(place.value, list | tuple) else [place])
    ]


def _first(choices: list[dict[str, Any]], place: _Place) -> list[_Place]:
    # The places of the first choice that has any; else raises the dead end of the longest path.
    farthest = None
    for choice in choices:
        try:
            return _follow(choice, [place])
        except _DeadEnd as end:  # noqa: PERF203 - one or two choices
            farthest = end if farthest is None or end.depth > farthest.depth else farthest
    raise farthest or _HasFilter
