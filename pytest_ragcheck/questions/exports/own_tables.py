"""Reads rows of one's own by the names of their columns, or by the options `--column`."""

from __future__ import annotations

import re

from pytest_ragcheck.errors import UsageError
from pytest_ragcheck.questions.exports.column_files import read_columns
from pytest_ragcheck.questions.exports.export import Export, Form
from pytest_ragcheck.questions.exports.material import Material
from pytest_ragcheck.questions.fields.key_names import INVERTED, QUESTION

_KEYS = (
    "question", "id", "expected_answer", "all_acceptable_answers", "answerable", "gold_passages", "must_mention",
    "must_not_mention", "metadata",
)  # fmt: skip
_UNREAD = ("distractors", "must_cite", "must_not_retrieve", "as", "thresholds", "top_k", "tags", "skip", "xfail")
_AMBIGUOUS = re.compile(r"(may be the .*)\. Rename it to '(\w+)'")
_BETWEEN_WORDS = re.compile(r"(?<=[a-z])(?=[A-Z])|[\s-]+|\.\d+$")


def _plain(name: str) -> str:
    # `Expected Answer` and `expectedAnswer` are `expected_answer`; `.1` is at the end of a repeated name.
    return _BETWEEN_WORDS.sub("_", name).strip("_").lower()


def _is_own_table(material: Material) -> bool:
    if material.columns:
        return not material.keys.isdisjoint(material.columns)
    # Question files need no conversion; old results, hotpotqa and squad_v2 have readers of their own.
    is_other = material.have_one_of("prediction", "supporting_facts") or material.have("answers", "title")
    names = {"question", *QUESTION.aliases["question"]}.intersection(map(_plain, material.keys))
    return bool(names) and not is_other and ".rag." not in material.path.name


def _read(material: Material, export: Export) -> None:
    columns = dict(zip(material.columns.values(), material.columns, strict=True))
    mistakes, unclear = [], []
    for name in sorted(material.keys - material.columns.keys()):
        plain = _plain(name)
        key = QUESTION.real_names.get(plain, "")
        if found := _AMBIGUOUS.match(QUESTION.refused.get(plain, "")):
            unclear.append((name, *found.groups()))
        elif key in columns and columns[key] not in material.columns:
            mistakes.append(f"the columns {columns[key]!r} and {name!r} are both {key}; add --column {key}=NAME")
        elif key in _KEYS[:-1]:
            columns.setdefault("unanswerable" if plain in INVERTED else key, name)
    for name, why, key in unclear:
        if key not in columns:
            mistakes.append(f'the column {name!r} {why}; add --column "{key}={name}" or --column "metadata={name}"')
    for key, name in columns.items():
        if key not in (*_KEYS, "unanswerable") or name not in material.keys:
            mistakes.append(f"no column has --column {key}={name}; write KEY=NAME with a key of {', '.join(_KEYS)}")
    if mistakes or "question" not in columns:
        mistakes = mistakes or ["no column has the texts to ask; add --column question=NAME"]
        raise UsageError(f"{material.path}: {'; '.join(mistakes)} (found: {', '.join(sorted(material.keys))}).")
    columns.pop("metadata", None)
    read_columns(material, export, columns, unasserted=_UNREAD)


OWN_TABLE = Form(name="tables of your own", recognises=_is_own_table, read=_read)
