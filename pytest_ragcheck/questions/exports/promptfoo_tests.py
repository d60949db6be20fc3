"""Reads the `tests` of a promptfoo configuration, or a CSV file of tests; assertions become keys of a question."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import reduce
from itertools import product
from operator import attrgetter
from pathlib import Path
from typing import Any

from pytest_ragcheck.errors import DatasetError
from pytest_ragcheck.questions.exports.export import NAMES, Export, Form, keep, text_of
from pytest_ragcheck.questions.exports.inputs_outputs import ASKED
from pytest_ragcheck.questions.exports.material import Material, read_material
from pytest_ragcheck.questions.mention import compile_mention

_EXPECTED = re.compile(r"__expected\d*")
_PLACEHOLDER = re.compile(r"\{\{\s*([A-Za-z_]\w*)\s*\}\}")

# The endpoint takes the place of the last three, which select the system under test.
_TEST_KEYS = (
    "vars", "assert", "description", "metadata", "options", "options.disableDefaultAsserts", "provider", "providers",
    "prompts",
)  # fmt: skip

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
class _Assertions:
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
                self._leave(str(_mapping(assertion).get("$ref", "assertions of another form")), assertion)
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
        elif _has_template(value):
            self._leave(f"{kind} with a template or a file", assertion)
        elif not (
            self._text_assertion(kind, value) or self._measure(kind, assertion) or self._reference(kind, assertion)
        ):
            self._leave(kind, assertion)

    def _text_assertion(self, kind: str, value: Any) -> bool:
        negated, positive = kind.startswith("not-"), kind.removeprefix("not-")
        patterns = _patterns(positive, value, negated=negated)
        try:
            list(map(compile_mention, patterns))
        except ValueError:
            return False
        (self.must_not_mention if negated else self.must_mention).extend(patterns)
        if kind == "equals" and self.expected is None:
            self.expected = text_of(value)
        return bool(patterns)

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


def _of_cell(cell: str) -> dict[str, Any]:
    found = _CELL.fullmatch(cell)
    if (
        found is None
        or found["type"].removeprefix("not-") not in NAMES["assertions of promptfoo"]
        or (found["value"] is None and not found["threshold"] and found["type"] not in _VALUELESS)
    ):
        return {"type": "equals", "value": cell}
    kind = _CSV_TYPES.get(found["type"], found["type"])
    limit: float | str = found["threshold"] or ""
    value = (found["value"] or "").strip()
    if kind in {*_MAXIMA, "context-faithfulness"} and not limit:
        limit, value = value, ""
    with suppress(ValueError):
        limit = float(limit)
    return {key: each for key, each in {"type": kind, "value": value, "threshold": limit}.items() if each}


def _patterns(kind: str, value: Any, *, negated: bool) -> list[str]:
    # The mentions; none for another assertion.
    if kind == "regex":
        return [f"/{value}/"] if isinstance(value, str) and value else []
    name = kind.removeprefix("i")
    texts = list(map(text_of, _items(value) if name in {"contains-all", "contains-any"} else [value]))
    parts = [_SPECIAL.sub(r"\\\1", each) for each in texts if each is not None]
    if len(parts) != len(texts) or (negated and name == "contains-all" and len(parts) > 1):
        return []
    if kind in {"equals", "starts-with"}:
        begin, end = (r"\A\s*", r"\s*\Z") if kind == "equals" else (r"\A", "")
        return [f"/{begin}{parts[0]}{end}/"]
    flag = "i" if kind.startswith("i") else ""
    if name not in {"contains", "contains-all", "contains-any"}:
        return []
    if name == "contains-any" and not negated and len(parts) > 1:
        return [f"/(?:{'|'.join(parts)})/{flag}"]
    return [f"/{part}/{flag}" for part in parts]


def _items(value: Any) -> list[Any]:
    if not isinstance(value, str):
        return _list(value)
    if _ITEM.sub("", value):
        return []  # promptfoo refuses an open quote, and text after a quoted item
    items = (_ESCAPE.sub(r"\1", quoted) or plain.strip() for quoted, plain in _ITEM.findall(value))
    return list(filter(None, items))


def _has_template(value: Any) -> bool:
    return re.search(r"\{[{%]|file://", str(value)) is not None


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _is_promptfoo(material: Material) -> bool:
    if material.is_csv:
        return any(map(_EXPECTED.fullmatch, material.keys))
    return bool(_tests(material)) and (isinstance(material.document, Mapping) or material.have("vars"))


def _tests(material: Material) -> Sequence[Any]:
    document = material.document
    if not isinstance(document, Mapping):
        return material.rows
    tests = document.get("tests")
    if isinstance(tests, list) and {*map(type, tests)} <= {str, dict}:
        return tests
    return [tests] if isinstance(tests, str) else []


def _read(material: Material, export: Export) -> None:
    config = _mapping(material.document)
    default = config.get("defaultTest")
    if isinstance(default, str):
        export.leave(f"defaultTest in another file ({default})")
    export.leave("scenarios", len(config.get("scenarios") or ()))
    prompts = config.get("prompts")
    asked = _PLACEHOLDER.findall(prompts if isinstance(prompts, str) else " ".join(map(str, _list(prompts))))
    for test in _single_tests(material, export):
        _add(export, _resolved(test, config), _mapping(_resolved(default, config)), asked)


def _single_tests(material: Material, export: Export) -> Iterator[Mapping[str, Any]]:
    if material.is_csv:
        yield from map(_of_row, material.rows)
        return
    for entry in _tests(material):
        if not isinstance(entry, str):
            yield entry
            continue
        named = entry.removeprefix("file://")
        if "://" in named or Path(named).suffix not in {".csv", ".yaml", ".yml", ".json", ".jsonl"}:
            export.leave(f"tests from {entry}")
            continue
        folder = material.path.parent
        is_one = Path(named).is_absolute() or (folder / named).is_file()
        paths = [folder / named] if is_one else sorted(folder.glob(named))
        if not any(map(Path.is_file, paths)):
            what = f"'tests' names {entry!r}, and there is no such file beside it. Copy the file there"
            raise DatasetError(f"{material.path.name}: {what}.")
        for path in paths:
            yield from _single_tests(read_material(path), export)


def _of_row(row: Mapping[str, str]) -> dict[str, Any]:
    further = ("description", "prefix", "suffix", "threshold")
    cells = {key: cell for key, cell in row.items() if cell.strip()}
    return {
        "vars": {key: cell for key, cell in row.items() if not key.startswith("__")},
        "assert": [_of_cell(cell) for key, cell in cells.items() if _EXPECTED.fullmatch(key)],
        "metadata": {key.partition(":")[2]: cell for key, cell in cells.items() if key.startswith("__metadata:")},
        **{key: cells[f"__{key}"] for key in further if f"__{key}" in cells},
    }


def _add(export: Export, test: Mapping[str, Any], default: Mapping[str, Any], asked: Sequence[str]) -> None:
    if isinstance(test.get("vars"), str):
        export.leave("vars in another file")
    given, metadata, options = (
        {**_mapping(default.get(key)), **_mapping(test.get(key))} for key in ("vars", "metadata", "options")
    )
    keep(metadata, "description", test.get("description"))
    for key in (*{**default, **test}, *map("options.{}".format, options)):
        if key not in _TEST_KEYS:
            export.leave(f"{key} of a test")
    asserted = _list(test.get("assert"))
    if _mapping(test.get("options")).get("disableDefaultAsserts") is not True:
        asserted = [*_list(default.get("assert")), *asserted]
    choices = [value if isinstance(value, list) and value else [value] for value in given.values()]
    for values in product(*choices):
        written = variables = dict(zip(given, values, strict=True))
        for _ in range(5):  # levels of variables inside variables, as in promptfoo
            variables = _rendered(variables, written)
        named = export.named.get("question", "")
        if (name := _name_of_question(variables, asked, named)) is None:
            others = f"{', '.join(ASKED)}, or the only one of the prompt; name another with --column question=NAME"
            export.leave(f"tests whose question is in no variable ({named or others})")
            continue
        if str(variables[name]).startswith("file://"):
            export.leave("tests whose question is in another file (file://)")
            continue
        if _has_template(variables[name]):
            export.leave("templates in questions, which are asked as written")
        wanted = export.named.get("expected_answer", "")
        answer = None if _has_template(variables.get(wanted)) else text_of(variables.get(wanted))
        export.leave(f"tests without a text in the variable {wanted}", bool(wanted and not answer))
        assertions = _Assertions(export, expected=answer)
        assertions.read(_rendered(asserted, variables))
        further = {key: value for key, value in variables.items() if key != name and value not in (None, "")}
        kept = dict(metadata)
        keep(kept, "vars", further)
        keep(kept, "not_carried_over", assertions.left)
        export.add(
            variables[name],
            expected=assertions.expected,
            must_mention=assertions.must_mention,
            must_not_mention=assertions.must_not_mention,
            thresholds=assertions.thresholds,
            answerable=not assertions.is_refused,
            metadata=kept,
        )


def _name_of_question(variables: Mapping[str, Any], asked: Sequence[str], named: str) -> str | None:
    texts = [name for name, value in variables.items() if text_of(value) is not None and named in ("", name)]
    usual = [*filter(texts.__contains__, ASKED)][:1]
    of_prompt = [*set(asked).intersection(texts)]
    return next((names[0] for names in (usual, of_prompt, texts) if len(names) == 1), None)


def _rendered(value: Any, variables: Mapping[str, Any]) -> Any:
    # A variable that is no text stays a placeholder. The limit keeps a text that names itself short.
    def text(found: re.Match[str]) -> str:
        each = variables.get(found[1])
        return json.dumps(each if isinstance(each, str) else text_of(each) or found[0])[1:-1]

    return json.loads(_PLACEHOLDER.sub(text, json.dumps(value), 100))


def _resolved(value: Any, config: Mapping[str, Any], levels: int = 9) -> Any:
    # Replace objects such as `{"$ref": "#/assertionTemplates/polite"}`. The limit ends those that name themselves.
    if isinstance(value, list):
        return [_resolved(each, config, levels) for each in value]
    if not isinstance(value, Mapping):
        return value
    reference = value.get("$ref")
    if isinstance(reference, str) and reference.startswith("#/") and levels:
        found = reduce(lambda outer, key: _mapping(outer.get(key)), reference[2:].split("/"), config)
        if found:
            own = {key: each for key, each in value.items() if key != "$ref"}
            return _resolved({**found, **own}, config, levels - 1)
    return {key: _resolved(each, config, levels) for key, each in value.items()}


FORMS = (
    Form(
        name="promptfoo tests",
        recognises=_is_promptfoo,
        read=_read,
        keys=("question", "expected_answer"),
        # The tests may be in other files; `_add` lists those that lack a variable.
        names=attrgetter("columns"),
    ),
)
