"""`FORMS` is the table of the recognised exports, and `read_exports` reads files in any of these forms."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from pytest_ragcheck.errors import UsageError
from pytest_ragcheck.questions.exports import beir_trec, inputs_outputs, promptfoo_tests
from pytest_ragcheck.questions.exports.beir_trec import is_qrels
from pytest_ragcheck.questions.exports.column_files import COLUMN_FORMS, OWN_TABLE
from pytest_ragcheck.questions.exports.export import Export, Form
from pytest_ragcheck.questions.exports.material import Material, lists_in, read_material

# The order matters where one form has the keys of another: Langfuse's CSV has those of deepeval too, and Confident AI's
# goldens those of Langfuse.
FORMS: tuple[Form, ...] = (
    *promptfoo_tests.FORMS,
    *COLUMN_FORMS[:5],
    *inputs_outputs.FORMS,
    *COLUMN_FORMS[5:],
    *beir_trec.FORMS,
    *(inputs_outputs.PHOENIX, OWN_TABLE),
)


def read_exports(paths: Sequence[Path], columns: Mapping[str, str] | None = None) -> Iterator[Export | Material]:
    """
    Yield the questions of each path in a recognised form, and the material of each other path.

    Judgements of TREC belong to the topics among the *paths*. *columns* has the keys of a table of the user's own.

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
        for form in (OWN_TABLE,) if material.columns else FORMS:
            if form.recognises(each):
                export = Export(path=material.path, form_name=form.name)
                form.read(each, export)
                for beside in lists.keys() - {name} if name else ():
                    export.leave(f"rows of the list {beside!r}", len(lists[beside]))
                return export
    return material
