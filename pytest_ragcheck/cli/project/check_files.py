from __future__ import annotations

import argparse
import fnmatch
import json
import os
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from pytest_ragcheck.cli.command_line import say
from pytest_ragcheck.errors import QuestionFileError, UsageError
from pytest_ragcheck.questions import QUESTION_FILES, RESULT_QUESTIONS, misspelt
from pytest_ragcheck.questions.collected_questions import CollectedQuestions, asked_in
from pytest_ragcheck.questions.question import END_TO_END
from pytest_ragcheck.redaction.printable import printable
from pytest_ragcheck.scores import ASSERTABLE
from pytest_ragcheck.short_texts import counted
from pytest_ragcheck.summary.result_schemas import kind_of_document, schema_mistakes

RESULTS = (RESULT_QUESTIONS, "_predictions.json", "_summary.json")

_READ_AS_QUESTIONS = (".yaml", ".yml", ".json", ".jsonl", ".csv")

_SKIPPED_FOLDERS = ("*.egg", ".*", "_darcs", "build", "CVS", "dist", "node_modules", "venv", "{arch}", "__pycache__")
"""The default of pytest's norecursedirs."""

_OUTPUT = "ragcheck-results"

_RESERVED_TAGS = ("filterwarnings", "parametrize", "rag_questions", "skip", "skipif", "usefixtures", "xfail")
"""The markers of pytest and of the plugin; only pytest can list the markers of a project."""


def run(chosen: argparse.Namespace) -> int:
    paths = list(dict.fromkeys(_files(chosen.paths)))
    collected = CollectedQuestions(root=Path.cwd())
    mistakes = {path: found for path in paths if (found := list(_mistakes(path, chosen.metric, collected)))}
    for found in mistakes.values():
        say(*found)
    files = counted(len(paths), "file")
    if not mistakes:
        print(f"{files}: no mistakes" if paths else "no question files")
        return 0
    print(f"{counted(sum(map(len, mistakes.values())), 'mistake')} in {len(mistakes)} of {files}")
    return 1


def _files(paths: Sequence[Path]) -> Iterator[Path]:
    if not paths:
        yield from _question_files(Path())
    for path in paths:
        if path.is_dir():
            yield from _question_files(path)
            yield from sorted(each for each in path.iterdir() if each.name.endswith(RESULTS))
        elif not path.exists():
            raise UsageError(f"{path}: there is no such file or folder. Check the path.")
        elif not path.name.lower().endswith(_READ_AS_QUESTIONS):
            raise UsageError(f"{path}: neither a question file nor a result file. Leave it out.")
        else:
            yield path


def _question_files(folder: Path) -> Iterator[Path]:
    for root, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if _is_entered(Path(root, name)))
        beside = any(name.lower().endswith(QUESTION_FILES) for name in names)
        for name in sorted(names):
            if name.lower().endswith(QUESTION_FILES):
                yield Path(root, name)
            elif remark := misspelt(name, root, beside=beside):
                say(f"not checked: {remark}")


def _is_entered(folder: Path) -> bool:
    if folder.name == _OUTPUT or any(fnmatch.fnmatch(folder.name, pattern) for pattern in _SKIPPED_FOLDERS):
        return False
    # Skip virtual environments and the output folder of runs.
    return not (folder / "pyvenv.cfg").exists() and not (folder / ".ragcheck").exists()


def _mistakes(path: Path, own_metrics: Iterable[str], collected: CollectedQuestions) -> Iterator[str]:
    kind, document = _result(path)
    if kind is not None:
        yield from (printable(f"{path}: {mistake}") for mistake in schema_mistakes(kind, document))
        return
    from pytest_ragcheck.questions.reader import read_question_file

    try:
        questions = read_question_file(
            path, root=Path.cwd(), known_metrics=(*ASSERTABLE, *own_metrics), reserved_tags=_RESERVED_TAGS
        )
        collected.add(asked_in(questions, tier=END_TO_END, ingest=False, root=Path.cwd()))
    except QuestionFileError as error:
        yield from error.problems


def _result(path: Path) -> tuple[str | None, object]:
    if path.suffix.lower() != ".json" or path.name.lower().endswith((*QUESTION_FILES, RESULT_QUESTIONS)):
        return None, None
    by_name = next((kind for kind in ("predictions", "summary") if path.name.endswith(f"_{kind}.json")), None)
    try:
        document = json.loads(path.read_bytes())
    except (OSError, ValueError, RecursionError):
        return None, None  # the reader of question files reports the broken JSON
    return by_name or kind_of_document(document), document


def result_mistakes(values: Iterable[object]) -> Iterator[str]:
    for path in dict.fromkeys(each for value in values for each in _result_files(value)):
        if path.name.endswith(RESULT_QUESTIONS) or _result(path)[0] is not None:
            yield from _mistakes(path, (), CollectedQuestions(root=Path.cwd()))


def _result_files(value: object) -> Iterator[Path]:
    if isinstance(value, list):
        for each in value:
            yield from _result_files(each)
    elif isinstance(value, str | Path) and str(value):
        path = Path(value)
        if path.is_file():
            yield path
        folder = path if path.is_dir() else path.parent
        yield from sorted(each for each in folder.glob("*.json") if each.name.endswith(RESULTS))
