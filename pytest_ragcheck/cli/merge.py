"""`ragcheck merge DIR...`: the shards of a run, as if it had been run at once."""

from __future__ import annotations

import sys
from datetime import datetime, timezone
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_ragcheck.errors import ResultsError, UsageError

if TYPE_CHECKING:
    import argparse


def add_to(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Adds the command to those of `ragcheck`."""
    parser = commands.add_parser(
        "merge",
        help="put the shards of a run together",
        description="Makes of the results of all shards (pytest --rag-shard=I/N) the files that one run would have "
        "written. Exit status: 0 all PASS, 1 some FAIL or ERROR, or worse than the baseline, 2 wrong usage.",
    )
    parser.add_argument("folders", metavar="FOLDER", nargs="+", type=Path, help="where the shards wrote their results")
    parser.add_argument(
        "-o",
        "--output",
        metavar="FOLDER",
        type=Path,
        default=Path("ragcheck-results"),
        help="where the files go (default: ragcheck-results)",
    )
    parser.add_argument("--baseline", metavar="PREDICTIONS", type=Path, help="compare with that run, as pytest does")
    parser.set_defaults(run=_run)


def _run(chosen: argparse.Namespace) -> int:
    try:
        return _merge(chosen)
    except (UsageError, ResultsError) as error:
        print(f"ragcheck merge: {error}", file=sys.stderr)
        return 2


def _merge(chosen: argparse.Namespace) -> int:
    from pytest_ragcheck.redaction import Redactor  # noqa: PLC0415 - for this command only
    from pytest_ragcheck.report.comparison import comparison_lines  # noqa: PLC0415 - as above
    from pytest_ragcheck.report.files import write_results  # noqa: PLC0415 - as above
    from pytest_ragcheck.report.terminal import file_lines, summary_lines  # noqa: PLC0415 - as above
    from pytest_ragcheck.summary.aggregate import aggregate  # noqa: PLC0415 - as above
    from pytest_ragcheck.summary.baseline import read_baseline  # noqa: PLC0415 - as above
    from pytest_ragcheck.summary.comparison import compare  # noqa: PLC0415 - as above
    from pytest_ragcheck.summary.shards import find_shards, merged, read_shard  # noqa: PLC0415 - as above

    # Read first: the merged results may replace it.
    advice = "Give --baseline the {agent}_predictions.json of a full run."
    baseline = chosen.baseline and read_baseline(chosen.baseline, name=str(chosen.baseline), advice=advice)
    shards = [read_shard(path) for path in find_shards(chosen.folders)]
    outcomes = merged(shards, timestamp=datetime.now(timezone.utc))
    summary = aggregate(outcomes)
    for line in summary_lines(outcomes, summary):
        print(line)
    worse = False
    if baseline is not None:
        comparison = compare(baseline, outcomes, clean=str, would_meet=lambda _dataset, _id: outcomes.complete)
        worse = comparison.worse
        for line in comparison_lines(comparison):
            print(line)
    written = write_results(outcomes, summary, chosen.output, Redactor())
    for line in file_lines(written, Path.cwd()):
        print(line)
    counts = summary.totals.counts
    return 1 if worse or counts.failed or counts.errors else 0
