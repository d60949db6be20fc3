"""Reads rows of one's own by the names of their columns, or by the options `--column`."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from shlex import quote
from typing import Any

from pytest_ragcheck.errors import UsageError
from pytest_ragcheck.questions.exports.column_files import reader
from pytest_ragcheck.questions.exports.export import Export, Form
from pytest_ragcheck.questions.exports.material import Material, value_of
from pytest_ragcheck.questions.fields.field_readers import ANSWERS
from pytest_ragcheck.questions.fields.key_names import INVERTED, QUESTION
from pytest_ragcheck.questions.nodes.node_values import FLAGS
from pytest_ragcheck.questions.question_file_names import QUESTION_FILES

_OTHERS = ("all_acceptable_answers", "answerable", "must_mention", "must_not_mention")
_CARRIED = ("question", "id", "expected_answer", "gold_passages", *_OTHERS)
KEYS = (*_CARRIED, "metadata")
"""The keys that `--column` gives to columns."""

_AMBIGUOUS = re.compile(r"(may be the .*)\. Rename it to '(\w+)'")
_BETWEEN_WORDS = re.compile(r"(?<=[a-z])(?=[A-Z])|[\s-]+|\.\d+$")

_read_renamed = reader(
    "question",
    "expected_answer",
    "gold_passages",
    given_id="id",
    others=dict(zip(_OTHERS, _OTHERS, strict=True)),
    unasserted=QUESTION.aliases.keys() - KEYS,
)


def _plain(name: str) -> str:
    # `Expected Answer` and `expectedAnswer` are `expected_answer`; `.1` is at the end of a repeated name.
    return _BETWEEN_WORDS.sub("_", name).strip("_").lower()


def _key(name: str) -> str:
    return QUESTION.real_names.get(_plain(name), "")


def _is_own_table(material: Material) -> bool:
    if material.columns:
        return not material.columns.keys().isdisjoint(material.keys)
    # Question files need no conversion, and results and standard datasets have readers of their own.
    return (
        "question" in map(_key, material.keys)
        and not material.have_one_of("prediction", "supporting_facts")
        and not isinstance(value_of(material.rows[0].get("answers")), Mapping)
        and not material.path.name.lower().endswith(("_results.json", *QUESTION_FILES))
    )


def _read(material: Material, export: Export) -> None:
    columns = _columns(material)
    rows = []
    for row in material.rows:
        cells: dict[str, Any] = {}
        for name, cell in row.items():
            key = columns.get(name, "metadata")
            if key == "question" and cell == name:
                export.leave("repeated headers")
                break
            if key == "metadata":
                key = f"{name}_" if name in _CARRIED else name
            cells[key] = _flag(material, name, cell) if key == "answerable" else cell
        else:
            rows.append(cells)
    _read_renamed(replace(material, rows=tuple(rows)), export)


def _columns(material: Material) -> dict[str, str]:
    """
    The key of each column that is carried over.

    Raises:
        UsageError: A column is missing or ambiguous; the text has the options that say what it is.
    """
    columns = dict(material.columns)
    found = {key: name for name, key in columns.items()}
    mistakes = [f"there is no column {name!r}" for name in columns if name not in material.keys]
    for name in sorted(material.keys - columns.keys()):
        key = _key(name)
        if key in _CARRIED and found.get(key) not in material.columns:
            if key in found:
                mistakes.append(
                    f"the columns {found[key]!r} and {name!r} are both {key}; add {_option(key, name)} for one of them"
                )
            columns[name], found[key] = key, name
    for name in sorted(material.keys - columns.keys()):
        why = _AMBIGUOUS.match(QUESTION.refused.get(_plain(name), ""))
        if why and why[2] not in found and (why[2] not in ANSWERS or found.keys().isdisjoint(ANSWERS)):
            choice = f"{_option(why[2], name)} or {_option('metadata', name)}"
            mistakes.append(f"the column {name!r} {why[1]}; add {choice}")
    if "question" not in found:
        mistakes.append(f"no column has the texts to ask; add {_option('question', 'NAME')}")
    if mistakes:
        names = ", ".join(map(repr, sorted(material.keys)))
        raise UsageError(f"{material.path}: {'; '.join(mistakes)} (found: {names}).")
    return columns


def _option(key: str, name: str) -> str:
    return f"--column {quote(f'{key}={name}')}"


def _flag(material: Material, name: str, cell: Any) -> bool:
    text = "" if cell is None else str(cell).strip().lower()
    if text and text not in FLAGS:
        raise UsageError(f"{material.path}: the column {name!r} has {cell!r}. Write yes or no.")
    is_inverted = _plain(name) in INVERTED
    return FLAGS.get(text, not is_inverted) != is_inverted


OWN_TABLE = Form(name="tables of your own", recognises=_is_own_table, read=_read)
