"""`FORMS` is the table of the recognised exports, and `read_exports` reads files in any of these forms."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from pytest_ragcheck.errors import UsageError
from pytest_ragcheck.questions.exports import beir_trec, inputs_outputs, llamaindex_files, promptfoo_tests
from pytest_ragcheck.questions.exports.beir_trec import is_qrels
from pytest_ragcheck.questions.exports.column_files import (
    AZURE,
    CONFIDENT_AI,
    DEEPEVAL,
    GISKARD,
    RAGAS,
    RAGAS_DATASET,
    RAGAS_TESTSET,
)
from pytest_ragcheck.questions.exports.export import Export, Form
from pytest_ragcheck.questions.exports.material import Material, Rows, lists_in, read_material
from pytest_ragcheck.questions.exports.own_tables import OWN_TABLE

# The order matters where one form has the keys of another: Langfuse's CSV has those of deepeval too, and Confident AI's
# goldens those of Langfuse.
FORMS: tuple[Form, ...] = (
    *promptfoo_tests.FORMS,
    *(GISKARD, RAGAS, RAGAS_DATASET, RAGAS_TESTSET, CONFIDENT_AI),
    *inputs_outputs.FORMS,
    *DEEPEVAL,
    *llamaindex_files.FORMS,
    *beir_trec.FORMS,
    *(inputs_outputs.PHOENIX, AZURE, OWN_TABLE),
)


def read_exports(paths: Sequence[Path], columns: Mapping[str, str] | None = None) -> Iterator[Export | Material]:
    """
    Yield the questions of each path in a recognised form, and the material of each other path.

    With *columns*, keys of a question by the names of columns, all files are tables of the user's own.

    Judgements of TREC belong to the topics among the *paths*.

    Raises:
        DatasetError: A file cannot be read, or has unexpected content; the text names the place.
        UsageError: There are judgements of TREC without topics.
    """
    materials = list(map(read_material, paths))
    qrels = tuple(filter(is_qrels, materials))
    others = [replace(each, qrels=qrels, columns=columns or {}) for each in materials if each not in qrels]
    found = list(map(_recognised, others))
    if qrels and not any(form and form.name.startswith("TREC") for _, form, _ in found):
        raise UsageError(
            f"{qrels[0].path}: has judgements of TREC and no questions. Name the file of their topics too: SGML, XML, "
            "lines of a number, a tab and a text, or a table with the columns qid and query."
        )
    for material, form, beside in found:
        if form is None:
            yield material
            continue
        export = Export(path=material.path, form_name=form.name)
        form.read(material, export)
        for name, rows in beside.items():
            export.leave(f"rows of the list {name!r}", len(rows))
        yield export


def _recognised(material: Material) -> tuple[Material, Form | None, dict[str, Rows]]:
    # Tools wrap their rows in an object, such as `data`; the lists beside a recognised one are not read.
    lists = lists_in(material.document)
    for name, rows in {"": material.rows, **lists}.items():
        each = replace(material, document=list(rows), rows=rows) if name else material
        for form in (OWN_TABLE,) if material.columns else FORMS:
            if form.recognises(each):
                lists.pop(name, None)
                return each, form, lists if name else {}
    return material, None, {}
