"""Reads rows whose columns have the parts of a question, by `columns.json`, their names or the options `--column`."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from typing import Any

from pytest_ragcheck.errors import UsageError
from pytest_ragcheck.package_text import package_text
from pytest_ragcheck.questions.exports.export import Export, Form, further, passages, texts_among, user_texts
from pytest_ragcheck.questions.exports.material import Material, value_of
from pytest_ragcheck.questions.fields.key_names import INVERTED, QUESTION
from pytest_ragcheck.questions.nodes.node_values import FLAGS

_KEYS = (
    "question", "id", "expected_answer", "all_acceptable_answers", "answerable", "gold_passages", "must_mention",
    "must_not_mention", "metadata",
)  # fmt: skip
_UNREAD = ("distractors", "must_cite", "must_not_retrieve", "as", "thresholds", "top_k", "tags", "skip", "xfail")
_AMBIGUOUS = re.compile(r"(may be the .*)\. Rename it to '(\w+)'")
_BETWEEN_WORDS = re.compile(r"(?<=[a-z])(?=[A-Z])|[\s-]+|\.\d+$")


def _read_columns(
    material: Material,
    export: Export,
    columns: Mapping[str, str],
    *,
    unasserted: Iterable[str] = (),
    mapping: str = "metadata",
    lacking: str = "",
) -> None:
    """Read *columns* by keys; `before` has earlier turns, and *lacking* is the name of rows without turns."""
    # deepeval's `save_as` joins the contexts of CSV and JSON Lines.
    joined = mapping == "additional_metadata" and not isinstance(material.document, list)
    for row in material.rows:
        cells = dict(zip(columns, map(row.get, columns.values()), strict=True)).get
        asked = cells("question")
        # A list of messages has several turns. A text is one turn, even if it has brackets.
        messages = user_texts(value_of(asked))
        if asked == columns["question"] or (lacking and not messages):
            export.leave(lacking or "repeated headers")
            continue
        metadata = further(row, *columns.values(), mapping=mapping)
        # Giskard's out-of-scope questions have passages that seem to answer them.
        answerable = metadata.get("question_type") != "out of scope"
        for key in ("answerable", "unanswerable"):
            flag = str(cells(key, "")).strip().lower()
            if flag in FLAGS:
                answerable = FLAGS[flag] == (key == "answerable")
            elif flag not in ("", "none"):
                export.leave("rows that are answerable by neither yes nor no")
        found = passages(cells("gold_passages"), separator="|" if joined else "")
        export.add(
            *(user_texts(value_of(cells("before"))) or []),
            *([asked] if messages is None else messages),
            given_id=cells("id"),
            expected=[*_items(cells("expected_answer")), *_items(cells("all_acceptable_answers"))],
            gold=found if answerable else (),
            distractors=() if answerable else found,
            answerable=answerable,
            must_mention=texts_among(_items(cells("must_mention"))),
            must_not_mention=texts_among(_items(cells("must_not_mention"))),
            metadata=metadata,
        )
        export.leave_unasserted(row, *unasserted)


def _items(cell: Any) -> list[Any]:
    value = value_of(cell)
    if isinstance(value, list):
        return value
    return [] if value in (None, "nan") else [cell]  # a text may have brackets, and pandas writes nan


def _form(name: str, have: Iterable[str], one_of: Iterable[str], **columns: Any) -> Form:
    return Form(
        name=name,
        recognises=lambda each: each.have(*have) and each.have_one_of(*one_of),
        read=lambda *given: _read_columns(*given, **columns),
    )


def _plain(name: str) -> str:
    # `Expected Answer` and `expectedAnswer` are `expected_answer`; `.1` is at the end of a repeated name.
    return _BETWEEN_WORDS.sub("_", name).strip("_").lower()


def _is_own_table(material: Material) -> bool:
    if material.columns:
        return not material.keys.isdisjoint(material.columns)
    # Question files, old results, hotpotqa and squad_v2 have readers of their own.
    is_other = material.have_one_of("prediction", "supporting_facts") or material.have("answers", "title")
    names = {"question", *QUESTION.aliases["question"]}.intersection(map(_plain, material.keys))
    return bool(names) and not is_other and ".rag." not in material.path.name


def _read_own_table(material: Material, export: Export) -> None:
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
            mistakes.append(f"--column {key}={name} fits no column; write KEY=NAME with a key of {', '.join(_KEYS)}")
    if mistakes or "question" not in columns:
        mistakes = mistakes or ["no column has the texts to ask; add --column question=NAME"]
        raise UsageError(f"{material.path}: {'; '.join(mistakes)} (found: {', '.join(sorted(material.keys))}).")
    columns.pop("metadata", None)
    _read_columns(material, export, columns, unasserted=_UNREAD)


COLUMN_FORMS = [_form(**each) for each in json.loads(package_text("questions/exports/columns.json"))]
OWN_TABLE = Form(name="tables of your own", recognises=_is_own_table, read=_read_own_table)
