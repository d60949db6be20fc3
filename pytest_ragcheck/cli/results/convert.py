from __future__ import annotations

import argparse
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_ragcheck.cli.command_line import say
from pytest_ragcheck.errors import UsageError
from pytest_ragcheck.redaction import Redactor
from pytest_ragcheck.short_texts import counted

if TYPE_CHECKING:
    from pytest_ragcheck.questions.exports.export import Export
    from pytest_ragcheck.questions.exports.material import Material
    from pytest_ragcheck.questions.question import Question

_ENDING = "_results.json"
_SHOWN_KEYS = 12


def run(chosen: argparse.Namespace) -> int:
    from pytest_ragcheck.questions.exports.export import Export
    from pytest_ragcheck.questions.exports.judged_collections import is_mtrag
    from pytest_ragcheck.questions.exports.recognised_forms import read_exports

    results: Path = chosen.output or Path("ragcheck-results")
    questions: Path = chosen.output or Path()
    exports, agents = [], dict[str, Path]()
    for path in _files(chosen.files):
        if path.is_file() and is_mtrag(path):
            say(*_convert_conversations(path, questions))
        else:
            exports.append(path)
    columns = {name: key for key, _, name in (each.partition("=") for each in chosen.column)}
    for read in list(read_exports(exports, columns)):
        if isinstance(read, Export):
            say(*_convert_export(read, questions))
        elif read.path.name.endswith(_ENDING) or read.have_one_of("predictions", "prediction"):
            say(*_convert(read.path, results, agents))
        else:
            raise _unknown(read)
    return 0


def _files(given: Sequence[Path]) -> list[Path]:
    found: list[Path] = []
    for path in given:
        inside = sorted(path.glob(f"*{_ENDING}")) if path.is_dir() else []
        if inside:
            found += inside
        elif path.is_file() or (path / "corpus.jsonl").is_file():
            found.append(path)
        elif path.is_dir():
            raise UsageError(f"{path}: the folder has no *{_ENDING} file. Name another folder, or the file itself.")
        else:
            raise UsageError(
                f"{path}: there is no such file or folder. Name a *{_ENDING} file, or an export of another tool."
            )
    return found


def _unknown(material: Material) -> UsageError:
    # The only mappings of YAML that are read are promptfoo's.
    keys = material.keys or re.findall(r"(?m)^[\w-]+(?=\s*:)", material.text)
    names = ", ".join(map(repr, sorted(set(keys))[:_SHOWN_KEYS])) or "no keys"
    return UsageError(
        f"{material.path}: is not a recognised export (found: {names}). Name the columns of a table of your own, such "
        "as --column question=NAME --column expected_answer=NAME. `ragcheck docs convert` lists the recognised forms. "
        "SQuAD and other standard datasets need `ragcheck dataset`. A question file needs no conversion: name it "
        "*.rag.yaml, *.rag.json, *.rag.jsonl or *.rag.csv, and run `ragcheck check`."
    )


def _convert_export(export: Export, folder: Path) -> Iterator[str]:
    if not export.questions:
        left = "; ".join(map("{0[0]}: {0[1]}".format, export.left.items())) or "it is empty"
        raise UsageError(f"{export.path}: {export.form_name}, has no questions to convert ({left}).")
    written = _write(folder, export.dataset_name, export.questions)
    yield f"{export.path}: {export.form_name}, {counted(len(export.questions), 'question')}"
    yield f"  wrote {written}"
    if export.path.stem.endswith(".rag"):
        yield f"  pytest still collects {export.path}: delete or rename it"
    for what, number in sorted(export.left.items()):
        yield f"  not carried over: {what}: {number}"


def _write(folder: Path, dataset_name: str, questions: Sequence[Question]) -> Path:
    from pytest_ragcheck.questions.question_rows import write_questions
    from pytest_ragcheck.report.files.output_folder import not_written

    written = folder / f"{dataset_name}.rag.json"
    if written.exists():
        raise UsageError(f"{written}: exists already. Delete it, or name another folder with --output.")
    try:
        write_questions(written, dataset_name, questions)
    except OSError as error:
        raise not_written(written, error) from None
    return written


def _convert(path: Path, folder: Path, agents: dict[str, Path]) -> Iterator[str]:
    from pytest_ragcheck.report.files.result_files import write_results
    from pytest_ragcheck.summary.aggregate import aggregate
    from pytest_ragcheck.summary.old_layout import read_old_results

    old = read_old_results(path)
    name = old.outcomes.agent_name
    if (other := agents.setdefault(name, path)) is not path:
        raise UsageError(
            f"{path}: {other} has results of the agent {name!r} too. Convert each into a folder of its own."
        )
    written = write_results(old.outcomes, aggregate(old.outcomes), folder, Redactor([]))
    yield f"{path}: {counted(len(old.outcomes.records), 'question')}"
    yield from map("  wrote {}".format, (*written.questions, written.predictions, written.summary))
    yield from map("  not carried over: {}".format, old.lost)


def _convert_conversations(path: Path, folder: Path) -> Iterator[str]:
    from pytest_ragcheck.questions.exports.judged_collections import read_mtrag

    sets = read_mtrag(path)
    yield f"{path}: {counted(sum(len(each.questions) for each in sets), 'turn')}"
    for each in sets:
        written = _write(folder, each.dataset_name, each.questions)
        conversations = len({question.conversation for question in each.questions})
        yield f"  wrote {written}: {counted(conversations, 'conversation')}, {counted(len(each.questions), 'turn')}"
