"""`ragcheck baseline` adds a run to a baseline, or accepts the answers of a run."""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pytest_ragcheck.cli.arguments import add_output
from pytest_ragcheck.cli.printing import say
from pytest_ragcheck.config.baseline_place import BASELINE_FILE
from pytest_ragcheck.errors import UsageError
from pytest_ragcheck.report.counted import counted
from pytest_ragcheck.report.files.results_reader import ended_of, predictions_path
from pytest_ragcheck.report.terminal.gate_lines import flaky_lines
from pytest_ragcheck.summary.flaky import flaky_in_history
from pytest_ragcheck.summary.gate.baseline_reader import Baseline, read_baseline
from pytest_ragcheck.summary.gate.recorded.saved_runs import contexts_path, read_contexts
from pytest_ragcheck.summary.predictions_reader import read_document
from pytest_ragcheck.verdict.verdict import Verdict

RESULTS = Path("ragcheck-results")
_ADVICE = "Give the {agent}_predictions.json of a full run."
_OTHER = "Give -o another file, or move that one away."


def add_to(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = commands.add_parser(
        "baseline",
        help="save runs as a baseline, or accept a run's answers",
        description="Writes the file that pytest --rag-baseline compares with.",
    )
    actions = parser.add_subparsers(title="actions", metavar="ACTION", required=True, dest="action")
    save = actions.add_parser(
        "save",
        help="add a run to a compact baseline",
        description="Writes the answers, the verdicts and the digests of a full run, and a second file with the "
        "texts of its contexts. If the baseline exists, the run is added to it. A committed baseline "
        "shows answers and contexts to every reader of the repository. Exit status: 0 written, 2 wrong "
        "usage.",
    )
    accept = actions.add_parser(
        "accept",
        help="accept a run's answers as the recorded ones",
        description="Replaces the recorded answers of questions by those of a full run, drops the earlier runs of "
        "these questions, and lists each with its recorded verdict and its new one. Exit status: 0 written or nothing "
        "differs, 2 wrong usage.",
    )
    for action in (save, accept):
        add_output(action, default=BASELINE_FILE, text="where the baseline goes")
        action.set_defaults(run=_run)
    which = "the last full run: its predictions file, or its output folder"
    save.add_argument(
        "results", metavar="RESULTS", type=Path, nargs="?", default=RESULTS, help=f"{which} (default: {RESULTS})"
    )
    accept.add_argument(
        "--results", metavar="RESULTS", type=Path, default=RESULTS, help=f"{which} (default: {RESULTS})"
    )
    accept.add_argument(
        "ids",
        metavar="ID",
        nargs="*",
        help="a question, as ID or DATASET::ID (default: all whose answers differ)",
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Files:
    """The run and the baseline that a command was given."""

    document: Mapping[str, Any]
    """The predictions file of the run."""

    now: Baseline
    """The same, read."""

    known: Mapping[str, Any] | None
    """The baseline document; None if the file does not exist yet."""

    earlier: Baseline | None
    """The same, read."""


def _run(chosen: argparse.Namespace) -> int:
    chosen.results = predictions_path(chosen.results)
    make = _saved if chosen.action == "save" else _accepted
    say(*make(chosen, _read(chosen.results, chosen.output)))
    return 0


def _read(predictions: Path, path: Path) -> _Files:
    from pytest_ragcheck.report.files.output_folder import check_outside

    if any(path.parent.glob("*_summary.json")):
        check_outside(path, path.parent, name=str(path))
    exists = path.exists()
    now = read_baseline(predictions, name=str(predictions), advice=_ADVICE)
    if all(row.verdict is Verdict.ERROR for row in now.rows.values()):
        kinds = ", ".join(dict.fromkeys(row.error_kind for row in now.rows.values()))
        raise UsageError(
            f"{predictions}: every question is an ERROR ({kinds}), so the run has no answers to keep. "
            "Mend what its messages name, and run again."
        )
    return _Files(
        now=now,
        earlier=read_baseline(path, name=str(path), advice=_OTHER) if exists else None,
        document=read_document(predictions, wrong_kind=_ADVICE, wrong_version=_ADVICE),
        known=read_document(path, wrong_kind=_OTHER, wrong_version=_ADVICE) if exists else None,
    )


def _saved(chosen: argparse.Namespace, files: _Files) -> list[str]:
    from pytest_ragcheck.summary.gate.baseline_file import baseline_documents

    path: Path = chosen.output
    if files.earlier is not None and files.now.timestamp in files.earlier.runs:
        raise UsageError(f"{chosen.results}: this run was saved into {path} before. Save each run once.")
    _write(path, *baseline_documents(files.document, files.now, files.known, read_contexts(path)))
    saved = read_baseline(path, name=str(path), advice=_ADVICE)
    return [
        f"{path}: {counted(len(saved.rows), 'question')}, {counted(len(saved.runs), 'saved run')}",
        *_left_out(files.now, saved),
        *flaky_lines(flaky_in_history(saved)),
    ]


def _accepted(chosen: argparse.Namespace, files: _Files) -> list[str]:
    from pytest_ragcheck.summary.gate.baseline_file import accepted_documents, differing

    path: Path = chosen.output
    if files.known is None or files.earlier is None:
        raise UsageError(f"{path}: there is no such file. Make it with ragcheck baseline save.")
    if chosen.ids:
        keys = _named(chosen.ids, files.now, files.earlier)
    else:
        keys = differing(files.document, files.now, files.known, files.earlier)
    notes = [*_left_out(files.now, files.earlier), *_later_partial(chosen.results, files.now)]
    if not keys:
        return [f"{path}: no answer differs from the recorded ones", *notes]
    compact, contexts = accepted_documents(files.document, files.now, files.known, read_contexts(path), keys)
    if not compact["predictions"]:
        raise UsageError(f"{path}: no question would be left. Give the run of its questions.")
    _write(path, compact, contexts)
    earlier, now = ({key: row.verdict.value for key, row in each.rows.items()} for each in (files.earlier, files.now))
    return [
        f"{path}: {len(keys)} accepted of {files.now.timestamp}",
        *(f"{'::'.join(key)}: {earlier.get(key, 'new')} -> {now.get(key, 'gone')}" for key in keys),
        *notes,
    ]


def _left_out(now: Baseline, recorded: Baseline) -> Iterator[str]:
    """Yield a line for each ERROR of the run, which has no answer for the baseline."""
    for key, row in now.rows.items():
        if row.verdict is Verdict.ERROR:
            earlier = "; its recorded answers stay" if key in recorded.rows else ""
            yield f"left out: {'::'.join(key)} is an ERROR in this run ({row.error_kind}){earlier}"


def _later_partial(results: Path, now: Baseline) -> Iterator[str]:
    """Yield a line if a partial run beside the full one is later, because a user may expect its answers."""
    partial = results.with_name(results.name.replace("_predictions.json", ".partial_predictions.json"))
    if (ended := ended_of(partial)) > now.timestamp:
        yield f"left out: the partial run of {ended}, which is later; run all questions to accept its answers"


def _named(ids: Sequence[str], now: Baseline, earlier: Baseline) -> list[tuple[str, str]]:
    known = {**now.rows, **earlier.rows}
    found: dict[tuple[str, str], None] = {}
    for given in ids:
        keys = [key for key in known if given in (key[1], "::".join(key))]
        if not keys:
            raise UsageError(f"{given!r} is not a question of the run or the baseline. Give one of their ids.")
        if len(keys) > 1:
            names = ", ".join("::".join(key) for key in keys)
            raise UsageError(f"{given!r} is a question of several datasets. Give one of {names}.")
        row = now.rows.get(keys[0])
        if row is not None and row.verdict is Verdict.ERROR:
            raise UsageError(f"{given!r} is an ERROR in the run, so there is no answer to accept. Run it again.")
        found[keys[0]] = None
    return [*found]


def _write(path: Path, compact: dict[str, Any], contexts: dict[str, Any]) -> None:
    from pytest_ragcheck.config.resolve import redactor_of
    from pytest_ragcheck.report.files.json_writer import JsonWriter

    writer = JsonWriter(path.parent, redactor_of(os.environ))
    writer.write(contexts_path(path).name, contexts)
    writer.write(path.name, compact)
