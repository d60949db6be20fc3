"""Recognises and reads exports; `columns.json` describes many of their forms."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from pytest_ragcheck.errors import UsageError
from pytest_ragcheck.package_text import package_text
from pytest_ragcheck.questions.exports import inputs_outputs, judged_collections, promptfoo_tests
from pytest_ragcheck.questions.exports.export import Export, Form, further, items_of, passages, user_texts
from pytest_ragcheck.questions.exports.judged_collections import is_qrels
from pytest_ragcheck.questions.exports.material import Material, lists_in, read_material, table_rows, value_of
from pytest_ragcheck.questions.fields.key_names import INVERTED, QUESTION
from pytest_ragcheck.questions.mention import is_regex
from pytest_ragcheck.questions.nodes.node import FLAGS

_KEYS = (
    "question", "id", "expected_answer", "all_acceptable_answers", "answerable", "gold_passages", "must_mention",
    "must_not_mention", "unanswerable", "metadata",
)  # fmt: skip
# An expected answer has commas. Nobody notices a forbidden text that is two in one.
_MARKS = {"all_acceptable_answers": "[|;]", "must_mention": "[|;]", "must_not_mention": "[|;,]"}
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
    columns = {key: name for key, name in columns.items() if name not in material.columns} | export.named
    if "question" not in columns:
        raise _wrong_columns(material, ["no column has the texts to ask; add --column question=NAME"])
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
                export.leave(f"{columns[key]} {flag!r}, which is neither yes nor no")
        found = passages(export, cells("gold_passages"), separator="|" if joined else "")
        for key, marks in _MARKS.items():
            text = value_of(cells(key))
            if isinstance(text, str) and not is_regex(text) and (mark := re.search(marks, text)):
                export.leave(f'{key} with "{mark[0]}", read as one; write ["30 days", "one month"]')
        export.add(
            *(user_texts(value_of(cells("before"))) or []),
            *([asked] if messages is None else messages),
            given_id=cells("id"),
            expected=[*items_of(cells("expected_answer")), *items_of(cells("all_acceptable_answers"))],
            gold=found if answerable else (),
            distractors=() if answerable else found,
            answerable=answerable,
            must_mention=items_of(cells("must_mention")),
            must_not_mention=items_of(cells("must_not_mention")),
            metadata=metadata,
        )
        export.leave_unasserted(row, *unasserted)


def _form(name: str, have: Iterable[str], one_of: Iterable[str], **columns: Any) -> Form:
    return Form(
        name=name,
        recognises=lambda each: each.have(*have) and each.have_one_of(*one_of),
        read=lambda *given: _read_columns(*given, **columns),
        keys=_KEYS,
    )


def _plain(name: str) -> str:
    # `Expected Answer` and `expectedAnswer` are `expected_answer`; `.1` is at the end of a repeated name.
    return _BETWEEN_WORDS.sub("_", name).strip("_").lower()


def _is_own_table(material: Material) -> bool:
    if material.columns:
        return material.is_csv or not material.keys.isdisjoint(material.columns)
    # Question files, old results, hotpotqa and squad_v2 have readers of their own.
    is_other = material.have_one_of("prediction", "supporting_facts") or material.have("answers", "title")
    names = {"question", *QUESTION.aliases["question"]}.intersection(map(_plain, material.keys))
    return bool(names) and not is_other and ".rag." not in material.path.name


def _read_own_table(material: Material, export: Export) -> None:
    columns = dict(export.named)
    mistakes, unclear, unread = [], [], []
    for name in sorted(material.keys - material.columns.keys()):
        plain = _plain(name)
        key = QUESTION.real_names.get(plain, "")
        if found := _AMBIGUOUS.match(QUESTION.refused.get(plain, "")):
            unclear.append((name, *found.groups()))
        elif key in columns and columns[key] not in material.columns:
            mistakes.append(f"the columns {columns[key]!r} and {name!r} are both {key}; add --column {key}=NAME")
        elif key in _KEYS[:-1]:
            columns.setdefault("unanswerable" if plain in INVERTED else key, name)
        elif key not in ("", "metadata"):
            unread.append(name)
    mistakes += [
        f'the column {name!r} {why}; add --column "{key}={name}" or --column "metadata={name}"'
        for name, why, key in unclear
        if key not in columns
    ]
    if mistakes:
        raise _wrong_columns(material, mistakes)
    _read_columns(material, export, columns, unasserted=unread)


def _check_columns(material: Material, form: Form) -> None:
    mistakes, names = [], form.names(material)
    for name, key in material.columns.items():
        near = get_close_matches(name, names, 1)
        if key not in form.keys:
            to_do = f"choose one of {', '.join(form.keys)}" if form.keys else "leave the option out"
            mistakes.append(f"--column {key}={name}: {key!r} is no key for {form.name}; {to_do}")
        elif name not in names:
            hint = f"; did you mean {near[0]!r}?" if near else ""
            mistakes.append(f"--column {key}={name}: there is no column {name!r}{hint}")
    if mistakes:
        raise _wrong_columns(material, mistakes)


def _wrong_columns(material: Material, mistakes: Iterable[str]) -> UsageError:
    return UsageError(f"{material.path}: {'; '.join(mistakes)} (found: {', '.join(sorted(material.keys))}).")


COLUMN_FORMS = [_form(**each) for each in json.loads(package_text("questions/exports/columns.json"))]
OWN_TABLE = Form(name="tables of your own", recognises=_is_own_table, read=_read_own_table, keys=_KEYS)

# The order matters where one form has the keys of another: Langfuse's CSV has those of deepeval too, and Confident AI's
# goldens those of Langfuse.
FORMS: tuple[Form, ...] = (
    *promptfoo_tests.FORMS,
    *COLUMN_FORMS[:5],
    *inputs_outputs.FORMS,
    *COLUMN_FORMS[5:],
    *judged_collections.FORMS,
    *(inputs_outputs.PHOENIX, OWN_TABLE),
)


def read_exports(paths: Sequence[Path], columns: Mapping[str, str] | None = None) -> Iterator[Export | Material]:
    """
    Yield the questions of each path in a recognised form, and the material of each other path.

    Judgements of TREC belong to the topics among the *paths*. *columns* has the keys of columns and variables by name.

    Raises:
        DatasetError: A file cannot be read, or has unexpected content.
        UsageError: There are judgements of TREC without topics, or a column is ambiguous.
    """
    materials = list(map(read_material, paths))
    qrels = tuple(filter(is_qrels, materials))
    names = []
    for material in materials:
        if material not in qrels:
            read = _read(replace(material, qrels=qrels, columns=columns or {}))
            names.append(read.form_name if isinstance(read, Export) else "")
            yield read
    if qrels and not "\n".join(names).count("TREC"):
        raise UsageError(
            f"{qrels[0].path}: has judgements of TREC and no questions. Name the file of their topics too: SGML, XML, "
            "lines of a number, a tab and a text, or a table with the columns qid and query. Or name BEIR's folder."
        )


def _read(material: Material) -> Export | Material:
    # Tools wrap their rows in an object, such as `data`; the lists beside a recognised one are not read.
    lists = lists_in(material.document)
    for name, rows in {"": material.rows, **lists}.items():
        each = replace(material, document=list(rows), rows=rows) if name else material
        for form in FORMS:
            if form.recognises(each):
                _check_columns(each, form)
                named = {key: name for name, key in each.columns.items() if key != "metadata"}
                export = Export(path=material.path, form_name=form.name, named=named)
                form.read(each, export)
                for beside in lists.keys() - {name} if name else ():
                    export.leave(f"rows of the list {beside!r}", len(lists[beside]))
                return export
    if "\t" in material.text.partition("\n")[0]:
        table_rows(material.path, material.text)
    return material
