"""`Assertions` turns promptfoo's assertions into keys of a question."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from pytest_ragcheck.questions.exports.export import NAMES, Export, text_of
from pytest_ragcheck.questions.mention import compile_mention

_SPECIAL = re.compile(r"([\\.^$*+?{}\[\]|()])")

# An item of a list in a text, which may be quoted.
_ITEM = re.compile(r'\s*(?:"((?:\\["\\]|""|\\(?!["\\])|[^"\\])*)"|([^",\s][^,]*))?\s*(?:,|\Z)')
_ESCAPE = re.compile(r'\\(["\\])|"(?=")')

_MAXIMA = {"latency": ("latency_seconds", 0.001), "cost": ("cost_usd", 1.0)}
"""The bound of each assertion, and the factor to its unit, because promptfoo's latency is in milliseconds."""

_CELL = re.compile(r"\s*(?P<type>[a-z][\w-]*)(?:\((?P<threshold>[\d.]+)\))?\s*(?::\s*(?P<value>.*))?", re.DOTALL)
_CSV_TYPES = {"grade": "llm-rubric", "fn": "javascript", "eval": "javascript"}
_VALUELESS = frozenset({"is-json", "contains-json", "is-refusal", "not-is-refusal", "is-sql", "is-xml"})


@dataclass(slots=True)
class Assertions:
    export: Export
    must_mention: list[str] = field(default_factory=list)
    must_not_mention: list[str] = field(default_factory=list)
    expected: str | None = None
    thresholds: dict[str, float] = field(default_factory=dict)
    is_refused: bool = False
    left: list[Any] = field(default_factory=list)
    """Those not carried over, for the metadata."""

    def read(self, assertions: Iterable[Any]) -> None:
        for assertion in assertions:
            if not isinstance(assertion, Mapping) or "type" not in assertion:
                self._leave(str(mapping_of(assertion).get("$ref", "assertions of another form")), assertion)
            elif assertion.get("type") == "assert-set" and "threshold" not in assertion:
                self.read(assertion.get("assert") or ())
            else:
                self._take(assertion)
        if self.is_refused and self.expected is not None:
            self.is_refused = False
            self._leave("is-refusal", {"type": "is-refusal"})

    def _take(self, assertion: Mapping[str, Any]) -> None:
        kind, value = str(assertion.get("type")), assertion.get("value")
        if assertion.get("weight") == 0 or "transform" in assertion:
            self._leave(f"{kind} with {'transform' if 'transform' in assertion else 'weight 0'}", assertion)
        elif has_template(value):
            self._leave(f"{kind} with a template or a file", assertion)
        elif not (
            self._text_assertion(kind, value) or self._measure(kind, assertion) or self._reference(kind, assertion)
        ):
            self._leave(kind, assertion)

    def _text_assertion(self, kind: str, value: Any) -> bool:
        negated, positive = kind.startswith("not-"), kind.removeprefix("not-")
        patterns = _patterns(positive, value, negated=negated)
        if patterns is None or not all(map(_compiles, patterns)):
            return False
        (self.must_not_mention if negated else self.must_mention).extend(patterns)
        if kind == "equals" and self.expected is None:
            self.expected = text_of(value)
        return True

    def _measure(self, kind: str, assertion: Mapping[str, Any]) -> bool:
        limit = assertion.get("threshold")
        if kind == "is-refusal":
            self.is_refused = True
            return True
        if isinstance(limit, bool) or not isinstance(limit, (int, float)):
            return kind == "context-faithfulness" and limit is None
        if kind == "context-faithfulness" and 0 <= limit <= 1:
            self.thresholds["groundedness"] = max(float(limit), self.thresholds.get("groundedness", 0.0))
            return True
        if kind in _MAXIMA and limit > 0:
            name, factor = _MAXIMA[kind]
            self.thresholds[name] = min(limit * factor, self.thresholds.get(name, float("inf")))
            return True
        return False

    def _reference(self, kind: str, assertion: Mapping[str, Any]) -> bool:
        text = text_of(assertion.get("value"))
        if kind not in {"factuality", "context-recall", "similar"} or text is None or self.expected not in (None, text):
            return False
        self.expected = text
        if "threshold" in assertion:
            self._leave(f"threshold of {kind} (its value is the expected answer)", assertion)
        return True

    def _leave(self, what: str, assertion: Any) -> None:
        self.export.leave(what)
        self.left.append(assertion)


def of_cell(cell: str) -> dict[str, Any]:
    found = _CELL.fullmatch(cell)
    if (
        found is None
        or found["type"].removeprefix("not-") not in NAMES["assertions of promptfoo"]
        or (found["value"] is None and not found["threshold"] and found["type"] not in _VALUELESS)
    ):
        return {"type": "equals", "value": cell}
    kind = _CSV_TYPES.get(found["type"], found["type"])
    limit, value = found["threshold"] or "", (found["value"] or "").strip()
    if kind in {*_MAXIMA, "context-faithfulness"} and not limit:
        limit, value = value, ""
    given = {"type": kind, "value": value, "threshold": _number(limit)}
    return {key: each for key, each in given.items() if each}


def _number(text: str) -> float | str:
    try:
        return float(text)
    except ValueError:
        return text


def _patterns(kind: str, value: Any, *, negated: bool) -> list[str] | None:
    if kind == "regex":
        return [f"/{value}/"] if isinstance(value, str) and value else None
    if kind in {"equals", "starts-with"}:
        text = text_of(value)
        begin, end = (r"\A\s*", r"\s*\Z") if kind == "equals" else (r"\A", "")
        return None if text is None else [f"/{begin}{_escaped(text)}{end}/"]
    flag = "i" if kind.startswith("i") else ""
    name = kind.removeprefix("i")
    if name not in {"contains", "contains-all", "contains-any"}:
        return None
    texts = [text_of(value)] if name == "contains" else list(map(text_of, _items(value)))
    parts = [_escaped(each) for each in texts if each is not None]
    if not parts or len(parts) != len(texts) or (negated and name == "contains-all" and len(parts) > 1):
        return None
    if name == "contains-any" and not negated and len(parts) > 1:
        return [f"/(?:{'|'.join(parts)})/{flag}"]
    return [f"/{part}/{flag}" for part in parts]


def _items(value: Any) -> list[Any]:
    if not isinstance(value, str):
        return list_of(value)
    if _ITEM.sub("", value):
        return []  # promptfoo refuses an open quote, and text after a quoted item
    items = (_ESCAPE.sub(r"\1", quoted) or plain.strip() for quoted, plain in _ITEM.findall(value))
    return list(filter(None, items))


def _escaped(text: str) -> str:
    return _SPECIAL.sub(r"\\\1", text)


def _compiles(mention: str) -> bool:
    try:
        compile_mention(mention)
    except ValueError:
        return False
    return True


def has_template(value: Any) -> bool:
    return re.search(r"\{[{%]|file://", str(value)) is not None


def mapping_of(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def list_of(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []
