"""`ragcheck baseline save PREDICTIONS`: a compact baseline, and which questions are flaky."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_ragcheck.cli.arguments import add_output
from pytest_ragcheck.errors import ResultsError, UsageError

if TYPE_CHECKING:
    import argparse

_ADVICE = "Give the {agent}_predictions.json of a full run."
_OTHER = "Give -o another file, or move that one away."


def add_to(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Adds the command to those of `ragcheck`."""
    parser = commands.add_parser(
        "baseline",
        help="make a compact baseline of a run's predictions",
        description="Makes the file that pytest --rag-baseline compares with.",
    )
    actions = parser.add_subparsers(title="actions", metavar="ACTION", required=True)
    save = actions.add_parser(
        "save",
        help="write a compact baseline",
        description="Writes what a gate needs of a full run: no answers, no contexts. Where the file is there, how "
        "often each question passed and failed is added to what it knows. Exit status: 0 written, 2 wrong usage.",
    )
    save.add_argument("predictions", metavar="PREDICTIONS", type=Path, help="the predictions file of a full run")
    add_output(save, default="baseline.json", text="where the baseline goes")
    save.set_defaults(run=_save)


def _save(chosen: argparse.Namespace) -> int:
    from pytest_ragcheck.given import redactor_of  # noqa: PLC0415 - for this command only
    from pytest_ragcheck.report.flaky import flaky_lines  # noqa: PLC0415 - as above
    from pytest_ragcheck.report.writer import Writer  # noqa: PLC0415 - as above
    from pytest_ragcheck.summary.baseline import read_baseline  # noqa: PLC0415 - as above
    from pytest_ragcheck.summary.compact import compact_document, read_compact  # noqa: PLC0415 - as above
    from pytest_ragcheck.summary.flaky import flaky_in_history  # noqa: PLC0415 - as above
    from pytest_ragcheck.summary.predictions_file import read_document  # noqa: PLC0415 - as above

    path: Path = chosen.output
    try:
        now = read_baseline(chosen.predictions, name=str(chosen.predictions), advice=_ADVICE)
        earlier = read_compact(path, advice=_OTHER)
        if earlier is not None and earlier.timestamp == now.timestamp:
            raise UsageError(  # noqa: TRY301 - the same way out as of the others
                f"{chosen.predictions}: this run was saved into {path} before. Save each run once."
            )
        document = read_document(chosen.predictions, give=_ADVICE, anew=_ADVICE)
        Writer(path.parent, redactor_of(os.environ)).write(path.name, compact_document(document, now, earlier))
        saved = read_baseline(path, name=str(path), advice=_ADVICE)
    except (UsageError, ResultsError) as error:
        print(f"ragcheck baseline save: {error}", file=sys.stderr)
        return 2
    print(f"{path}: {len(saved.rows)} questions of {saved.timestamp}")
    for line in flaky_lines(flaky_in_history(saved)):
        print(line)
    return 0
