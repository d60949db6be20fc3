"""Reads the `tests` of a promptfoo configuration, or a CSV file of tests; assertions become keys of a question."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from operator import attrgetter
from pathlib import Path
from typing import Any

from pytest_ragcheck.errors import DatasetError
from pytest_ragcheck.questions.exports.export import Export, Form, keep, text_of
from pytest_ragcheck.questions.exports.inputs_outputs import ASKED
from pytest_ragcheck.questions.exports.material import Material, read_material
from pytest_ragcheck.questions.exports.promptfoo_assertions import (
    Assertions,
    has_template,
    list_of,
    mapping_of,
    of_cell,
)

_EXPECTED = re.compile(r"__expected\d*")
_PLACEHOLDER = re.compile(r"\{\{\s*([A-Za-z_]\w*)\s*\}\}")

# The endpoint takes the place of the last three, which select the system under test.
_TEST_KEYS = (
    "vars", "assert", "description", "metadata", "options", "options.disableDefaultAsserts", "provider", "providers",
    "prompts",
)  # fmt: skip


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
    config = mapping_of(material.document)
    default = config.get("defaultTest")
    if isinstance(default, str):
        export.leave(f"defaultTest in another file ({default})")
    export.leave("scenarios", len(config.get("scenarios") or ()))
    prompts = config.get("prompts")
    texts = [prompts] if isinstance(prompts, str) else list_of(prompts)
    asked = _PLACEHOLDER.findall(" ".join(map(str, texts)))
    for test in _single_tests(material, export):
        _add(export, _resolved(test, config), mapping_of(_resolved(default, config)), asked)


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
    return {
        "vars": {key: cell for key, cell in row.items() if not key.startswith("__")},
        "assert": [of_cell(cell) for key, cell in row.items() if _EXPECTED.fullmatch(key) and cell.strip()],
        "metadata": {
            key.partition(":")[2]: cell for key, cell in row.items() if key.startswith("__metadata:") and cell
        },
        **{key: row[f"__{key}"] for key in further if row.get(f"__{key}", "").strip()},
    }


def _add(export: Export, test: Mapping[str, Any], default: Mapping[str, Any], asked: Sequence[str]) -> None:
    given = {**mapping_of(default.get("vars")), **mapping_of(test.get("vars"))}
    if isinstance(test.get("vars"), str):
        export.leave("vars in another file")
    metadata = {**mapping_of(default.get("metadata")), **mapping_of(test.get("metadata"))}
    keep(metadata, "description", test.get("description"))
    options = {**mapping_of(default.get("options")), **mapping_of(test.get("options"))}
    for key in (*{**default, **test}, *map("options.{}".format, options)):
        if key not in _TEST_KEYS:
            export.leave(f"{key} of a test")
    asserted = list_of(test.get("assert"))
    if mapping_of(test.get("options")).get("disableDefaultAsserts") is not True:
        asserted = [*list_of(default.get("assert")), *asserted]
    choices = [value if isinstance(value, list) and value else [value] for value in given.values()]
    for values in product(*choices):
        written = variables = dict(zip(given, values, strict=True))
        for _ in range(5):  # levels of variables inside variables, as in promptfoo
            variables = _rendered(variables, written)
        named = export.named.get("question", "")
        name = named if text_of(variables.get(named)) else None if named else _name_of_question(variables, asked)
        if name is None:
            others = f"{', '.join(ASKED)}, or the only one of the prompt; name another with --column question=NAME"
            export.leave(f"tests whose question is in no variable ({named or others})")
            continue
        if str(variables[name]).startswith("file://"):
            export.leave("tests whose question is in another file (file://)")
            continue
        if has_template(variables[name]):
            export.leave("templates in questions, which are asked as written")
        assertions = Assertions(export)
        assertions.read(_rendered(asserted, variables))
        further = {key: value for key, value in variables.items() if key != name and value not in (None, "")}
        kept = dict(metadata)
        keep(kept, "vars", further)
        keep(kept, "not_carried_over", assertions.left)
        wanted = export.named.get("expected_answer", "")
        answer = None if has_template(variables.get(wanted)) else text_of(variables.get(wanted))
        export.leave(f"tests without a text in the variable {wanted}", bool(wanted and not answer))
        export.add(
            variables[name],
            expected=answer or assertions.expected,
            must_mention=assertions.must_mention,
            must_not_mention=assertions.must_not_mention,
            thresholds=assertions.thresholds,
            answerable=not assertions.is_refused,
            metadata=kept,
        )


def _name_of_question(variables: Mapping[str, Any], asked: Sequence[str]) -> str | None:
    texts = [name for name, value in variables.items() if text_of(value) is not None]
    if usual := next(filter(texts.__contains__, ASKED), None):
        return usual
    named = [*set(asked).intersection(texts)]
    return named[0] if len(named) == 1 else texts[0] if len(texts) == 1 else None


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
        found: Any = config
        for key in reference[2:].split("/"):
            found = mapping_of(found).get(key)
        if isinstance(found, Mapping):
            return _resolved(
                {**found, **{key: each for key, each in value.items() if key != "$ref"}}, config, levels - 1
            )
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
