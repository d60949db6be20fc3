"""`ragcheck convert`: turns results of the five-file layout into the three files, and MT-RAG into question files."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from pytest_ragcheck.cli.arguments import add_output_folder
from pytest_ragcheck.cli.printing import say
from pytest_ragcheck.errors import UsageError

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator, Sequence

_ENDING = "_results.json"


def add_to(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command to `ragcheck`."""
    parser = commands.add_parser(
        "convert",
        help="turn results of the old five-file layout into the three files, and MT-RAG into question files",
        description="Reads results of five files (*_results.json, *_results_metrics.json and .txt, "
        "*_results_per_question.json and .csv), writes questions, predictions and summary, and reports what could not "
        "be converted. Conversations or tasks of MT-RAG become a question file for each of their corpora. "
        "Exit status: 0 done; 2 wrong usage, or a file cannot be read or written.",
    )
    parser.add_argument(
        "results",
        metavar="RESULTS",
        nargs="+",
        type=Path,
        help=f"a *{_ENDING} file, a folder with some, or conversations",
    )
    add_output_folder(parser)
    parser.set_defaults(run=_run)


def _run(chosen: argparse.Namespace) -> int:
    from pytest_ragcheck.questions.mtrag import is_mtrag

    for path in _files(chosen.results):
        convert = _convert_conversations if is_mtrag(path) else _convert
        say(*convert(path, chosen.output))
    return 0


def _files(given: Sequence[Path]) -> list[Path]:
    found: list[Path] = []
    for path in given:
        if path.is_dir():
            inside = sorted(path.glob(f"*{_ENDING}"))
            if not inside:
                raise UsageError(f"{path}: the folder has no *{_ENDING} file. Name another folder, or the file itself.")
            found += inside
        elif path.is_file():
            found.append(path)
        else:
            raise UsageError(f"{path}: there is no such file or folder. Name a *{_ENDING} file.")
    return found


def _convert(path: Path, folder: Path) -> Iterator[str]:
    """Write the files of one run and print a summary of the conversion."""
    from pytest_ragcheck.redaction import Redactor
    from pytest_ragcheck.report.files.result_files import write_results
    from pytest_ragcheck.summary.aggregate import aggregate
    from pytest_ragcheck.summary.old_layout import read_old_results

    old = read_old_results(path)
    written = write_results(old.outcomes, aggregate(old.outcomes), folder, Redactor([]))
    yield f"{path}: {len(old.outcomes.records)} questions"
    yield from (f"  wrote {each}" for each in (*written.questions, written.predictions, written.summary))
    yield from (f"  not carried over: {each}" for each in old.lost)


def _convert_conversations(path: Path, folder: Path) -> Iterator[str]:
    """Write a question file for each corpus of the conversations, and print its size."""
    from pytest_ragcheck.questions.mtrag import read_mtrag
    from pytest_ragcheck.questions.question_rows import write_questions

    sets = read_mtrag(path)
    folder.mkdir(parents=True, exist_ok=True)
    yield f"{path}: {sum(len(each.questions) for each in sets)} turns"
    for each in sets:
        written = folder / f"{each.dataset_name}_questions.json"
        write_questions(written, each.dataset_name, each.questions)
        conversations = len({question.conversation for question in each.questions})
        yield f"  wrote {written}: {conversations} conversations, {len(each.questions)} turns"
