from __future__ import annotations

import argparse
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_ragcheck.cli.command_line import complain, say
from pytest_ragcheck.cli.project.user_project import default_results
from pytest_ragcheck.cli.results.gate_arguments import gate_of, place_of, with_own_baseline
from pytest_ragcheck.errors import UsageError
from pytest_ragcheck.report.files.results_reader import Results, predictions_path, read_results
from pytest_ragcheck.summary.predictions_reader import InGit

if TYPE_CHECKING:
    from pytest_ragcheck.config.readers import BaselinePlace
    from pytest_ragcheck.summary.trend import TrendRun

FORMATS = {".html": "html", ".htm": "html", ".md": "markdown", ".csv": "csv", ".jsonl": "jsonl", "": "markdown"}
"""The kinds by ending; a file without one, such as `$GITHUB_STEP_SUMMARY`, is continued."""


def run(chosen: argparse.Namespace) -> int:
    from pytest_ragcheck.report.write_report import write_report

    kind = _kind(chosen.output)
    places = [place_of(given, "RESULTS") for given in chosen.results or [str(default_results())]]
    if len(places) > 1 or places[0].rev is not None:
        _write_trend(places, chosen, kind)
    else:
        results = read_results(predictions_path(places[0].path, partial=True))
        results = _gated(results, chosen) if _has_gate(chosen) else with_own_baseline(results)
        write_report(results, chosen.output, kind, append=not chosen.output.suffix)
    say(f"written: {chosen.output}")
    return 0


def _has_gate(chosen: argparse.Namespace) -> bool:
    return chosen.baseline is not None or chosen.gate is not None or bool(chosen.settings)


def _write_trend(places: Sequence[BaselinePlace], chosen: argparse.Namespace, kind: str) -> None:
    from pytest_ragcheck.report.html.trend_page import trend_page
    from pytest_ragcheck.report.write_report import write_text
    from pytest_ragcheck.summary.trend import trend_of

    if kind != "html":
        raise UsageError(
            f"-o: a trend is a page, and {chosen.output} does not end in .html. Give one run, or -o FILE.html."
        )
    if _has_gate(chosen):
        raise UsageError(
            "a trend shows what the runs recorded. Give one run, or leave --baseline, --gate and --set out."
        )
    trend = trend_of(run for place in places for run in _runs(place))
    write_text(chosen.output, trend_page(trend))


def _runs(place: BaselinePlace) -> Iterable[TrendRun]:
    from pytest_ragcheck.summary.trend import committed_runs, read_run

    if place.rev is None:
        return [read_run(predictions_path(place.path, partial=True))]
    file = InGit(rev=place.rev, path=place.path.absolute())
    return committed_runs(file, leave_out=lambda mistake: complain("report", f"left out {mistake}"))


def _gated(results: Results, chosen: argparse.Namespace) -> Results:
    from pytest_ragcheck.config.resolve import environment_redactor
    from pytest_ragcheck.report.gated_results import gated, rules_of_summary

    gate = gate_of(chosen, rules_of_summary(results.summary))
    decided = gated(results, gate.baseline, gate.rules, clean=environment_redactor().text)
    return replace(decided, notes=(*decided.notes, *filter(None, [gate.note])))


def _kind(path: Path) -> str:
    kind = FORMATS.get(path.suffix.lower())
    if kind is None:
        raise UsageError(f"-o: {path} ends in none of {', '.join(filter(None, FORMATS))}. Choose one of them.")
    return kind
