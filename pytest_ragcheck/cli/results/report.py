"""`ragcheck report RESULTS`: writes results as a page, as Markdown, or as a table."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_ragcheck.cli.arguments import add_output
from pytest_ragcheck.cli.gate_arguments import add_gate_options, gate_of
from pytest_ragcheck.cli.printing import say
from pytest_ragcheck.errors import UsageError

if TYPE_CHECKING:
    import argparse

    from pytest_ragcheck.report.files.results_reader import Results

FORMATS = {".html": "html", ".htm": "html", ".md": "markdown", ".csv": "csv", ".jsonl": "jsonl"}


def add_to(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command to `ragcheck`."""
    parser = commands.add_parser(
        "report",
        help="turn the results of a run into a page, Markdown or a table",
        description="Turns the result files of a run into one self-contained HTML file, Markdown for a pull request, "
        "or a flat table, with the decision of the run's gate, or of the one given here. "
        "Exit status: 0 written, whatever was decided; 2 wrong usage.",
    )
    parser.add_argument(
        "results",
        metavar="RESULTS",
        type=Path,
        help="a predictions file, the path without _predictions.json, or a folder with one such file",
    )
    add_gate_options(parser)
    add_output(
        parser, default="report.html", text="the file to write, in the format of its ending: .html, .md, .csv or .jsonl"
    )
    parser.set_defaults(run=_run)


def _run(chosen: argparse.Namespace) -> int:
    from pytest_ragcheck.report.files.results_reader import predictions_path, read_results

    kind = _kind(chosen.output)
    results = read_results(predictions_path(chosen.results, partial=True))
    if chosen.baseline is not None or chosen.gate is not None or chosen.settings:
        results = _gated(results, chosen)
    from pytest_ragcheck.report.write_report import write_report

    write_report(results, chosen.output, kind)
    say(f"written: {chosen.output}")
    return 0


def _gated(results: Results, chosen: argparse.Namespace) -> Results:
    from pytest_ragcheck.config.resolve import redactor_of
    from pytest_ragcheck.report.gated_results import gated
    from pytest_ragcheck.summary.outcomes_reader import terms_of_summary

    gate = gate_of(chosen, terms_of_summary(results.summary))
    decided = gated(results, gate.baseline, gate.terms, clean=redactor_of(os.environ).text)
    return replace(decided, notes=(*decided.notes, *filter(None, [gate.note])))


def _kind(path: Path) -> str:
    kind = FORMATS.get(path.suffix.lower())
    if kind is None:
        raise UsageError(f"-o: {path} ends in none of {', '.join(FORMATS)}. Choose one of them.")
    return kind
